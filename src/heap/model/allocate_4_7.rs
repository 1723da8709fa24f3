// SPDX-License-Identifier: BSD-2-Clause
//! `_Heap_Allocate` and `_Heap_Allocate_aligned` of RTEMS 4.7 to 4.9.
//!
//! Includes the upstream bug that an aligned request of at most 4 bytes may get a block of 8, too small to hold the links
//! of a free block: freeing it overwrites the header of the next one.

use super::Hooks;
use super::edit::Edit;
use crate::heap::layout::Version;
use crate::heap::memory::MemoryMut;
use crate::heap::tags::PREVIOUS_USED;

/// Cost of a used block: its size field (the first word of the next block is borrowed).
const USED_OVERHEAD: usize = 4;

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    pub(super) fn allocate_4_7(&mut self, size: usize, alignment: usize) -> usize {
        let minimum = self.min_block_size();
        let needed = self.align_up(self.plus(size, USED_OVERHEAD), self.page_size()).max(minimum);
        // Not above `size` if and only if it overflowed.
        if needed <= size {
            return 0;
        }
        let mut searches = 0u32;
        let mut block = self.first_free();
        let mut pointer = 0;
        while block != self.heap && pointer == 0 {
            if self.size(block) >= needed {
                if alignment == 0 {
                    self.block_allocate_4_7(block, needed);
                    pointer = self.alloc_area_of_block(block);
                } else {
                    pointer = self.allocate_aligned_4_7(block, size, alignment);
                }
                if pointer != 0 {
                    self.bump(V::LAYOUT.allocs, 1);
                    self.bump(V::LAYOUT.searches, searches as i32 + 1);
                    break;
                }
            }
            searches = searches.wrapping_add(1);
            block = self.tags().next_free(block);
        }
        self.raise(V::LAYOUT.max_search, searches);
        pointer
    }

    /// `_Heap_Block_allocate`: the lower part becomes used. Returns the size taken.
    pub(super) fn block_allocate_4_7(&mut self, block: usize, needed: usize) -> usize {
        let block_size = self.size(block);
        let rest = block_size - needed;
        let taken = if rest >= self.min_block_size() {
            let free = self.plus(block, needed);
            self.list_replace(block, free);
            self.set_size_and_flag(block, needed | PREVIOUS_USED);
            self.set_size_and_flag(free, rest | PREVIOUS_USED);
            self.set_previous_size(self.plus(free, rest), rest);
            needed
        } else {
            self.list_remove(block);
            self.mark_previous_used(self.plus(block, block_size));
            self.bump(V::LAYOUT.free_blocks, -1);
            block_size
        };
        self.count_taken(taken);
        taken
    }

    /// Takes the upper part of `block` so that the address is aligned; 0 if that does not work in this block.
    fn allocate_aligned_4_7(&mut self, block: usize, size: usize, alignment: usize) -> usize {
        let page_size = self.page_size();
        let area = self.alloc_area_of_block(block);
        let block_end = self.plus(block, self.size(block));
        let end_to_user = self.minus(size, USED_OVERHEAD);
        let mut pointer = self.align_down(self.minus(block_end, end_to_user), alignment);
        let mut user = self.align_down(pointer, page_size);
        if user < area {
            return 0;
        }
        if user - area < self.min_block_size() {
            // The block will not be split, so its area begins where it does now.
            user = area;
            if pointer - user >= page_size {
                pointer = self.align_up(user, alignment);
                if self.minus(pointer, user) >= page_size {
                    return 0;
                }
            }
        }
        let needed = self.plus(self.minus(block_end, user), V::LAYOUT.header);
        self.block_allocate_upper(block, needed);
        pointer
    }

    fn block_allocate_upper(&mut self, block: usize, needed: usize) {
        let block_size = self.size(block);
        let rest = self.minus(block_size, needed);
        let (block, taken) = if rest >= self.min_block_size() {
            self.set_size_and_flag(block, rest | PREVIOUS_USED);
            let upper = self.plus(block, rest);
            self.set_previous_size(upper, rest);
            self.set_size_and_flag(upper, needed);
            (upper, needed)
        } else {
            self.list_remove(block);
            self.bump(V::LAYOUT.free_blocks, -1);
            (block, block_size)
        };
        self.mark_previous_used(self.plus(block, taken));
        self.count_taken(taken);
    }

    fn count_taken(&mut self, taken: usize) {
        let layout = &V::LAYOUT;
        self.sub_bytes(layout.free_size, taken);
        let free_size = self.control(layout.free_size);
        if self.control(layout.min_free_size) > free_size {
            self.set_control(layout.min_free_size, free_size);
        }
        self.bump(layout.used_blocks, 1);
    }
}
