// SPDX-License-Identifier: BSD-2-Clause
//! The clocks of Linux.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::value::Stamp;

/// Milliseconds since the first call.
pub fn monotonic_ms() -> u64 {
    monotonic_ns() / 1_000_000
}

/// Nanoseconds since the first call.
pub fn monotonic_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The time of day.
pub fn wall() -> Stamp {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => Stamp::from_unix(since.as_secs(), since.subsec_nanos()),
        Err(_) => Stamp::UNSET,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_run_forwards() {
        let start = monotonic_ms();
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(monotonic_ms() >= start + 5);
        // 2020 in the EPICS epoch: a desk's clock is set.
        assert!(wall().seconds > 946_000_000);
    }
}
