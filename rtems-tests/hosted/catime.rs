// SPDX-License-Identifier: BSD-2-Clause
//! catime completes at every size, and finds every channel with the first search.

use crate::ours;
use crate::support::catime;
use crate::support::python::Clients;

/// What catime is asked for: name of the test, channels, whether each channel is a record of its own.
pub const RUNS: &[(&str, u32, bool)] =
    &[("catime_1000", 1000, false), ("catime_10000", 10_000, false), ("catime_10000_append", 10_000, true)];

/// Runs it against the built-in benchmark PVs.
///
/// # Errors
/// If catime hangs, complains or had to search twice.
pub fn completes(clients: &Clients, channels: u32, append: bool) -> Result<(), String> {
    let server = ours()?;
    let report = catime::run(clients, &server, "ioc:catime", channels, append)?;
    if report.tries != (1.0, 1.0) {
        return Err(format!("search tries (mean, max): {:?}", report.tries));
    }
    if !report.channel.contains("native type=6, native count=1") {
        return Err(format!("not a scalar double: {}", report.channel));
    }
    Ok(())
}
