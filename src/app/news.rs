// SPDX-License-Identifier: BSD-2-Clause
//! Which slots have news: a bit each, and a bit for each word of those.

use core::sync::atomic::{AtomicU32, Ordering};

const BITS: usize = 32;
const WORDS: usize = 128;

/// The most process variables that an application can have.
pub const MAX_PVS: usize = WORDS * BITS;

/// The bits.
#[derive(Debug)]
pub(super) struct News {
    slots: [AtomicU32; WORDS],
    words: [AtomicU32; WORDS / BITS],
}

impl News {
    pub(super) const fn new() -> Self {
        News {
            slots: [const { AtomicU32::new(0) }; WORDS],
            words: [const { AtomicU32::new(0) }; WORDS / BITS],
        }
    }

    /// A slot has news: from any task.
    #[inline]
    pub(super) fn mark(&self, number: usize) {
        let word = number / BITS;
        if let (Some(slots), Some(words)) = (self.slots.get(word), self.words.get(word / BITS)) {
            slots.fetch_or(1 << (number % BITS), Ordering::Release);
            words.fetch_or(1 << (word % BITS), Ordering::SeqCst);
        }
    }

    /// Visits every slot that has news and forgets that it had; true if there was any.
    pub(super) fn drain(&self, mut visit: impl FnMut(usize)) -> bool {
        let mut any = false;
        for (group, words) in self.words.iter().enumerate() {
            for word in bits(words.swap(0, Ordering::SeqCst)) {
                let word = group * BITS + word;
                let Some(slots) = self.slots.get(word) else { continue };
                for slot in bits(slots.swap(0, Ordering::Acquire)) {
                    any = true;
                    visit(word * BITS + slot);
                }
            }
        }
        any
    }
}

/// The numbers of the bits that are set.
pub(super) fn bits(mut word: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn what_was_marked_is_visited_once() {
        let news = News::new();
        for number in [0, 5, 31, 32, 1024, MAX_PVS - 1, 5] {
            news.mark(number);
        }
        news.mark(MAX_PVS);
        let mut seen = Vec::new();
        assert!(news.drain(|number| seen.push(number)));
        assert_eq!(seen, [0, 5, 31, 32, 1024, MAX_PVS - 1]);
        assert!(!news.drain(|_| panic!("again")));
    }
}
