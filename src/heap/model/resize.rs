// SPDX-License-Identifier: BSD-2-Clause
//! `_Heap_Resize_block`: grows into, or gives back to, what is free behind the block.

use super::Hooks;
use super::edit::Edit;
use crate::heap::layout::Version;
use crate::heap::memory::MemoryMut;
use crate::heap::tags::PREVIOUS_USED;

/// What became of a request to resize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeStatus {
    /// The block has the new size.
    Successful,
    /// There is not enough room behind it.
    Unsatisfied,
    /// This is no block of the heap.
    Fatal,
}

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    /// 4.10 and later.
    pub(super) fn resize(&mut self, pointer: usize, size: usize) -> ResizeStatus {
        let layout = &V::LAYOUT;
        let block = self.block_of_alloc_area(pointer);
        if !self.range().contains(block) {
            return ResizeStatus::Fatal;
        }
        let mut block_size = self.size(block);
        let next = self.plus(block, block_size);
        let next_size = self.size(next);
        let next_is_free = !self.previous_used(self.plus(next, next_size));
        let mut available = self.plus(self.minus(next, pointer), layout.word);
        if next_is_free {
            block_size = self.plus(block_size, next_size);
            available = self.plus(available, next_size);
        }
        if size > available {
            return ResizeStatus::Unsatisfied;
        }
        if next_is_free {
            self.set_size(block, block_size);
            self.list_remove(next);
            self.mark_previous_used(self.plus(block, block_size));
            self.bump(layout.free_blocks, -1);
            self.sub_bytes(layout.free_size, next_size);
        }
        self.block_allocate(block, pointer, size);
        self.bump(layout.resizes, 1);
        ResizeStatus::Successful
    }

    /// 4.7 to 4.9.
    pub(super) fn resize_4_7(&mut self, pointer: usize, size: usize) -> ResizeStatus {
        let layout = &V::LAYOUT;
        let range = self.range();
        let block = self.block_of_alloc_area(pointer);
        if !range.contains(block) {
            return ResizeStatus::Fatal;
        }
        let flag = self.tags().size_and_flag(block) & PREVIOUS_USED;
        let block_size = self.size(block);
        let next = self.plus(block, block_size);
        if !range.contains(next) || !self.previous_used(next) {
            return ResizeStatus::Fatal;
        }
        let next_size = self.size(next);
        let next_next = self.plus(next, next_size);
        let next_is_used = next == range.last || self.previous_used(next_next);
        let user_size = self.plus(self.minus(next, pointer), layout.word);
        let (page_size, minimum) = (self.page_size(), self.min_block_size());
        if size > user_size {
            let more = self.align_up(size - user_size, page_size).max(minimum);
            if next_is_used || more > next_size || more < size - user_size {
                return ResizeStatus::Unsatisfied;
            }
            let more = self.block_allocate_4_7(next, more);
            self.set_size_and_flag(block, self.plus(block_size, more) | flag);
            self.bump(layout.used_blocks, -1);
        } else {
            let surplus = self.align_down(user_size - size, page_size);
            let new_size = self.minus(block_size, surplus).max(minimum);
            let surplus = block_size.saturating_sub(new_size);
            if surplus > 0 && !next_is_used {
                let new_next = self.plus(block, new_size);
                let new_next_size = self.plus(next_size, surplus);
                self.set_size_and_flag(block, new_size | flag);
                self.set_size_and_flag(new_next, new_next_size | PREVIOUS_USED);
                self.set_previous_size(next_next, new_next_size);
                self.list_replace(next, new_next);
                self.add_bytes(layout.free_size, surplus);
            } else if surplus >= minimum {
                let tail = self.plus(block, new_size);
                self.set_size_and_flag(block, new_size | flag);
                self.set_size_and_flag(tail, surplus | PREVIOUS_USED);
                self.bump(layout.used_blocks, 1);
                self.bump(layout.frees, -1);
                self.free_hooked(self.alloc_area_of_block(tail));
            }
        }
        self.bump(layout.resizes, 1);
        ResizeStatus::Successful
    }
}
