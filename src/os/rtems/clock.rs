// SPDX-License-Identifier: BSD-2-Clause
//! The clocks of RTEMS.

#![allow(unsafe_code)]

use crate::value::Stamp;

/// RTEMS starts in 1988 and no board of ours knows better by itself: a time of day before this one (2000-01-01) is unset.
const PLAUSIBLE: i64 = 946_684_800;

/// Nanoseconds since boot.
pub fn monotonic_ns() -> u64 {
    // SAFETY: takes nothing and reads the timecounter.
    unsafe { rtems_sys::rtems_clock_get_uptime_nanoseconds() }
}

/// The time of day, or [`Stamp::UNSET`] until somebody set the clock.
pub fn wall() -> Stamp {
    let mut now = rtems_sys::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local of the type that the BSP's own headers give.
    let result = unsafe { rtems_sys::clock_gettime(rtems_sys::CLOCK_REALTIME as _, &mut now) };
    let seconds = i64::from(now.tv_sec);
    if result != 0 || seconds < PLAUSIBLE {
        return Stamp::UNSET;
    }
    Stamp::from_unix(seconds as u64, now.tv_nsec as u32)
}

/// Ticks that are at least so long: the one that runs now does not count.
pub fn ticks(milliseconds: u64) -> u32 {
    let ticks = milliseconds.saturating_mul(1000) / super::config::CLOCK_MICROSECONDS_PER_TICK as u64 + 1;
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

/// Sleeps at least so long.
pub fn sleep_ms(milliseconds: u64) {
    // SAFETY: takes an integer; the calling task sleeps.
    unsafe { rtems_sys::rtems_task_wake_after(ticks(milliseconds)) };
}
