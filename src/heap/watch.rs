// SPDX-License-Identifier: BSD-2-Clause
//! One heap under watch: the tracker, and tier B for when there is none. What `os/` keeps under the heap's lock.

use super::layout::Version;
use super::memory::Memory;
use super::tags::Tags;
use super::tier_b::Search;
use super::tracker::{Snapshot, State, Tracker};
use super::walk;

/// Tracker and tier B of one heap. All-zero when new. Every method is to be called under the heap's lock, with the
/// address of the heap that is to be asked about, 0 if there is none yet. In this order: see [`Tracker`].
#[repr(C)]
pub struct Watch<V> {
    /// Told of each operation, if the hooks are linked.
    pub tracker: Tracker<V>,
    /// Answers when the tracker cannot.
    pub search: Search,
}

impl<V: Version> Watch<V> {
    /// Where the address of the heap that is recorded now is, 0 for none.
    pub const RECORDED: usize = core::mem::offset_of!(Self, tracker) + Tracker::<V>::RECORDED;

    /// Watches nothing yet.
    pub const fn new() -> Self {
        Self { tracker: Tracker::new(), search: Search::new() }
    }

    /// Whether the tracker answers for this heap.
    pub fn tracked(&self, heap: usize) -> bool {
        self.tracker.state() == State::Attached && self.tracker.heap() == heap
    }

    /// Whether there is a free block of at least `bytes`, exactly.
    pub fn has_block<M: Memory>(&mut self, memory: &M, heap: usize, bytes: usize) -> bool {
        if heap == 0 {
            false
        } else if self.tracked(heap) {
            self.tracker.largest_lower_bound() >= bytes || self.tracker.largest_exact(memory) >= bytes
        } else {
            self.search.has_block::<V, M>(memory, heap, bytes)
        }
    }

    /// The largest free block in bytes, exactly; by a walk if the heap is not tracked.
    pub fn largest<M: Memory>(&mut self, memory: &M, heap: usize) -> usize {
        if heap == 0 {
            0
        } else if self.tracked(heap) {
            self.tracker.largest_exact(memory)
        } else {
            walk::free_list::<V, M>(memory, heap).largest_free
        }
    }

    /// The state of the heap; by a walk of its free list if it is not tracked.
    pub fn snapshot<M: Memory>(&self, memory: &M, heap: usize) -> Snapshot {
        let known = self.tracker.snapshot(memory);
        if heap == 0 || self.tracked(heap) {
            return known;
        }
        let tags = Tags::<V, M>::new(memory, heap);
        let totals = walk::free_list::<V, M>(memory, heap);
        Snapshot {
            heap_bytes: tags.control(V::LAYOUT.stats_size),
            free_bytes: totals.free_bytes,
            free_blocks: totals.free_blocks,
            used_blocks: tags.counter(V::LAYOUT.used_blocks) as usize,
            largest_lower_bound: totals.largest_free,
            minimum_free_bytes: tags.control(V::LAYOUT.min_free_size),
            fragmentation: Snapshot::fragmentation(totals.free_bytes, totals.largest_free),
            tracked: 0,
            ..known
        }
    }
}

impl<V: Version> Default for Watch<V> {
    fn default() -> Self {
        Self::new()
    }
}
