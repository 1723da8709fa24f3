// SPDX-License-Identifier: BSD-2-Clause
//! Reading and writing of blocks, control fields, statistics and the free list.

use core::marker::PhantomData;

use super::Hooks;
use crate::heap::layout::{Family, Version};
use crate::heap::memory::MemoryMut;
use crate::heap::tags::{PREVIOUS_USED, Range, Tags};

/// A heap being worked on. RTEMS's inline functions (`heapimpl.h`), by the same names where they fit.
pub(super) struct Edit<'a, V, M, H> {
    pub(super) memory: &'a mut M,
    pub(super) hooks: &'a mut H,
    pub(super) heap: usize,
    pub(super) version: PhantomData<V>,
}

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    /// Whether the statistics have `failed_allocs`, lifetime counters and a counted `allocs`.
    pub(super) const LATER: bool = matches!(V::LAYOUT.family, Family::V4_11);

    #[inline(always)]
    pub(super) fn tags(&self) -> Tags<'_, V, M> {
        Tags::new(self.memory, self.heap)
    }

    #[inline(always)]
    pub(super) fn range(&self) -> Range {
        self.tags().range()
    }

    // Arithmetic in the heap's own words.

    #[inline(always)]
    pub(super) fn plus(&self, a: usize, b: usize) -> usize {
        V::wrap(a.wrapping_add(b))
    }

    #[inline(always)]
    pub(super) fn minus(&self, a: usize, b: usize) -> usize {
        V::wrap(a.wrapping_sub(b))
    }

    #[inline(always)]
    pub(super) fn align_down(&self, value: usize, alignment: usize) -> usize {
        value - value.checked_rem(alignment).unwrap_or(0)
    }

    #[inline(always)]
    pub(super) fn align_up(&self, value: usize, alignment: usize) -> usize {
        match value.checked_rem(alignment).unwrap_or(0) {
            0 => value,
            remainder => self.plus(value - remainder, alignment),
        }
    }

    // The control block.

    #[inline(always)]
    pub(super) fn control(&self, offset: usize) -> usize {
        self.tags().control(offset)
    }

    pub(super) fn set_control(&mut self, offset: usize, value: usize) {
        self.memory.set_word(self.plus(self.heap, offset), value);
    }

    pub(super) fn page_size(&self) -> usize {
        self.control(V::LAYOUT.page_size)
    }

    pub(super) fn min_block_size(&self) -> usize {
        self.control(V::LAYOUT.min_block_size)
    }

    // Statistics.

    /// Adds to a statistic kept in a word; pass the complement to subtract.
    pub(super) fn add_bytes(&mut self, offset: usize, bytes: usize) {
        let value = self.plus(self.control(offset), bytes);
        self.set_control(offset, value);
    }

    pub(super) fn sub_bytes(&mut self, offset: usize, bytes: usize) {
        let value = self.minus(self.control(offset), bytes);
        self.set_control(offset, value);
    }

    pub(super) fn set_counter(&mut self, offset: usize, value: u32) {
        self.memory.set_count(self.plus(self.heap, offset), value);
    }

    /// Adds to a 32-bit counter; a negative number subtracts.
    pub(super) fn bump(&mut self, offset: usize, by: i32) {
        let value = self.tags().counter(offset).wrapping_add_signed(by);
        self.set_counter(offset, value);
    }

    /// Raises a 32-bit maximum.
    pub(super) fn raise(&mut self, offset: usize, value: u32) {
        if self.tags().counter(offset) < value {
            self.set_counter(offset, value);
        }
    }

    /// Adds to a lifetime counter: 64 bits in any layout, made of two 32-bit numbers in the machine's byte order.
    pub(super) fn add_lifetime(&mut self, offset: usize, bytes: usize) {
        if M::WORD == 8 {
            self.add_bytes(offset, bytes);
            return;
        }
        let (low_at, high_at) = if M::BIG_ENDIAN { (offset + 4, offset) } else { (offset, offset + 4) };
        let (low, carry) = self.tags().counter(low_at).overflowing_add(bytes as u32);
        self.set_counter(low_at, low);
        self.bump(high_at, i32::from(carry));
    }

    // Blocks.

    #[inline(always)]
    pub(super) fn block_of_alloc_area(&self, pointer: usize) -> usize {
        let aligned = self.align_down(pointer, self.page_size());
        self.minus(aligned, V::LAYOUT.header)
    }

    #[inline(always)]
    pub(super) fn alloc_area_of_block(&self, block: usize) -> usize {
        self.plus(block, V::LAYOUT.header)
    }

    #[inline(always)]
    pub(super) fn size(&self, block: usize) -> usize {
        self.tags().size(block)
    }

    #[inline(always)]
    pub(super) fn previous_used(&self, block: usize) -> bool {
        self.tags().previous_used(block)
    }

    pub(super) fn set_size_and_flag(&mut self, block: usize, value: usize) {
        let address = self.plus(block, V::LAYOUT.size);
        self.memory.set_word(address, value);
    }

    /// Changes the size and keeps the flag.
    pub(super) fn set_size(&mut self, block: usize, size: usize) {
        let flag = self.tags().size_and_flag(block) & PREVIOUS_USED;
        self.set_size_and_flag(block, size | flag);
    }

    pub(super) fn mark_previous_used(&mut self, block: usize) {
        let value = self.tags().size_and_flag(block) | PREVIOUS_USED;
        self.set_size_and_flag(block, value);
    }

    pub(super) fn mark_previous_free(&mut self, block: usize, size: usize) {
        let value = self.size(block);
        self.set_size_and_flag(block, value);
        self.set_previous_size(block, size);
    }

    pub(super) fn set_previous_size(&mut self, block: usize, size: usize) {
        self.memory.set_word(block, size);
    }

    // The free list.

    pub(super) fn set_next(&mut self, block: usize, next: usize) {
        let address = self.plus(block, V::LAYOUT.next);
        self.memory.set_word(address, next);
    }

    pub(super) fn set_prev(&mut self, block: usize, prev: usize) {
        let address = self.plus(block, V::LAYOUT.prev);
        self.memory.set_word(address, prev);
    }

    pub(super) fn first_free(&self) -> usize {
        self.tags().next_free(self.heap)
    }

    pub(super) fn list_remove(&mut self, block: usize) {
        let (next, prev) = (self.tags().next_free(block), self.tags().previous_free(block));
        self.set_next(prev, next);
        self.set_prev(next, prev);
    }

    pub(super) fn list_replace(&mut self, old: usize, new: usize) {
        let (next, prev) = (self.tags().next_free(old), self.tags().previous_free(old));
        self.set_next(new, next);
        self.set_prev(new, prev);
        self.set_prev(next, new);
        self.set_next(prev, new);
    }

    pub(super) fn list_insert_after(&mut self, before: usize, new: usize) {
        let next = self.tags().next_free(before);
        self.set_next(new, next);
        self.set_prev(new, before);
        self.set_next(before, new);
        self.set_prev(next, new);
    }

    /// What a request for the block at `pointer` may use.
    pub(super) fn usable_size(&self, pointer: usize) -> usize {
        let block = self.block_of_alloc_area(pointer);
        let end = self.plus(block, self.size(block));
        self.minus(self.plus(end, V::LAYOUT.word), pointer)
    }
}
