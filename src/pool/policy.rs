// SPDX-License-Identifier: BSD-2-Clause
//! How the pool's question is answered: the tracker, or what EPICS has done so far.

use core::fmt;
use core::str::FromStr;

/// How to answer whether there is room.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The published bound of the tracker; tier B while there is none.
    Tracker = 0,
    /// Always yes: what the question costs is then what remains of the cost.
    Always = 1,
    /// Walk every block under the heap's lock and go by the total, as EPICS 7.0 does by way of `malloc_info()`.
    Walk = 2,
    /// Walk the free list under the heap's lock for the largest block, as EPICS does since its PR #866 by way of
    /// `malloc_free_space()`.
    LargestWalk = 3,
}

impl Policy {
    /// All policies, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Tracker, Self::Always, Self::Walk, Self::LargestWalk];

    /// The policy of a number of the C interface; unknown numbers are the tracker.
    pub fn from_number(number: u8) -> Self {
        Self::ALL.into_iter().find(|policy| *policy as u8 == number).unwrap_or(Self::Tracker)
    }

    /// The name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tracker => "tracker",
            Self::Always => "always",
            Self::Walk => "walk",
            Self::LargestWalk => "largest-walk",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPolicy;

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected tracker, always, walk or largest-walk")
    }
}

impl core::error::Error for UnknownPolicy {}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<Self, UnknownPolicy> {
        Self::ALL.into_iter().find(|policy| policy.name() == name).ok_or(UnknownPolicy)
    }
}
