// SPDX-License-Identifier: BSD-2-Clause
//! The commands that measure: they need more of the operating system than the servers do.

use super::{Command, FAILED, TOPIC};
use core::fmt;

/// What the measuring commands run on. Each gets its arguments and answers with a status.
pub trait Diagnosis: Sync {
    /// First-touch cost of heap and stack.
    fn rtex(&self, out: &mut dyn fmt::Write, arguments: &[&str]) -> i32;

    /// The Channel Access benchmark as a client.
    fn catime(&self, out: &mut dyn fmt::Write, arguments: &[&str]) -> i32;

    /// Each task's share of the processor.
    fn spy(&self, out: &mut dyn fmt::Write, arguments: &[&str]) -> i32;
}

static DIAGNOSIS: spin::Once<&'static dyn Diagnosis> = spin::Once::new();

/// Says what the commands run on; the first call counts. To be called before any other task runs a command.
pub fn register_diagnosis(diagnosis: &'static dyn Diagnosis) {
    DIAGNOSIS.call_once(|| diagnosis);
}

fn with(
    out: &mut dyn fmt::Write,
    run: impl FnOnce(&'static dyn Diagnosis, &mut dyn fmt::Write) -> i32,
) -> i32 {
    match DIAGNOSIS.get() {
        Some(&diagnosis) => run(diagnosis, out),
        None => {
            let _ = out.write_str("this system cannot be measured\n");
            FAILED
        }
    }
}

/// `rtex`.
pub(super) const RTEX: Command = Command {
    name: "rtex",
    topic: TOPIC,
    usage: "rtex OPTIONS [HEAP [STACK]]   first-touch cost; 0x10 tests, 0x1f with all remedies",
    run: |out, arguments| with(out, |diagnosis, out| diagnosis.rtex(out, arguments)),
};

/// `catime`.
pub(super) const CATIME: Command = Command {
    name: "catime",
    topic: TOPIC,
    usage: "catime [--table] [--at ADDR] NAME [COUNT [APPEND]]   Channel Access benchmark, as the client",
    run: |out, arguments| with(out, |diagnosis, out| diagnosis.catime(out, arguments)),
};

/// `spy`.
pub(super) const SPY: Command = Command {
    name: "spy",
    topic: TOPIC,
    usage: "spy [SECONDS [REPEATS]]       share of the processor of each task",
    run: |out, arguments| with(out, |diagnosis, out| diagnosis.spy(out, arguments)),
};
