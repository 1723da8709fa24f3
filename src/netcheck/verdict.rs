// SPDX-License-Identifier: BSD-2-Clause
//! From measurements to a verdict in plain words, with its evidence.
//!
//! Every threshold is a constant here, with the reason for its value. One fault is named; if the evidence points at two that
//! do not explain each other, the verdict is "unclear" and names both.

use super::measurements::{Flow, Measurements, RoundTrips};
use serde::Serialize;

/// Fewer losses than this may be chance: a queue that overflowed once, a segment overtaken.
const FEWEST_LOSSES: u32 = 3;
/// Fraction of segments lost from which on a way counts as lossy. A sound wired network loses less than 1 in 10^5; TCP
/// itself provokes a loss or two per 16 MB (11 600 segments) when it fills a queue.
const LOSSY: f64 = 0.001;
/// Both ways together collapse when each keeps less than this part of the faster one alone. One half-duplex medium that
/// both ends know of leaves about a half, a slow CPU on the board no less than a quarter; 5 % of random loss left 60 %.
const COLLAPSE: f64 = 0.2;
/// ... and less than this part counts if the losses look like collisions.
const WEAK_COLLAPSE: f64 = 0.5;
/// Fraction lost from which on collisions are thought of: a collapse without loss is no duplex mismatch.
const COLLISION_LOSS: f64 = 0.01;
/// Losses that come with the other way's traffic grow by this factor when both ways are busy (random ones do not grow).
const GROWTH: f64 = 2.0;
/// The half-duplex end loses its own frames by late collisions, and a few of those that it should hear: each way loses, one
/// this much more than the other. Measured over the modelled line: 3.9 and more; 3 % of random loss each way: 1.7 at most.
const ONE_SIDED: f64 = 2.5;
/// A way that loses so much and is the faster one all the same loses what the other way's acknowledgements collide with:
/// random loss of a tenth leaves TCP next to nothing.
const FAST_AND_LOSSY: f64 = 0.1;
/// A message that takes so much longer than a byte waits for a timer: the shortest delayed-ACK timer in use is 40 ms
/// (Linux), the longest 200 ms (BSD), milliseconds. The quickest of each size is compared, since who waits for a timer does so
/// each time: over the modelled line 40 ms and more of every size that waited, in 6 runs, while medians of five round trips of
/// 100 ms on a busy computer were late by 30 to 70 ms here and there without any such fault.
const DELAYED_ACK: [f64; 2] = [30.0, 260.0];
/// Sizes that must show the plateau: one alone is chance.
const FEWEST_SIZES: usize = 3;
/// Part of the sending time spent waiting for the peer's window, from which on the peer limits the rate. A sound way shows
/// a few per cent, a small window or a slow receiver a half and more.
const WINDOW_LIMITED: f64 = 0.3;
/// Windows from here on are no longer small: 64 KiB is what TCP has without window scaling, bytes.
const SMALL_WINDOW: u32 = 65_536;
/// A full window per round trip gives the rate within this factor if the window is what limits it.
const WINDOW_MATCH: f64 = 0.5;
/// Rates up to here are those of a 10 Mbit/s link, Mbit/s.
const TEN_MEGABIT: f64 = 10.5;
/// A board on such a link reaches this much of it, Mbit/s; less is not the link's doing.
const TEN_MEGABIT_USED: f64 = 7.0;
/// Round trips from here on are not those of a local network, milliseconds.
const LONG_PATH: f64 = 10.0;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// Nothing found.
    Healthy,
    /// One end believes in half duplex, the other in full duplex.
    DuplexMismatch,
    /// Segments get lost: fraction on the way to the peer, and from it.
    Loss {
        /// On the way to the peer.
        out: f64,
        /// On the way from the peer.
        r#in: f64,
    },
    /// The peer sends in pieces under Nagle's algorithm and waits for a delayed acknowledgement.
    NaglePlateau {
        /// Smallest message that waits, bytes.
        from_bytes: usize,
        /// How long it waits, milliseconds.
        milliseconds: f64,
    },
    /// The peer's receive window is too small for the round trip.
    SmallWindow {
        /// The window, bytes.
        bytes: u32,
    },
    /// The peer takes data more slowly than they arrive.
    SlowReceiver,
    /// The link runs at 10 Mbit/s.
    SlowLink,
    /// The way is long: one connection carries a window per round trip.
    LongPath {
        /// The round trip, milliseconds.
        milliseconds: f64,
    },
    /// Data came back changed.
    Corruption {
        /// Offset of the first wrong byte.
        at: u64,
    },
    /// More than one fault, none of which explains the others.
    Unclear,
}

/// The verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What is wrong.
    #[serde(flatten)]
    pub fault: Fault,
    /// In one sentence.
    pub summary: String,
    /// The figures that it follows from.
    pub evidence: Vec<String>,
}

/// A suspicion: a fault with its sentence and figures.
struct Finding {
    fault: Fault,
    summary: String,
    evidence: Vec<String>,
}

/// Judges.
pub fn judge(m: &Measurements) -> Verdict {
    let mut found: Vec<Finding> = Vec::new();
    found.extend(corruption(m));
    let mismatch = duplex_mismatch(m);
    let explained = mismatch.is_some();
    found.extend(mismatch);
    if !explained {
        found.extend(loss(m));
    }
    found.extend(nagle(m));
    // What follows explains a low rate. Losses and collisions do that as well, and come first.
    if found.iter().all(|finding| matches!(finding.fault, Fault::NaglePlateau { .. })) {
        let plateau = !found.is_empty();
        let rate = window(m).or_else(|| slow_link(m)).or_else(|| if plateau { None } else { long_path(m) });
        found.extend(rate);
    }
    let mut found = found.into_iter();
    let Some(first) = found.next() else { return healthy(m) };
    let rest: Vec<Finding> = found.collect();
    if rest.is_empty() {
        let Finding { fault, summary, evidence } = first;
        return Verdict { fault, summary, evidence };
    }
    let all: Vec<Finding> = std::iter::once(first).chain(rest).collect();
    let names: Vec<&str> = all.iter().map(|finding| finding.summary.as_str()).collect();
    Verdict {
        fault: Fault::Unclear,
        summary: format!("unclear, more than one fault: {}", names.join("; ")),
        evidence: all.into_iter().flat_map(|finding| finding.evidence).collect(),
    }
}

fn healthy(m: &Measurements) -> Verdict {
    let mut evidence = rates(m);
    evidence.push(format!("round trip of one byte: {:.3} ms (median)", base(m)));
    evidence.push(losses(m));
    Verdict { fault: Fault::Healthy, summary: "healthy".into(), evidence }
}

fn corruption(m: &Measurements) -> Option<Finding> {
    let at = m.r#in.wrong_at.or(m.both.wrong_at)?;
    Some(Finding {
        fault: Fault::Corruption { at },
        summary: "data arrive changed: suspect the driver, its DMA or its checksum offload".into(),
        evidence: vec![format!("first wrong byte at offset {at}")],
    })
}

fn duplex_mismatch(m: &Measurements) -> Option<Finding> {
    let alone = m.out.megabits().max(m.r#in.megabits());
    let together = m.both.megabits();
    let grows = |together: f64, alone: f64| together >= COLLISION_LOSS && together >= GROWTH * alone;
    let grown = grows(m.both.loss_out(), m.out.loss_out()) || grows(m.both.loss_in(), m.r#in.loss_in());
    let (less, more) = {
        let (out, r#in) = (all_out(m).1, all_in(m).1);
        (out.min(r#in), out.max(r#in))
    };
    let one_sided = less >= COLLISION_LOSS && more >= ONE_SIDED * less;
    let loss_of_faster =
        if m.out.megabits() > m.r#in.megabits() { m.out.loss_out() } else { m.r#in.loss_in() };
    let collides = grown || loss_of_faster >= FAST_AND_LOSSY;
    let collapsed = together < COLLAPSE * alone && collides || together < WEAK_COLLAPSE * alone && one_sided;
    if !collapsed {
        return None;
    }
    let mut evidence = rates(m);
    evidence
        .push(format!("both ways together keep {:.0} % of the faster way alone", 100.0 * together / alone));
    evidence.push(losses(m));
    Some(Finding {
        fault: Fault::DuplexMismatch,
        summary: "looks like a duplex mismatch: set both ends of the cable to the same duplex, or both to automatic".into(),
        evidence,
    })
}

/// Segments lost on the way to the host, alone and together, and their fraction.
fn all_out(m: &Measurements) -> (u32, f64) {
    share(m.out.lost_out + m.both.lost_out, m.out.segments_out + m.both.segments_out)
}

/// The same on the way from it.
fn all_in(m: &Measurements) -> (u32, f64) {
    share(m.r#in.gaps_in + m.both.gaps_in, m.r#in.segments_in + m.both.segments_in)
}

fn share(lost: u32, all: u32) -> (u32, f64) {
    (lost, if all == 0 { 0.0 } else { f64::from(lost) / f64::from(all) })
}

fn loss(m: &Measurements) -> Option<Finding> {
    let lossy = |lost: u32, fraction: f64| lost >= FEWEST_LOSSES && fraction >= LOSSY;
    let ((lost_out, out), (lost_in, r#in)) = (all_out(m), all_in(m));
    let ways = [(lossy(lost_out, out), "to", lost_out, out), (lossy(lost_in, r#in), "from", lost_in, r#in)];
    if !ways[0].0 && !ways[1].0 {
        return None;
    }
    let told: Vec<String> = ways
        .iter()
        .filter(|way| way.0)
        .map(|(_, way, _, fraction)| format!("{:.2} % of the segments {way} the host", 100.0 * fraction))
        .collect();
    let mut evidence = rates(m);
    for (_, way, lost, fraction) in ways {
        evidence.push(format!("{way} the host: {lost} segments lost, {:.3} %", 100.0 * fraction));
    }
    Some(Finding {
        fault: Fault::Loss { out, r#in },
        summary: format!(
            "loss: {}; look at cable, connector, switch port and the driver's error counters",
            told.join(" and ")
        ),
        evidence,
    })
}

/// Messages from some size on wait for a timer although our side sends at once.
fn nagle(m: &Measurements) -> Option<Finding> {
    let quickest = smallest(m).map_or(0.0, |trips| trips.no_delay.min);
    let is_timer = |milliseconds: f64| (DELAYED_ACK[0]..=DELAYED_ACK[1]).contains(&milliseconds);
    let always = |trips: &RoundTrips| is_timer(trips.no_delay.min - quickest);
    let mostly = |trips: &RoundTrips| is_timer(trips.no_delay.p50 - base(m));
    let mut extra: Vec<f64> = m
        .round_trips
        .iter()
        .filter(|trips| always(trips))
        .map(|trips| trips.no_delay.min - quickest)
        .collect();
    if extra.len() < FEWEST_SIZES {
        return None;
    }
    extra.sort_by(f64::total_cmp);
    let milliseconds = extra[extra.len() / 2];
    // The sizes beside them of which now and then one slipped through belong to them.
    let mut first = m.round_trips.iter().position(always)?;
    let mut last = m.round_trips.iter().rposition(always)?;
    while first > 0 && mostly(&m.round_trips[first - 1]) {
        first -= 1;
    }
    while m.round_trips.get(last + 1).is_some_and(mostly) {
        last += 1;
    }
    let longest_quick = &m.round_trips[first.checked_sub(1)?];
    let (from_bytes, to_bytes) = (m.round_trips[first].bytes, m.round_trips[last].bytes);
    Some(Finding {
        fault: Fault::NaglePlateau { from_bytes, milliseconds },
        summary: format!(
            "Nagle against delayed acknowledgements: the host answers messages of {from_bytes} to {to_bytes} bytes in pieces \
             and waits {milliseconds:.0} ms for our acknowledgement; set TCP_NODELAY there, or answer in one write"
        ),
        evidence: vec![
            format!("{} bytes: {:.3} ms (median)", longest_quick.bytes, longest_quick.no_delay.p50),
            format!(
                "{} sizes from {from_bytes} bytes on: {milliseconds:.1} ms longer even at their quickest",
                extra.len()
            ),
            format!("the host itself acknowledges a lone write after {:.1} ms (median)", m.acknowledge.p50),
        ],
    })
}

/// The peer's window limits what we can send: it is small, or it is not emptied.
fn window(m: &Measurements) -> Option<Finding> {
    let Flow { window_limited, peer_window, min_rtt_us, .. } = m.out;
    if window_limited < WINDOW_LIMITED {
        return None;
    }
    let seconds = f64::from(min_rtt_us.max(1)) / 1e6;
    let possible = f64::from(peer_window) * 8.0 / 1e6 / seconds;
    let mut evidence = rates(m);
    evidence.push(format!(
        "{:.0} % of the sending time was spent waiting for the host's window",
        100.0 * window_limited
    ));
    evidence.push(format!(
        "window {peer_window} bytes, round trip {:.3} ms: {possible:.1} Mbit/s at most",
        seconds * 1e3
    ));
    if peer_window <= SMALL_WINDOW && m.out.megabits() >= WINDOW_MATCH * possible {
        return Some(Finding {
            fault: Fault::SmallWindow { bytes: peer_window },
            summary: format!(
                "small window: {peer_window} bytes per round trip; give the host a larger receive buffer"
            ),
            evidence,
        });
    }
    Some(Finding {
        fault: Fault::SlowReceiver,
        summary: "slow receiver: the host takes data more slowly than the network brings them".into(),
        evidence,
    })
}

fn slow_link(m: &Measurements) -> Option<Finding> {
    let (out, r#in) = (m.out.megabits(), m.r#in.megabits());
    let fast = out.max(r#in);
    if !(TEN_MEGABIT_USED..=TEN_MEGABIT).contains(&fast) || out.min(r#in) < TEN_MEGABIT_USED {
        return None;
    }
    Some(Finding {
        fault: Fault::SlowLink,
        summary: "slow link: something on the way runs at 10 Mbit/s; look at the negotiated media and the switch port".into(),
        evidence: rates(m),
    })
}

fn long_path(m: &Measurements) -> Option<Finding> {
    let milliseconds = base(m);
    if milliseconds < LONG_PATH {
        return None;
    }
    let mut evidence = rates(m);
    evidence.push(format!("round trip of one byte: {milliseconds:.1} ms (median)"));
    Some(Finding {
        fault: Fault::LongPath { milliseconds },
        summary: format!(
            "long path: {milliseconds:.0} ms for a round trip; one connection carries a window in that time"
        ),
        evidence,
    })
}

/// Median round trip of the smallest message, milliseconds.
fn base(m: &Measurements) -> f64 {
    smallest(m).map_or(0.0, |trips| trips.no_delay.p50)
}

/// Round trips of the smallest message.
fn smallest(m: &Measurements) -> Option<&RoundTrips> {
    m.round_trips.iter().min_by_key(|trips| trips.bytes)
}

fn rates(m: &Measurements) -> Vec<String> {
    vec![format!(
        "to the host {:.1} Mbit/s, from it {:.1} Mbit/s, both together {:.1} Mbit/s each way",
        m.out.megabits(),
        m.r#in.megabits(),
        m.both.megabits()
    )]
}

fn losses(m: &Measurements) -> String {
    let percent = |fraction: f64| 100.0 * fraction;
    format!(
        "lost alone: {:.3} % to the host, {:.3} % from it; together: {:.3} % and {:.3} %",
        percent(m.out.loss_out()),
        percent(m.r#in.loss_in()),
        percent(m.both.loss_out()),
        percent(m.both.loss_in())
    )
}

#[cfg(test)]
mod tests;
