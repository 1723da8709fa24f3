// SPDX-License-Identifier: BSD-2-Clause
//! `_Heap_Allocate_aligned_with_boundary` and `_Heap_Block_allocate`: first fit over the whole list (4.10 and later).

use super::Hooks;
use super::edit::Edit;
use crate::heap::layout::{Family, Version};
use crate::heap::memory::MemoryMut;
use crate::heap::tags::PREVIOUS_USED;

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    /// The wrapped entry point.
    pub(super) fn allocate_hooked(&mut self, size: usize, alignment: usize, boundary: usize) -> usize {
        let pointer = match V::LAYOUT.family {
            Family::V4_7 => self.allocate_4_7(size, alignment),
            Family::V4_10 | Family::V4_11 => self.allocate(size, alignment, boundary),
        };
        self.hooks.allocated(self.memory, self.heap, pointer);
        pointer
    }

    fn allocate(&mut self, size: usize, alignment: usize, boundary: usize) -> usize {
        let layout = &V::LAYOUT;
        let floor = self.plus(size, layout.overhead());
        if floor < size || boundary != 0 && boundary < size {
            return 0;
        }
        let alignment = if boundary != 0 && alignment == 0 { self.page_size() } else { alignment };
        let mut searches = 0u32;
        let (block, pointer) = loop {
            let found = self.search(floor, size, alignment, boundary, &mut searches);
            if found.1 != 0 || !self.free_delayed_blocks() {
                break found;
            }
        };
        if pointer != 0 {
            self.bump(layout.searches, searches as i32);
            let block = self.block_allocate(block, pointer, size);
            if Self::LATER {
                self.bump(layout.allocs, 1);
                self.add_lifetime(layout.lifetime_allocated, self.size(block));
            }
        } else if Self::LATER {
            self.bump(layout.failed_allocs, 1);
        }
        self.raise(layout.max_search, searches);
        pointer
    }

    /// The first block of the list that will do, and the address in it; address 0 if there is none.
    #[inline(always)]
    fn search(
        &self,
        floor: usize,
        size: usize,
        alignment: usize,
        boundary: usize,
        searches: &mut u32,
    ) -> (usize, usize) {
        let tags = self.tags();
        let mut block = tags.next_free(self.heap);
        while block != self.heap {
            *searches = searches.wrapping_add(1);
            // The flag is always set in a free block, so "greater" means "greater or equal".
            if tags.size_and_flag(block) > floor {
                let pointer = if alignment == 0 {
                    self.alloc_area_of_block(block)
                } else {
                    self.check_block(block, size, alignment, boundary)
                };
                if pointer != 0 {
                    return (block, pointer);
                }
            }
            block = tags.next_free(block);
        }
        (block, 0)
    }

    /// Where an aligned request fits into a free block, as near to its end as possible; 0 if nowhere.
    fn check_block(&self, block: usize, size: usize, alignment: usize, boundary: usize) -> usize {
        let (page_size, minimum) = (self.page_size(), self.min_block_size());
        let block_end = self.plus(block, self.size(block));
        let floor = self.alloc_area_of_block(block);
        let ceiling = self.plus(self.minus(block_end, minimum), V::LAYOUT.header + page_size - 1);
        let mut end = self.plus(block_end, V::LAYOUT.word);
        let mut begin = self.align_down(self.minus(end, size), alignment);
        if begin > ceiling {
            begin = self.align_down(ceiling, alignment);
        }
        end = self.plus(begin, size);
        if boundary != 0 {
            let boundary_floor = self.plus(floor, size);
            let mut line = self.align_down(end, boundary);
            while begin < line && line < end {
                if line < boundary_floor {
                    return 0;
                }
                begin = self.align_down(self.minus(line, size), alignment);
                end = self.plus(begin, size);
                line = self.align_down(end, boundary);
            }
        }
        if begin >= floor {
            let free_size = self.minus(self.block_of_alloc_area(begin), block);
            if free_size >= minimum || free_size == 0 {
                return begin;
            }
        }
        0
    }

    /// `_Heap_Block_allocate`: makes the part of `block` at `pointer` used; `block` is free, or used when resizing.
    pub(super) fn block_allocate(&mut self, block: usize, pointer: usize, size: usize) -> usize {
        let layout = &V::LAYOUT;
        let offset = self.minus(pointer, self.alloc_area_of_block(block));
        let block_size = self.size(block);
        let next = self.plus(block, block_size);
        let anchor = if self.previous_used(next) {
            self.heap
        } else {
            let anchor = self.tags().previous_free(block);
            self.list_remove(block);
            self.bump(layout.free_blocks, -1);
            self.bump(layout.used_blocks, 1);
            self.sub_bytes(layout.free_size, block_size);
            anchor
        };
        let block = if offset < self.page_size() {
            self.block_split(block, next, anchor, self.plus(size, offset));
            block
        } else {
            self.allocate_from_end(block, next, anchor, pointer, size)
        };
        let free_size = self.control(layout.free_size);
        if self.control(layout.min_free_size) > free_size {
            self.set_control(layout.min_free_size, free_size);
        }
        self.protect(block);
        block
    }

    fn allocate_from_end(
        &mut self,
        block: usize,
        next: usize,
        anchor: usize,
        pointer: usize,
        size: usize,
    ) -> usize {
        let layout = &V::LAYOUT;
        let new = self.block_of_alloc_area(pointer);
        let new_size = self.minus(next, new);
        let mut left = self.minus(new, block);
        self.add_bytes(layout.free_size, left);
        let (block, anchor) = if self.previous_used(block) {
            self.list_insert_after(anchor, block);
            self.bump(layout.free_blocks, 1);
            (block, block)
        } else {
            let previous = self.minus(block, self.tags().previous_size(block));
            left = self.plus(left, self.size(previous));
            (previous, anchor)
        };
        self.set_size_and_flag(block, left | PREVIOUS_USED);
        self.set_previous_size(new, left);
        self.set_size_and_flag(new, new_size);
        self.block_split(new, next, anchor, size);
        new
    }

    /// `_Heap_Block_split`: what `block` does not need becomes a free block, merged with a free next one.
    fn block_split(&mut self, block: usize, mut next: usize, anchor: usize, size: usize) {
        let layout = &V::LAYOUT;
        let minimum = self.min_block_size();
        let block_size = self.size(block);
        let used_size = self.plus(size.max(minimum - layout.header), layout.header);
        let used_block_size = self.align_up(used_size, self.page_size());
        let free_size = self.minus(self.plus(block_size, layout.word), used_size);
        if free_size < minimum + layout.word {
            self.mark_previous_used(next);
            return;
        }
        let free = self.plus(block, used_block_size);
        let mut free_block_size = self.minus(block_size, used_block_size);
        let next_size = self.size(next);
        self.set_size(block, used_block_size);
        self.add_bytes(layout.free_size, free_block_size);
        if self.previous_used(self.plus(next, next_size)) {
            self.list_insert_after(anchor, free);
            self.bump(layout.free_blocks, 1);
        } else {
            self.list_replace(next, free);
            free_block_size = self.plus(free_block_size, next_size);
            next = self.plus(free, free_block_size);
        }
        self.set_size_and_flag(free, free_block_size | PREVIOUS_USED);
        self.mark_previous_free(next, free_block_size);
        self.protect(free);
    }
}
