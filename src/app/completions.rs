// SPDX-License-Identifier: BSD-2-Clause
//! Puts that end later: tokens that any task can complete, once.

use core::sync::atomic::{AtomicU32, Ordering};

use super::news::bits;

/// How many puts may be in progress at one time.
const PUTS: usize = 32;
/// Bits of a token that are its place.
const PLACE_BITS: u32 = 5;

/// Names a put whose handler said that it ends later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PutToken(pub u32);

impl PutToken {
    fn place(self) -> usize {
        self.0 as usize % PUTS
    }
}

/// What a place's state says beside its token, which never ends in these bits.
mod phase {
    pub const FREE: u32 = 0;
    pub const PENDING: u32 = 1;
    pub const DONE: u32 = 2;
    pub const FAILED: u32 = 3;
}

/// The tokens in use.
#[derive(Debug)]
pub(super) struct Completions {
    /// Token shifted by two, and the phase.
    states: [AtomicU32; PUTS],
    /// Places whose put has ended.
    ended: AtomicU32,
}

impl Completions {
    pub(super) const fn new() -> Self {
        Completions { states: [const { AtomicU32::new(phase::FREE) }; PUTS], ended: AtomicU32::new(0) }
    }

    /// A token for a new put, by the server alone; `None` when too many are in progress.
    pub(super) fn begin(&self) -> Option<PutToken> {
        let place = self.states.iter().position(|s| s.load(Ordering::Relaxed) & 3 == phase::FREE)?;
        let state = self.states.get(place)?;
        let generation = (state.load(Ordering::Relaxed) >> 2 >> PLACE_BITS).wrapping_add(1) & 0x1ff_ffff;
        let token = generation << PLACE_BITS | place as u32;
        state.store(token << 2 | phase::PENDING, Ordering::Release);
        Some(PutToken(token))
    }

    /// Ends a put, from any task; false if it is none or has ended already.
    pub(super) fn complete(&self, token: PutToken, succeeded: bool) -> bool {
        let Some(state) = self.states.get(token.place()) else { return false };
        let pending = token.0 << 2 | phase::PENDING;
        let ended = token.0 << 2 | if succeeded { phase::DONE } else { phase::FAILED };
        if state.compare_exchange(pending, ended, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        self.ended.fetch_or(1 << token.place(), Ordering::SeqCst);
        true
    }

    /// Visits the puts that have ended since the last call, with their success.
    pub(super) fn drain(&self, mut visit: impl FnMut(PutToken, bool)) {
        for place in bits(self.ended.swap(0, Ordering::SeqCst)) {
            let Some(state) = self.states.get(place) else { continue };
            let found = state.load(Ordering::Acquire);
            // The generation stays, so that an old token is never taken for a new one.
            state.store(found & !3 | phase::FREE, Ordering::Release);
            visit(PutToken(found >> 2), found & 3 == phase::DONE);
        }
    }

    /// Gives a token back that nobody was told, or whose process variable is gone.
    pub(super) fn forget(&self, token: PutToken) {
        if let Some(state) = self.states.get(token.place()) {
            let pending = token.0 << 2 | phase::PENDING;
            let _ = state.compare_exchange(
                pending,
                token.0 << 2 | phase::FREE,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn ended(completions: &Completions) -> Vec<(PutToken, bool)> {
        let mut seen = Vec::new();
        completions.drain(|token, succeeded| seen.push((token, succeeded)));
        seen
    }

    #[test]
    fn a_put_ends_once() {
        let completions = Completions::new();
        let (one, two) = (completions.begin().unwrap(), completions.begin().unwrap());
        assert_ne!(one, two);
        assert!(completions.complete(two, false) && !completions.complete(two, true));
        assert!(completions.complete(one, true));
        assert_eq!(ended(&completions), [(one, true), (two, false)]);
        assert_eq!(ended(&completions), []);
        assert!(!completions.complete(one, true), "its place is free");
        let again = completions.begin().unwrap();
        assert!(again != one && !completions.complete(one, true), "its place is another's");
        completions.forget(again);
        assert!(!completions.complete(again, true));
    }

    #[test]
    fn so_many_and_no_more() {
        let completions = Completions::new();
        let tokens: Vec<_> = core::iter::from_fn(|| completions.begin()).collect();
        assert_eq!(tokens.len(), PUTS);
        completions.complete(tokens[9], true);
        assert_eq!(completions.begin(), None, "the server has not seen the end yet");
        assert_eq!(ended(&completions), [(tokens[9], true)]);
        assert!(completions.begin().is_some());
    }
}
