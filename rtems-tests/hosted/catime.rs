// SPDX-License-Identifier: BSD-2-Clause
//! catime completes at every size, and finds every channel with the first search.

use crate::ours;
use crate::support::catime;
use crate::support::python::Clients;

/// What catime is asked for: name of the test, channels, whether each channel is a record of its own.
pub const RUNS: &[(&str, u32, bool)] =
    &[("catime_1000", 1000, false), ("catime_10000", 10_000, false), ("catime_10000_append", 10_000, true)];

/// catime searches again after some tens of milliseconds, so that one stall of a busy machine costs a try: so many runs may
/// show that the server needs but one.
const RUNS_AT_MOST: usize = 3;

/// Runs it against the built-in benchmark PVs.
///
/// # Errors
/// If catime hangs or complains, or had to search twice in every run.
pub fn completes(clients: &Clients, channels: u32, append: bool) -> Result<(), String> {
    let server = ours()?;
    let mut seen = Vec::new();
    for _ in 0..RUNS_AT_MOST {
        let report = catime::run(clients, &server, "ioc:catime", channels, append)?;
        if !report.channel.contains("native type=6, native count=1") {
            return Err(format!("not a scalar double: {}", report.channel));
        }
        if report.tries == (1.0, 1.0) {
            return Ok(());
        }
        seen.push(report.tries);
    }
    Err(format!("search tries (mean, max) of each run: {seen:?}"))
}
