// SPDX-License-Identifier: BSD-2-Clause
//! Log lines about clients: one per peer, cause and minute, however often it happens.

use super::peer::Peer;
use core::fmt;

/// A second line of the same cause about the same address is left out for so long.
const QUIET_MS: u64 = 60_000;
/// How many (address, cause) pairs are remembered.
const REMEMBERED: usize = 16;

/// Why a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Not Channel Access: port scans, web clients.
    Damaged,
    /// A limit of [`super::Limits`] was reached.
    Limit,
    /// No memory.
    Memory,
    /// Idle or stuck.
    Timeout,
}

/// What has been said lately.
pub(super) struct Notes {
    said: [Option<(u32, Cause, u64)>; REMEMBERED],
    next: usize,
    /// Lines left out.
    pub(super) suppressed: u64,
}

impl Notes {
    pub(super) const fn new() -> Self {
        Notes { said: [None; REMEMBERED], next: 0, suppressed: 0 }
    }

    /// Writes `CA client <peer>: <what>` unless that was said of this address less than a minute ago.
    #[cold]
    pub(super) fn say(&mut self, peer: Peer, cause: Cause, now: u64, what: fmt::Arguments<'_>) {
        if self.is_news(peer.address, cause, now) {
            log::warn!("CA client {peer}: {what}");
        } else {
            self.suppressed += 1;
        }
    }

    fn is_news(&mut self, address: u32, cause: Cause, now: u64) -> bool {
        if let Some((_, _, at)) =
            self.said.iter_mut().flatten().find(|(a, c, _)| *a == address && *c == cause)
        {
            let news = now.saturating_sub(*at) >= QUIET_MS;
            if news {
                *at = now;
            }
            return news;
        }
        if let Some(place) = self.said.get_mut(self.next) {
            *place = Some((address, cause, now));
        }
        self.next = (self.next + 1) % REMEMBERED;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_per_address_cause_and_minute() {
        let mut notes = Notes::new();
        assert!(notes.is_news(1, Cause::Limit, 0));
        assert!(!notes.is_news(1, Cause::Limit, 59_999));
        assert!(notes.is_news(1, Cause::Memory, 10));
        assert!(notes.is_news(2, Cause::Limit, 10));
        assert!(notes.is_news(1, Cause::Limit, 60_000));
        assert!(!notes.is_news(1, Cause::Limit, 60_001));
    }
}
