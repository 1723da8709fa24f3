// SPDX-License-Identifier: BSD-2-Clause
//! Time stamps in the EPICS epoch.

/// Seconds from 1970 to the EPICS epoch, 1990-01-01 00:00 UTC.
pub const EPICS_EPOCH: u64 = 631_152_000;

/// Time since 1990-01-01 00:00 UTC; zero while the clock is not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Whole seconds.
    pub seconds: u32,
    /// Nanoseconds, below 1 000 000 000.
    pub nanoseconds: u32,
}

impl Stamp {
    /// The clock is not set.
    pub const UNSET: Stamp = Stamp { seconds: 0, nanoseconds: 0 };

    /// From seconds since 1970. RTEMS boots in 1988, before the epoch: such a time is no time at all, not the year 2124.
    pub const fn from_unix(seconds: u64, nanoseconds: u32) -> Stamp {
        if seconds < EPICS_EPOCH {
            Stamp::UNSET
        } else {
            Stamp { seconds: (seconds - EPICS_EPOCH) as u32, nanoseconds }
        }
    }
}
