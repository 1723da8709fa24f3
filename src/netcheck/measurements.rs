// SPDX-License-Identifier: BSD-2-Clause
//! What was measured: plain numbers, for the verdict, the table, JSON and the pictures.

use serde::Serialize;

/// One way, or both ways at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Flow {
    /// Bytes that arrived; for both ways at once, that came back.
    pub bytes: u64,
    /// How long that took.
    pub seconds: f64,
    /// All bytes asked for arrived in the time allowed.
    pub complete: bool,
    /// Offset of the first byte that was not what it should be.
    pub wrong_at: Option<u64>,
    /// Data segments that we sent, repeats included.
    pub segments_out: u32,
    /// Segments that we sent again and that the peer did not have already.
    pub lost_out: u32,
    /// Data segments that we received.
    pub segments_in: u32,
    /// Times that a gap opened in what we received: a segment was lost, or overtaken.
    pub gaps_in: u32,
    /// Shortest round trip, microseconds.
    pub min_rtt_us: u32,
    /// Largest window that the peer offered, bytes.
    pub peer_window: u32,
    /// Part of the sending time spent waiting for the peer's window.
    pub window_limited: f64,
}

impl Flow {
    /// Megabits per second; for both ways at once, each way.
    pub fn megabits(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 * 8.0 / 1e6 / self.seconds } else { 0.0 }
    }

    /// Fraction of our segments that was lost.
    pub fn loss_out(&self) -> f64 {
        fraction(self.lost_out, self.segments_out)
    }

    /// Fraction of the peer's segments that was lost, as far as we can see.
    pub fn loss_in(&self) -> f64 {
        fraction(self.gaps_in, self.segments_in)
    }
}

fn fraction(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { f64::from(part) / f64::from(whole) }
}

/// Round trips of one message size, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// Messages.
    pub count: u32,
    /// The shortest.
    pub min: f64,
    /// Half took no longer.
    pub p50: f64,
    /// Nine of ten took no longer.
    pub p90: f64,
    /// 99 of a hundred took no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Series {
    /// From the samples, in any order.
    pub fn of(samples: &mut [f64]) -> Series {
        samples.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (samples.first(), samples.last()) else { return Series::default() };
        // Nearest rank: the smallest sample that so many per cent do not exceed.
        let rank = |percent: usize| samples[(samples.len() * percent).div_ceil(100).max(1) - 1];
        Series { count: samples.len() as u32, min, p50: rank(50), p90: rank(90), p99: rank(99), max }
    }
}

/// Round trips of one message size, with and without `TCP_NODELAY` on our side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RoundTrips {
    /// Bytes of the message, both ways.
    pub bytes: usize,
    /// Our side sends at once.
    pub no_delay: Series,
    /// Our side has Nagle's algorithm on.
    pub nagle: Series,
}

/// Everything that one check measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measurements {
    /// The peer.
    pub host: String,
    /// Our interface on the way to it, and what its driver says of the cable.
    pub media: String,
    /// From us to the peer (discard).
    pub out: Flow,
    /// From the peer to us (source).
    pub r#in: Flow,
    /// Both at once (echo).
    pub both: Flow,
    /// By message size.
    pub round_trips: Vec<RoundTrips>,
    /// How long the peer takes to acknowledge a single small write that it does not answer, milliseconds.
    pub acknowledge: Series,
    /// The peer answered wrongly or too late this often during the round trips.
    pub failures: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let mut samples: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        let series = Series::of(&mut samples);
        assert_eq!(series, Series { count: 10, min: 1.0, p50: 5.0, p90: 9.0, p99: 10.0, max: 10.0 });
        assert_eq!(Series::of(&mut [7.0]).p99, 7.0);
        assert_eq!(Series::of(&mut []), Series::default());
    }

    #[test]
    fn rates_and_losses() {
        let flow =
            Flow { bytes: 1_000_000, seconds: 0.5, segments_out: 1000, lost_out: 10, ..Flow::default() };
        assert_eq!((flow.megabits(), flow.loss_out(), flow.loss_in()), (16.0, 0.01, 0.0));
        assert_eq!(Flow::default().megabits(), 0.0);
    }
}
