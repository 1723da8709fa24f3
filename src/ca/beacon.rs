// SPDX-License-Identifier: BSD-2-Clause
//! Beacons: the server says that it is up, and how often it has said so.
//!
//! At once, then after 20 ms, doubling up to the period. Clients see the short period after a restart and search again.

use super::wire::{Header, MINOR, command};

/// First interval, in milliseconds.
const FIRST_INTERVAL_MS: u32 = 20;

/// When the next beacon is due and what its number is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beacons {
    number: u32,
    interval_ms: u32,
    due_ms: u64,
}

impl Beacons {
    /// The first one is due at once.
    pub(super) const fn new() -> Self {
        Beacons { number: 0, interval_ms: FIRST_INTERVAL_MS, due_ms: 0 }
    }

    /// When the next one is due.
    pub(super) const fn due_ms(&self) -> u64 {
        self.due_ms
    }

    /// The beacon to send now, if one is due.
    pub(super) fn take(&mut self, now: u64, period_ms: u32, tcp_port: u16) -> Option<[u8; 16]> {
        if now < self.due_ms {
            return None;
        }
        let mut bytes = [0; 16];
        Header::new(command::RSRV_IS_UP)
            .typed(MINOR, u32::from(tcp_port))
            .ids(self.number, 0)
            .emit(&mut bytes);
        self.number = self.number.wrapping_add(1);
        // From when it was due, so that clients see a steady period; from now if the loop was late by more than that.
        let base = if now - self.due_ms > u64::from(self.interval_ms) { now } else { self.due_ms };
        self.due_ms = base + u64::from(self.interval_ms);
        self.interval_ms = self.interval_ms.saturating_mul(2).min(period_ms.max(1));
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_beacon_byte_by_byte() {
        let bytes = Beacons::new().take(0, 15_000, 5064).unwrap();
        assert_eq!(bytes, [0, 13, 0, 0, 0, 13, 0x13, 0xc8, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn interval_doubles_up_to_the_period_and_numbers_increase() {
        let mut beacons = Beacons::new();
        let mut now = 0;
        let mut gaps = std::vec::Vec::new();
        for number in 0..14u32 {
            let bytes = beacons.take(now, 15_000, 5064).unwrap();
            assert_eq!(bytes[8..12], number.to_be_bytes());
            assert!(beacons.take(now, 15_000, 5064).is_none());
            gaps.push(beacons.due_ms() - now);
            now = beacons.due_ms();
        }
        assert_eq!(
            gaps,
            [20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 15_000, 15_000, 15_000, 15_000]
        );
    }

    #[test]
    fn a_late_loop_does_not_send_a_burst() {
        let mut beacons = Beacons::new();
        beacons.take(0, 15_000, 5064).unwrap();
        beacons.take(60_000, 15_000, 5064).unwrap();
        assert!(beacons.take(60_001, 15_000, 5064).is_none());
    }
}
