// SPDX-License-Identifier: BSD-2-Clause
//! netcheck over lines with known faults: each must be named, and a sound line must be found healthy.
//!
//! The line is modelled in user space between two network namespaces (see `relay`), so that no packet leaves them and no
//! kernel support for impairments is needed. Needs root, or user namespaces. A verdict rests on measured times, so this is
//! a run of its own and no part of a plain `cargo test`: `NETCHECK_RUNS=20 cargo test --test netcheck` repeats each case.

mod relay;

use relay::line::Line;
use relay::peer::{self, Manners};
use relay::{ADDRESSES, Link};
use rtems_ioc::netcheck::{Amount, Fault, Measurements, Progress, judge, measure};
use std::sync::Mutex;
use std::time::Duration;

/// One case at a time: they would slow each other down.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs a case as often as `NETCHECK_RUNS` says and demands the same verdict each time.
fn case(name: &str, line: Line, manners: Manners, expected: impl Fn(&Fault) -> bool) {
    measured_case(name, line, manners, |fault, _| expected(fault));
}

/// As [`case`], with what was measured.
fn measured_case(name: &str, line: Line, manners: Manners, expected: impl Fn(&Fault, &Measurements) -> bool) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if relay::again_as_root(name) {
        return;
    }
    let runs: u64 = std::env::var("NETCHECK_RUNS").map_or(1, |text| text.parse().expect("NETCHECK_RUNS"));
    let mut wrong = 0;
    for run in 0..runs {
        let link = Link::new(line, 0x9e37_79b9 + run).expect("namespaces");
        link.within(0, || peer::start(manners)).expect("services");
        let amount = Amount { bytes: 4_000_000, limit: Duration::from_secs(8) };
        let measured = link.within(1, || measure(ADDRESSES[0], 4445, amount, &Progress::new(false)));
        let tally = link.end();
        let measured = measured.expect("measured");
        let verdict = judge(&measured);
        let right = expected(&verdict.fault, &measured);
        println!(
            "{name} run {run}: {} {verdict:?}\n  line: {tally:?}",
            if right { "right" } else { "WRONG" }
        );
        if !right || std::env::var_os("NETCHECK_SHOW").is_some() {
            println!("{measured:?}");
        }
        wrong += u32::from(!right);
    }
    assert_eq!(wrong, 0, "{name}: {wrong} of {runs} runs named something else");
}

#[test]
fn clean() {
    case("clean", Line::CLEAN, Manners::default(), |fault| *fault == Fault::Healthy);
}

#[test]
fn loss_towards_the_host() {
    let line = Line { loss: [0.0, 0.01], ..Line::CLEAN };
    case(
        "loss_towards_the_host",
        line,
        Manners::default(),
        |fault| matches!(fault, Fault::Loss { out, r#in } if (0.004..0.025).contains(out) && *r#in < 0.004),
    );
}

#[test]
fn loss_from_the_host() {
    let line = Line { loss: [0.01, 0.0], ..Line::CLEAN };
    case(
        "loss_from_the_host",
        line,
        Manners::default(),
        |fault| matches!(fault, Fault::Loss { out, r#in } if (0.004..0.025).contains(r#in) && *out < 0.004),
    );
}

#[test]
fn ten_megabits() {
    let line = Line { rate: 10_000_000, ..Line::CLEAN };
    case("ten_megabits", line, Manners::default(), |fault| *fault == Fault::SlowLink);
}

#[test]
fn hundred_milliseconds() {
    let line = Line { delay_ns: 50_000_000, ..Line::CLEAN };
    case(
        "hundred_milliseconds",
        line,
        Manners::default(),
        |fault| matches!(fault, Fault::LongPath { milliseconds } if (99.0..200.0).contains(milliseconds)),
    );
}

#[test]
fn duplex_mismatch() {
    let line = Line { half: Some(1), ..Line::CLEAN };
    case("duplex_mismatch", line, Manners::default(), |fault| *fault == Fault::DuplexMismatch);
}

#[test]
fn duplex_mismatch_with_the_host_in_half() {
    let line = Line { half: Some(0), ..Line::CLEAN };
    case("duplex_mismatch_with_the_host_in_half", line, Manners::default(), |fault| {
        *fault == Fault::DuplexMismatch
    });
}

#[test]
fn loss_both_ways() {
    let line = Line { loss: [0.03, 0.03], ..Line::CLEAN };
    case(
        "loss_both_ways",
        line,
        Manners::default(),
        |fault| matches!(fault, Fault::Loss { out, r#in } if *out > 0.01 && *r#in > 0.01),
    );
}

#[test]
fn heavy_loss_one_way() {
    let line = Line { loss: [0.0, 0.05], ..Line::CLEAN };
    case(
        "heavy_loss_one_way",
        line,
        Manners::default(),
        |fault| matches!(fault, Fault::Loss { out, r#in } if *out > 0.02 && *r#in < 0.01),
    );
}

#[test]
fn peer_with_nagle() {
    let manners = Manners { nagle: true, ..Manners::default() };
    case(
        "peer_with_nagle",
        Line::CLEAN,
        manners,
        |fault| matches!(fault, Fault::NaglePlateau { from_bytes: 128, milliseconds } if (35.0..60.0).contains(milliseconds)),
    );
}

/// The other end holds an acknowledgement back when nobody answers, for the 40 ms that a Linux waits, and the discard direction
/// shows that as such: as long as no message waits for it, it is no fault.
#[test]
fn lone_writes_show_the_delayed_acknowledgement() {
    let name = "lone_writes_show_the_delayed_acknowledgement";
    let manners = Manners { late_acks: true, ..Manners::default() };
    measured_case(name, Line::CLEAN, manners, |fault, measured| {
        // Not the median: after a stall of a busy computer Linux acknowledges at once for a while.
        *fault == Fault::Healthy && measured.acknowledge.p90 >= 35.0
    });
}

#[test]
fn slow_receiver() {
    let manners = Manners { rest: Duration::from_millis(8), ..Manners::default() };
    case("slow_receiver", Line::CLEAN, manners, |fault| *fault == Fault::SlowReceiver);
}

#[test]
fn small_window() {
    let line = Line { delay_ns: 5_000_000, ..Line::CLEAN };
    let manners = Manners { receive_buffer: 8192, ..Manners::default() };
    case("small_window", line, manners, |fault| matches!(fault, Fault::SmallWindow { .. }));
}
