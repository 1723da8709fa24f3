// SPDX-License-Identifier: BSD-2-Clause
//! Tier B: is there a block of n bytes? Answered without hooks, by a search of the free list from both ends.
//!
//! The free list is not sorted, but the big remainder of the initial block keeps its place, and that is the tail unless
//! something moved it to the head (resizing does). Taking blocks from both ends in turn finds it in a few steps whichever
//! it is, and stops at the first block that will do. "No" needs the whole list, always: EPICS drops circuits on a "no", so
//! it is never said out of weariness. But a "no" stays true until some block grows, so it is remembered.

use core::fmt;

use super::layout::Version;
use super::memory::Memory;
use super::tags::Tags;

/// Buckets of [`Histogram`]: 1 step, 2, 3-4, 5-8, ... up to more than 2^22.
pub const BUCKETS: usize = 24;

/// How many steps the searches took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Searches per power of two: bucket b counts those of more than 2^(b-1) and at most 2^b steps.
    pub buckets: [u32; BUCKETS],
    /// The longest search.
    pub longest: usize,
}

impl Histogram {
    const fn new() -> Self {
        Self { buckets: [0; BUCKETS], longest: 0 }
    }

    fn record(&mut self, steps: usize) {
        let bucket = steps.next_power_of_two().trailing_zeros() as usize;
        if let Some(count) = self.buckets.get_mut(bucket.min(BUCKETS - 1)) {
            *count = count.wrapping_add(1);
        }
        self.longest = self.longest.max(steps);
    }

    /// Searches made.
    pub fn searches(&self) -> u32 {
        self.buckets.iter().fold(0, |sum, count| sum.wrapping_add(*count))
    }
}

/// What must be unchanged for a remembered "no" to stand: no block grows without one of these changing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signature {
    heap: usize,
    size: usize,
    frees: u32,
    resizes: u32,
    free_size: usize,
}

/// What is known of the searches of one heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searches {
    /// Steps per search.
    pub histogram: Histogram,
    /// Questions answered by the remembered "no".
    pub remembered: u32,
}

impl fmt::Display for Searches {
    /// One line: how many there were, and how many of them took up to 1, 2, 4, ... steps.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Histogram { buckets, longest } = &self.histogram;
        write!(
            f,
            "{} searches, {longest} steps at most, {} more answered from the last",
            self.histogram.searches(),
            self.remembered
        )?;
        for (bucket, count) in buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            write!(f, ", <={}: {count}", 1u32 << bucket)?;
        }
        Ok(())
    }
}

/// The searches of one heap and the last "no". All-zero when new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// What they were like.
    pub made: Searches,
    /// The smallest size that the last "no" was about, and the heap then.
    no: Option<(usize, Signature)>,
}

impl Search {
    /// No searches yet.
    pub const fn new() -> Self {
        Self { made: Searches { histogram: Histogram::new(), remembered: 0 }, no: None }
    }

    /// Whether the heap at `heap` has a free block of at least `bytes` (with header). To be asked under its lock.
    pub fn has_block<V: Version, M: Memory>(&mut self, memory: &M, heap: usize, bytes: usize) -> bool {
        let tags = Tags::<V, M>::new(memory, heap);
        let signature = Signature {
            heap,
            size: tags.control(V::LAYOUT.stats_size),
            frees: tags.counter(V::LAYOUT.frees),
            resizes: tags.counter(V::LAYOUT.resizes),
            free_size: tags.control(V::LAYOUT.free_size),
        };
        if self.no.is_some_and(|(least, then)| bytes >= least && then.still_no(&signature)) {
            self.made.remembered = self.made.remembered.wrapping_add(1);
            return false;
        }
        let mut found = false;
        let steps = from_both_ends(tags, |size| {
            found = size >= bytes;
            found
        });
        self.made.histogram.record(steps);
        if !found {
            self.no = Some((bytes, signature));
        }
        found
    }
}

impl Default for Search {
    fn default() -> Self {
        Self::new()
    }
}

impl Signature {
    /// Allocations only shrink blocks, so the free size may have fallen; every other change may have grown one.
    fn still_no(&self, now: &Self) -> bool {
        let Self { heap, size, frees, resizes, free_size } = *self;
        (heap, size, frees, resizes) == (now.heap, now.size, now.frees, now.resizes)
            && now.free_size <= free_size
    }
}

/// Shows the sizes of the free blocks, taken from both ends of the list in turn, until `done` says so or all were seen.
/// Returns how many were shown. Ends on a corrupted list too: no more than the heap has room for are followed.
pub fn from_both_ends<V: Version, M: Memory>(
    tags: Tags<'_, V, M>,
    mut done: impl FnMut(usize) -> bool,
) -> usize {
    let range = tags.range();
    let head = tags.list_head();
    let room = range.last.wrapping_sub(range.first) / V::LAYOUT.word + 1;
    let (mut front, mut back) = (tags.next_free(head), tags.previous_free(head));
    let mut steps = 0;
    while steps < room && range.contains(front) && range.contains(back) {
        steps += 1;
        if done(tags.size(front)) || front == back {
            break;
        }
        steps += 1;
        if done(tags.size(back)) {
            break;
        }
        let next = tags.next_free(front);
        if next == back {
            break;
        }
        (front, back) = (next, tags.previous_free(back));
    }
    steps
}
