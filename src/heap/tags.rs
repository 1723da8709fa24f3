// SPDX-License-Identifier: BSD-2-Clause
//! Boundary tags: reads a block, its neighbours and the heap control through a [`Memory`].

use core::marker::PhantomData;

use super::layout::Version;
use super::memory::Memory;

/// Bit 0 of `size_and_flag`: the previous block is used.
pub const PREVIOUS_USED: usize = 1;

/// A heap control and the memory it lies in, read by the layout of version `V`.
pub struct Tags<'m, V, M> {
    memory: &'m M,
    heap: usize,
    version: PhantomData<V>,
}

impl<V, M> Clone for Tags<'_, V, M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V, M> Copy for Tags<'_, V, M> {}

/// First and last block: every block of the heap lies in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Address of the first block.
    pub first: usize,
    /// Address of the last block, a dummy that is never free.
    pub last: usize,
}

impl Range {
    /// Whether a block may lie at `address` (the same test as RTEMS's `_Heap_Is_block_in_heap`).
    #[inline(always)]
    pub fn contains(self, address: usize) -> bool {
        address.wrapping_sub(self.first) <= self.last.wrapping_sub(self.first)
    }
}

impl<'m, V: Version, M: Memory> Tags<'m, V, M> {
    /// Reads the heap whose control block is at `heap`.
    #[inline(always)]
    pub fn new(memory: &'m M, heap: usize) -> Self {
        const { assert!(M::WORD == V::LAYOUT.word) };
        Self { memory, heap, version: PhantomData }
    }

    /// A word of the heap control.
    #[inline(always)]
    pub fn control(self, offset: usize) -> usize {
        self.memory.word(V::wrap(self.heap.wrapping_add(offset)))
    }

    /// A 32-bit counter of the heap control.
    #[inline(always)]
    pub fn counter(self, offset: usize) -> u32 {
        self.memory.count(V::wrap(self.heap.wrapping_add(offset)))
    }

    /// First and last block, as they are now: extending the heap moves them.
    #[inline(always)]
    pub fn range(self) -> Range {
        Range { first: self.control(V::LAYOUT.first_block), last: self.control(V::LAYOUT.last_block) }
    }

    /// The address of the list head, which is the control block itself.
    #[inline(always)]
    pub fn list_head(self) -> usize {
        self.heap
    }

    /// `size_and_flag` of a block.
    #[inline(always)]
    pub fn size_and_flag(self, block: usize) -> usize {
        self.memory.word(V::wrap(block.wrapping_add(V::LAYOUT.size)))
    }

    /// Size of a block in bytes.
    #[inline(always)]
    pub fn size(self, block: usize) -> usize {
        self.size_and_flag(block) & !PREVIOUS_USED
    }

    /// Whether the block before this one is used.
    #[inline(always)]
    pub fn previous_used(self, block: usize) -> bool {
        self.size_and_flag(block) & PREVIOUS_USED != 0
    }

    /// Size of the block before this one; only valid while that block is free.
    #[inline(always)]
    pub fn previous_size(self, block: usize) -> usize {
        self.memory.word(block)
    }

    /// The next block of the free list; only valid for a free block and the list head.
    #[inline(always)]
    pub fn next_free(self, block: usize) -> usize {
        self.memory.word(V::wrap(block.wrapping_add(V::LAYOUT.next)))
    }

    /// The previous block of the free list; only valid for a free block and the list head.
    #[inline(always)]
    pub fn previous_free(self, block: usize) -> usize {
        self.memory.word(V::wrap(block.wrapping_add(V::LAYOUT.prev)))
    }

    /// The address `bytes` behind a block.
    #[inline(always)]
    pub fn at(self, block: usize, bytes: usize) -> usize {
        V::wrap(block.wrapping_add(bytes))
    }

    /// Size of the block at `block` if that is a free block, else 0: the test by which `_Heap_Free` coalesces.
    #[inline(always)]
    pub fn free_size_at(self, range: Range, block: usize) -> usize {
        if block == range.last {
            return 0;
        }
        let size = self.size(block);
        let after = self.at(block, size);
        if range.contains(after) && !self.previous_used(after) { size } else { 0 }
    }
}
