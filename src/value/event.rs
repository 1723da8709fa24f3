// SPDX-License-Identifier: BSD-2-Clause
//! Kinds of change that a subscriber can ask for.

/// Which kinds of change an event stands for: the DBE_* bits of EVENT_ADD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventMask(pub u8);

impl EventMask {
    /// The value changed by more than the monitor deadband.
    pub const VALUE: EventMask = EventMask(1);
    /// The value changed by more than the archive deadband.
    pub const LOG: EventMask = EventMask(2);
    /// Alarm status or severity changed.
    pub const ALARM: EventMask = EventMask(4);
    /// Metadata changed.
    pub const PROPERTY: EventMask = EventMask(8);

    /// Any bit in common.
    pub const fn intersects(self, other: EventMask) -> bool {
        self.0 & other.0 != 0
    }

    /// Bits of both.
    pub const fn union(self, other: EventMask) -> EventMask {
        EventMask(self.0 | other.0)
    }
}
