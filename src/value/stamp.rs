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

    /// Year, month and day, UTC. Within the 32-bit epoch no year divisible by four is an exception but 2100.
    pub fn date(self) -> (u32, u32, u32) {
        let mut days = self.seconds / 86_400;
        let mut year = 1990;
        let is_leap = |year: u32| year.is_multiple_of(4) && year != 2100;
        loop {
            let length = if is_leap(year) { 366 } else { 365 };
            if days < length {
                break;
            }
            days -= length;
            year += 1;
        }
        let february = if is_leap(year) { 29 } else { 28 };
        let mut month = 1;
        for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
            if days < length {
                break;
            }
            days -= length;
            month += 1;
        }
        (year, month, days + 1)
    }
}

/// Shows a stamp as `2026-11-30 18:36:59`, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc(pub Stamp);

impl core::fmt::Display for Utc {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (year, month, day) = self.0.date();
        let second = self.0.seconds % 86_400;
        write!(
            f,
            "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
            second / 3600,
            second / 60 % 60,
            second % 60
        )
    }
}
