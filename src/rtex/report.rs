// SPDX-License-Identifier: BSD-2-Clause
//! The lines: time and faults since the line before.

use super::Platform;
use core::fmt::{self, Write};

/// Time and fault count at the last line.
pub(super) struct Stopwatch {
    ns: u64,
    faults: u64,
}

impl Stopwatch {
    /// Starts now.
    pub(super) fn start(platform: &impl Platform) -> Stopwatch {
        Stopwatch { ns: platform.now_ns(), faults: platform.faults() }
    }

    /// Prints what went by since the start or the last line, and starts again after the printing.
    pub(super) fn line(
        &mut self,
        platform: &impl Platform,
        out: &mut dyn Write,
        what: &str,
        round: Option<usize>,
    ) -> fmt::Result {
        let ns = platform.now_ns().saturating_sub(self.ns);
        let faults = platform.faults().saturating_sub(self.faults);
        self::line(out, ns, faults, what, round)?;
        // The printing itself is not to be counted: on a serial console it takes longer than the test.
        *self = Stopwatch::start(platform);
        Ok(())
    }
}

/// One line in the layout that this demonstration is known by.
pub(super) fn line(
    out: &mut dyn Write,
    ns: u64,
    faults: u64,
    what: &str,
    round: Option<usize>,
) -> fmt::Result {
    write!(out, "{ns:10} ns {faults:5} faults : {what}")?;
    if let Some(round) = round {
        write!(out, " ({round})")?;
    }
    writeln!(out)
}
