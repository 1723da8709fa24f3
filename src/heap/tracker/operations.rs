// SPDX-License-Identifier: BSD-2-Clause
//! What each heap operation does to the set of free blocks.
//!
//! ```text
//!      P                 b                 n            hi
//! -----+-----------------+-----------------+------------+----   P, N: the neighbours, if free
//!      | free, prev_size | this block      | free       |        PU(b) = 0 iff P is free
//! -----+-----------------+-----------------+------------+----   next_free(n) as _Heap_Free decides it
//! ```
//!
//! Since free blocks are never adjacent, allocation turns one free block into at most free|used|free, freeing merges at
//! most three pieces into one, and resizing only moves the lower end of the free block behind.

use super::{ATTACH_TRIES, NOTHING_FREE, STRIKE_DISTANCE, STRIKES, Tracker};
use crate::heap::index::Index;
use crate::heap::layout::{Family, Version};
use crate::heap::memory::Memory;
use crate::heap::tags::{PREVIOUS_USED, Tags};

/// What was seen of a block before it was freed.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FreeNote {
    /// Its size; 0: not recorded (null pointer, not a block of this heap, not attached), and the rest means nothing.
    size: usize,
    /// Size of the free block before it, 0 if that is used.
    previous: usize,
    /// The block. How much was free behind it, its size tells when it was freed.
    block: usize,
}

/// What was seen of a block before it was resized.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ResizeNote {
    /// The block; 0: not recorded.
    block: usize,
    /// Size of the free block behind it, 0 if that is used.
    next: usize,
    /// The first address behind both: it stays whatever resizing does.
    end: usize,
}

impl<V: Version> Tracker<V> {
    /// Whether operations on this heap are being recorded now.
    #[inline(always)]
    pub fn records(&self, heap: usize) -> bool {
        heap == self.active
    }

    /// After an allocation returned `pointer`, or 0 if it failed.
    #[inline(always)]
    pub fn allocated<M: Memory>(&mut self, memory: &M, heap: usize, pointer: usize) {
        if !self.records(heap) || !self.record_allocated(memory, pointer) {
            self.settle(memory, heap, pointer == 0);
        }
    }

    /// [`Tracker::allocated`] of the heap that is recorded now. False: [`Tracker::settle`] has to be called. This way it calls
    /// nothing, and its caller has no registers to save for what hardly ever happens.
    #[inline(always)]
    #[must_use]
    pub fn record_allocated<M: Memory>(&mut self, memory: &M, pointer: usize) -> bool {
        self.operations = self.operations.wrapping_add(1);
        let tags = Tags::<V, M>::new(memory, self.active);
        if pointer == 0 {
            self.failed = self.failed.wrapping_add(1);
            return self.finish(tags);
        }
        // The heap has just written these tags: block and neighbour need no check.
        let block = self.block_of(pointer);
        let size_and_flag = tags.size_and_flag(block);
        let size = size_and_flag & !PREVIOUS_USED;
        let below = if size_and_flag == size { tags.previous_size(block) } else { 0 };
        let above = tags.free_size_at(tags.range(), tags.at(block, size));
        // The free block that was chosen had used neighbours, so what is free beside us now is left of it.
        let taken_from = V::wrap(below.wrapping_add(size).wrapping_add(above));
        if below == 0 {
            self.replace(taken_from, above);
        } else {
            self.replace(taken_from, below);
            self.replace(0, above);
        }
        self.finish(tags)
    }

    /// Before `pointer` is freed: fills in `note`.
    #[inline(always)]
    pub fn before_free<M: Memory>(&self, memory: &M, heap: usize, pointer: usize, note: &mut FreeNote) {
        note.size = 0;
        if self.records(heap) {
            self.note_free(memory, pointer, note);
        }
    }

    /// [`Tracker::before_free`] of the heap that is recorded now.
    #[inline(always)]
    pub fn note_free<M: Memory>(&self, memory: &M, pointer: usize, note: &mut FreeNote) {
        let tags = Tags::<V, M>::new(memory, self.active);
        let block = self.block_of(pointer);
        if !tags.range().contains(block) {
            note.size = 0;
            return;
        }
        // Whether this is a block at all, and the one behind it free, the heap decides.
        let size_and_flag = tags.size_and_flag(block);
        let size = size_and_flag & !PREVIOUS_USED;
        note.size = size;
        note.previous = if size_and_flag == size { tags.previous_size(block) } else { 0 };
        note.block = block;
    }

    /// After it was freed; `freed` is what the heap returned.
    #[inline(always)]
    pub fn after_free<M: Memory>(&mut self, memory: &M, heap: usize, note: &FreeNote, freed: bool) {
        if !self.records(heap) || !self.record_free(memory, note, freed) {
            self.settle(memory, heap, false);
        }
    }

    /// [`Tracker::after_free`] of the heap that is recorded now, as [`Tracker::record_allocated`].
    #[inline(always)]
    #[must_use]
    pub fn record_free<M: Memory>(&mut self, memory: &M, note: &FreeNote, freed: bool) -> bool {
        self.operations = self.operations.wrapping_add(1);
        let tags = Tags::<V, M>::new(memory, self.active);
        if note.size != 0 && freed {
            let start = V::wrap(note.block.wrapping_sub(note.previous));
            let merged = tags.size(start);
            // HEAP_PROTECTION may only have queued the block: it is used until the heap frees it for good.
            let queued = V::LAYOUT.protection != 0
                && (merged < note.previous.wrapping_add(note.size)
                    || tags.previous_used(tags.at(start, merged)));
            if !queued {
                self.merge(note, merged);
            }
        }
        // Freeing cannot lower what is free: no look at the minimum.
        self.compare(tags)
    }

    /// A block was freed and is `merged` bytes long together with its free neighbours.
    #[inline(always)]
    fn merge(&mut self, note: &FreeNote, merged: usize) {
        let next = V::wrap(merged.wrapping_sub(note.previous).wrapping_sub(note.size));
        self.free_bytes = V::wrap(self.free_bytes.wrapping_add(note.size));
        let mut grown = next;
        if note.previous != 0 {
            if next != 0 {
                self.free_blocks = self.free_blocks.wrapping_sub(1);
                self.index.remove(Index::class_of(next));
                self.lose_witness(next);
            }
            grown = note.previous;
        }
        if grown != 0 {
            self.reclass(grown, merged);
        } else {
            self.free_blocks = self.free_blocks.wrapping_add(1);
            self.index.add(Index::class_of(merged));
            self.see(merged);
        }
    }

    /// Before `pointer` is resized in place. Under HEAP_PROTECTION the delayed frees must have been made before.
    #[inline(always)]
    pub fn before_resize<M: Memory>(&mut self, memory: &M, heap: usize, pointer: usize) -> ResizeNote {
        if matches!(V::LAYOUT.family, Family::V4_7) && heap == self.heap {
            // Up to 4.9 shrinking frees the tail through _Heap_Free, which the difference below covers.
            self.suspend();
        } else if !self.records(heap) {
            return ResizeNote::default();
        }
        let tags = Tags::<V, M>::new(memory, heap);
        let block = self.block_of(pointer);
        let range = tags.range();
        if heap != self.heap || !range.contains(block) {
            return ResizeNote::default();
        }
        let next = tags.at(block, tags.size(block));
        if !range.contains(next) {
            return ResizeNote::default();
        }
        let above = tags.free_size_at(range, next);
        ResizeNote { block, next: above, end: tags.at(next, above) }
    }

    /// After it was resized, or was not: what is free behind the block tells.
    #[inline(always)]
    pub fn after_resize<M: Memory>(&mut self, memory: &M, heap: usize, note: &ResizeNote) {
        if matches!(V::LAYOUT.family, Family::V4_7) && heap == self.heap {
            self.resume();
        }
        if !self.records(heap) {
            self.settle(memory, heap, false);
            return;
        }
        self.operations = self.operations.wrapping_add(1);
        let tags = Tags::<V, M>::new(memory, heap);
        if note.block != 0 {
            let above = V::wrap(note.end.wrapping_sub(tags.at(note.block, tags.size(note.block))));
            if above != note.next {
                self.replace(note.next, above);
            }
        }
        if !self.finish(tags) {
            self.settle(memory, heap, false);
        }
    }

    /// Before `_Heap_Greedy_allocate`, which takes blocks past the entry points that are hooked.
    /// A tracker that has no heap yet is held back too: the requests inside would attach it to a heap half emptied.
    pub fn before_greedy(&mut self) {
        self.suspend();
    }

    /// After it: one walk.
    pub fn after_greedy<M: Memory>(&mut self, memory: &M, heap: usize) {
        self.resume();
        if heap == 0 || heap != self.heap {
            self.unrecorded(memory, heap, false);
        } else if self.active != 0 && self.resync(memory).is_err() {
            self.give_up();
        }
    }

    /// The block that a user pointer belongs to: pointers of aligned requests may point up to a page into it.
    #[inline(always)]
    fn block_of(&self, pointer: usize) -> usize {
        V::wrap((pointer & !self.page_mask).wrapping_sub(V::LAYOUT.header))
    }

    /// A free block of size `old` becomes one of size `new`; 0 stands for no block.
    #[inline(always)]
    pub(super) fn replace(&mut self, old: usize, new: usize) {
        if old == 0 {
            if new != 0 {
                self.add(new);
            }
            return;
        }
        if new == 0 {
            self.free_bytes = V::wrap(self.free_bytes.wrapping_sub(old));
            self.free_blocks = self.free_blocks.wrapping_sub(1);
            self.index.remove(Index::class_of(old));
            self.lose_witness(old);
            return;
        }
        self.free_bytes = V::wrap(self.free_bytes.wrapping_add(new).wrapping_sub(old));
        self.reclass(old, new);
    }

    /// The same for two sizes that are not 0, without the bytes.
    #[inline(always)]
    fn reclass(&mut self, old: usize, new: usize) {
        let from = Index::class_of(old);
        let to = Index::class_of(new);
        if from != to {
            self.index.remove(from);
            self.index.add(to);
        } else if old == self.witness && self.witness_is_largest && self.index.count(from) == 1 {
            // The usual case: a piece was cut off the one big block, which stays alone in its class.
            self.witness = new;
            return;
        }
        self.lose_witness(old);
        self.see(new);
    }

    #[inline(always)]
    fn add(&mut self, size: usize) {
        self.free_bytes = V::wrap(self.free_bytes.wrapping_add(size));
        self.free_blocks = self.free_blocks.wrapping_add(1);
        self.index.add(Index::class_of(size));
        self.see(size);
    }

    /// A free block of this size exists now.
    #[inline(always)]
    fn see(&mut self, size: usize) {
        if size > self.witness {
            self.witness = size;
            self.witness_count = 1;
        } else if size == self.witness {
            self.witness_count = self.witness_count.wrapping_add(1);
        }
    }

    /// A free block of this size exists no more.
    #[inline(always)]
    fn lose_witness(&mut self, size: usize) {
        if size == self.witness {
            self.witness_count = self.witness_count.wrapping_sub(1);
            if self.witness_count == 0 {
                self.witness = 0;
                self.witness_is_largest = false;
            }
        }
    }

    /// After an operation that may have left less free memory than ever; false as [`Tracker::compare`].
    #[inline(always)]
    fn finish<M: Memory>(&mut self, tags: Tags<'_, V, M>) -> bool {
        let counted = self.compare(tags);
        if counted && self.free_bytes < self.minimum_free_bytes {
            self.minimum_free_bytes = self.free_bytes;
        }
        counted
    }

    /// Compares with the heap's own counters and brings the bound up to date; false if they differ.
    #[inline(always)]
    fn compare<M: Memory>(&mut self, tags: Tags<'_, V, M>) -> bool {
        let counted = tags.control(V::LAYOUT.free_size) == self.free_bytes
            && tags.counter(V::LAYOUT.free_blocks) as usize == self.free_blocks;
        if counted {
            self.update_bound();
        }
        counted
    }

    /// After an operation that was not recorded, or after which the heap's own counters differ.
    #[cold]
    #[inline(never)]
    pub fn settle<M: Memory>(&mut self, memory: &M, heap: usize, failed: bool) {
        if self.records(heap) {
            self.mismatch(memory);
        } else {
            self.unrecorded(memory, heap, failed);
        }
    }

    /// The bound is the witness if that is the largest; else the better of witness and lower end of the highest class.
    #[inline(always)]
    pub(super) fn update_bound(&mut self) {
        if !self.witness_is_largest {
            let Some(top) = self.index.top() else {
                self.lower_bound = NOTHING_FREE;
                return;
            };
            let lower = Index::lower_bound(top);
            if self.witness < lower {
                self.lower_bound = lower;
                return;
            }
            self.witness_is_largest = self.index.count(top) == self.witness_count;
        }
        self.lower_bound = self.witness;
    }

    /// An operation on a heap that is not being recorded: attach to it, unless that is hopeless or only suspended.
    #[cold]
    fn unrecorded<M: Memory>(&mut self, memory: &M, heap: usize, failed: bool) {
        if self.lost || self.suspended != 0 || heap == 0 {
            return;
        }
        match self.attach(memory, heap) {
            Ok(()) => self.failed = self.failed.wrapping_add(u32::from(failed)),
            Err(_) => {
                self.attach_failures += 1;
                self.lost = self.attach_failures >= ATTACH_TRIES;
            }
        }
    }

    /// The heap's own counters differ: something changed it without telling us.
    #[cold]
    fn mismatch<M: Memory>(&mut self, memory: &M) {
        self.resyncs = self.resyncs.wrapping_add(1);
        let distance = self.operations.wrapping_sub(self.last_mismatch);
        self.last_mismatch = self.operations;
        self.strikes = if distance < STRIKE_DISTANCE { self.strikes.wrapping_add(1) } else { 0 };
        if self.strikes >= STRIKES {
            self.give_up();
        } else if self.resync(memory).is_err() {
            // Caught in the middle of a change, or corrupted: tier B answers until the next operation attaches anew.
            self.detach();
        }
    }

    /// From here on the answers come from tier B.
    fn give_up(&mut self) {
        self.detach();
        self.lost = true;
    }

    fn suspend(&mut self) {
        self.suspended = self.suspended.saturating_add(1);
        self.active = 0;
    }

    fn resume(&mut self) {
        self.suspended = self.suspended.saturating_sub(1);
        if self.suspended == 0 {
            self.active = self.heap;
        }
    }
}
