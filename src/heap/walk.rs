// SPDX-License-Identifier: BSD-2-Clause
//! The walks that EPICS makes today, for comparison and for heaps that the tracker does not follow.

use super::layout::Version;
use super::memory::Memory;
use super::tags::Tags;

/// What a walk over blocks finds, as RTEMS's `Heap_Information_block` has it. Sizes in bytes with block headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Free blocks.
    pub free_blocks: usize,
    /// Bytes in them.
    pub free_bytes: usize,
    /// The largest of them.
    pub largest_free: usize,
    /// Used blocks.
    pub used_blocks: usize,
    /// Bytes in them.
    pub used_bytes: usize,
    /// The largest of them.
    pub largest_used: usize,
}

/// Every block from the first to the last, as `malloc_info()` walks them: `visit` gets address, size and whether it is
/// free. Ends early at a block that leads out of the heap. To be called under the heap's lock.
pub fn every_block<V: Version, M: Memory>(
    memory: &M,
    heap: usize,
    mut visit: impl FnMut(usize, usize, bool),
) {
    let tags = Tags::<V, M>::new(memory, heap);
    let range = tags.range();
    let mut block = range.first;
    while block != range.last {
        let size = tags.size(block);
        let next = tags.at(block, size);
        if next <= block || !range.contains(next) {
            return;
        }
        visit(block, size, !tags.previous_used(next));
        block = next;
    }
}

/// Totals over every block: the work of `malloc_info()`, which EPICS 7.0 asks at each search.
pub fn totals<V: Version, M: Memory>(memory: &M, heap: usize) -> Totals {
    let mut totals = Totals::default();
    every_block::<V, M>(memory, heap, |_, size, free| {
        if free {
            totals.free_blocks += 1;
            totals.free_bytes += size;
            totals.largest_free = totals.largest_free.max(size);
        } else {
            totals.used_blocks += 1;
            totals.used_bytes += size;
            totals.largest_used = totals.largest_used.max(size);
        }
    });
    totals
}

/// Totals over the free list from its head: the work of `malloc_free_space()`, which EPICS asks since its PR #866. To be
/// called under the heap's lock.
pub fn free_list<V: Version, M: Memory>(memory: &M, heap: usize) -> Totals {
    let tags = Tags::<V, M>::new(memory, heap);
    let range = tags.range();
    let head = tags.list_head();
    let room = range.last.wrapping_sub(range.first) / V::LAYOUT.word + 1;
    let mut totals = Totals::default();
    let mut block = tags.next_free(head);
    while block != head && range.contains(block) && totals.free_blocks < room {
        let size = tags.size(block);
        totals.free_blocks += 1;
        totals.free_bytes = totals.free_bytes.wrapping_add(size);
        totals.largest_free = totals.largest_free.max(size);
        block = tags.next_free(block);
    }
    totals
}
