// SPDX-License-Identifier: BSD-2-Clause
//! Every rule with figures just inside and just outside of it.

use super::*;
use crate::netcheck::Series;

fn flow(megabits: f64) -> Flow {
    Flow {
        bytes: (megabits * 1e6 / 8.0) as u64,
        seconds: 1.0,
        complete: true,
        segments_out: 10_000,
        segments_in: 10_000,
        min_rtt_us: 300,
        peer_window: 400_000,
        ..Flow::default()
    }
}

fn trips(bytes: usize, milliseconds: f64) -> RoundTrips {
    let series = Series { count: 30, min: milliseconds, p50: milliseconds, ..Series::default() };
    RoundTrips { bytes, no_delay: series, nagle: series }
}

/// Every message of this size takes so much longer.
fn later(trips: &mut RoundTrips, milliseconds: f64) {
    trips.no_delay.min += milliseconds;
    trips.no_delay.p50 += milliseconds;
}

/// A sound 100 Mbit/s network.
fn sound() -> Measurements {
    Measurements {
        out: flow(93.0),
        r#in: flow(92.0),
        both: flow(85.0),
        round_trips: [1, 64, 100, 128, 200, 512].map(|bytes| trips(bytes, 0.3)).to_vec(),
        ..Measurements::default()
    }
}

fn fault(change: impl FnOnce(&mut Measurements)) -> Fault {
    let mut measurements = sound();
    change(&mut measurements);
    judge(&measurements).fault
}

#[test]
fn sound_is_healthy_and_a_stray_loss_changes_nothing() {
    assert_eq!(fault(|_| {}), Fault::Healthy);
    assert_eq!(fault(|m| m.out.lost_out = 2), Fault::Healthy);
    // Sharing one medium, or a busy CPU, halves the rate without loss.
    assert_eq!(fault(|m| m.both = flow(45.0)), Fault::Healthy);
    assert_eq!(fault(|m| m.both = flow(10.0)), Fault::Healthy);
}

#[test]
fn collapse_with_loss_is_a_duplex_mismatch() {
    let collapsed = |m: &mut Measurements| {
        m.both = flow(2.0);
        m.both.lost_out = 400;
    };
    assert_eq!(fault(collapsed), Fault::DuplexMismatch);
    // The way against the half-duplex station loses a little alone as well.
    let some_alone = |m: &mut Measurements| {
        collapsed(m);
        m.out.lost_out = 100;
    };
    assert_eq!(fault(some_alone), Fault::DuplexMismatch);
    let mut m = sound();
    collapsed(&mut m);
    let verdict = judge(&m);
    assert!(verdict.summary.starts_with("looks like a duplex mismatch"));
    assert!(verdict.evidence.iter().any(|line| line.contains("keep 2 %")), "{:?}", verdict.evidence);
}

#[test]
fn one_sided_collisions_are_a_duplex_mismatch_even_if_the_rate_only_halves() {
    // What a run over the modelled line gave: the acknowledgements alone are enough to collide with.
    let collisions = |lost_in: u32| {
        move |m: &mut Measurements| {
            (m.out, m.r#in, m.both) = (flow(25.2), flow(21.7), flow(9.2));
            (m.out.lost_out, m.both.lost_out) = (2600, 2500);
            (m.r#in.gaps_in, m.both.gaps_in) = (lost_in, lost_in);
        }
    };
    assert_eq!(fault(collisions(330)), Fault::DuplexMismatch);
    // One way sound, or both about as lossy: not two stations that disagree.
    assert!(matches!(fault(collisions(0)), Fault::Loss { .. }));
    assert!(matches!(fault(collisions(1500)), Fault::Loss { .. }));
}

#[test]
fn a_fast_way_that_loses_much_is_a_duplex_mismatch() {
    // Another run over the modelled line: hardly anything came the other way, so its loss is not known well.
    let run = |m: &mut Measurements| {
        (m.out, m.r#in, m.both) = (flow(33.1), flow(0.1), flow(0.4));
        (m.out.segments_out, m.out.lost_out) = (3611, 848);
        (m.r#in.segments_in, m.r#in.gaps_in) = (61, 9);
        (m.both.segments_out, m.both.lost_out, m.both.segments_in, m.both.gaps_in) = (517, 200, 343, 48);
    };
    assert_eq!(fault(run), Fault::DuplexMismatch);
    // Both ways lose alike, and the faster one less than a tenth: only loss.
    let slow = fault(|m| {
        run(m);
        (m.out.lost_out, m.both.lost_out) = (289, 41);
    });
    assert!(matches!(slow, Fault::Loss { .. }), "{slow:?}");
}

#[test]
fn loss_names_its_way_and_rate() {
    let Fault::Loss { out, r#in } = fault(|m| {
        m.out.lost_out = 100;
        m.both.lost_out = 100
    }) else {
        panic!("not seen as loss")
    };
    assert_eq!((out, r#in), (0.01, 0.0));
    // As lossy alone as together: no mismatch even if both together are slow.
    let lossy = fault(|m| {
        m.out.lost_out = 200;
        m.r#in.gaps_in = 200;
        m.both = flow(3.0);
        m.both.lost_out = 200;
    });
    assert!(matches!(lossy, Fault::Loss { .. }), "{lossy:?}");
}

#[test]
fn plateau_above_a_size_is_nagle() {
    let plateau = |extra: f64| {
        move |m: &mut Measurements| {
            m.round_trips[3..].iter_mut().for_each(|trips| later(trips, extra));
        }
    };
    let found = fault(plateau(40.0));
    assert!(
        matches!(found, Fault::NaglePlateau { from_bytes: 128, milliseconds } if milliseconds > 39.0),
        "{found:?}"
    );
    assert!(matches!(fault(plateau(200.0)), Fault::NaglePlateau { .. }));
    assert_eq!(fault(plateau(5.0)), Fault::Healthy);
    // All sizes alike is a long way, not a plateau.
    let far = fault(|m| m.round_trips.iter_mut().for_each(|trips| later(trips, 40.0)));
    assert!(matches!(far, Fault::LongPath { .. }), "{far:?}");
    // One message that slips through leaves the rest of its size what it is.
    let slipped = fault(|m| {
        plateau(40.0)(m);
        m.round_trips.push(trips(1024, 40.3));
        m.round_trips[3].no_delay.min = 0.3;
    });
    assert!(matches!(slipped, Fault::NaglePlateau { from_bytes: 128, .. }), "{slipped:?}");
    // A busy computer holds up one message or the other; a timer would hold up each.
    let held_up = fault(|m| m.round_trips[3..].iter_mut().for_each(|trips| trips.no_delay.p50 += 60.0));
    assert_eq!(held_up, Fault::Healthy);
}

#[test]
fn waiting_for_the_window() {
    let small = fault(|m| {
        m.out = Flow { window_limited: 0.9, peer_window: 4096, min_rtt_us: 1000, ..flow(30.0) };
    });
    assert_eq!(small, Fault::SmallWindow { bytes: 4096 });
    let slow =
        fault(|m| m.out = Flow { window_limited: 0.9, peer_window: 65_000, min_rtt_us: 300, ..flow(8.0) });
    assert_eq!(slow, Fault::SlowReceiver);
}

#[test]
fn ten_megabits_both_ways_is_a_slow_link() {
    assert_eq!(
        fault(|m| {
            m.out = flow(9.4);
            m.r#in = flow(9.3);
            m.both = flow(9.0)
        }),
        Fault::SlowLink
    );
    assert_eq!(
        fault(|m| {
            m.out = flow(9.4);
            m.both = flow(9.0)
        }),
        Fault::Healthy
    );
}

#[test]
fn two_faults_are_unclear_and_both_are_named() {
    let mut m = sound();
    m.out.lost_out = 100;
    m.both.lost_out = 100;
    for trips in &mut m.round_trips[3..] {
        later(trips, 40.0);
    }
    let verdict = judge(&m);
    assert_eq!(verdict.fault, Fault::Unclear);
    assert!(
        verdict.summary.contains("loss: 1.00 %") && verdict.summary.contains("Nagle"),
        "{}",
        verdict.summary
    );
}

#[test]
fn wrong_bytes_come_first() {
    assert_eq!(fault(|m| m.both.wrong_at = Some(77)), Fault::Corruption { at: 77 });
    assert_eq!(judge(&Measurements::default()).fault, Fault::Healthy);
}
