// SPDX-License-Identifier: BSD-2-Clause
//! `_Heap_Free`: merges with the free neighbours; the same in every version but for the statistics.

use super::Hooks;
use super::edit::Edit;
use crate::heap::layout::{Family, Version};
use crate::heap::memory::MemoryMut;
use crate::heap::tags::PREVIOUS_USED;
use crate::heap::tracker::FreeNote;

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    /// The wrapped entry point: also what the heap's own functions call.
    pub(super) fn free_hooked(&mut self, pointer: usize) -> bool {
        let mut note = FreeNote::default();
        self.hooks.before_free(self.memory, self.heap, pointer, &mut note);
        let freed = self.free(pointer);
        self.hooks.after_free(self.memory, self.heap, &note, freed);
        freed
    }

    fn free(&mut self, pointer: usize) -> bool {
        if pointer == 0 {
            return Self::LATER;
        }
        let layout = &V::LAYOUT;
        let range = self.range();
        if matches!(layout.family, Family::V4_7) && !range.contains(pointer) {
            return false;
        }
        let block = self.block_of_alloc_area(pointer);
        if !range.contains(block) {
            return false;
        }
        let block_size = self.size(block);
        let mut next = self.plus(block, block_size);
        if !range.contains(next) || !self.previous_used(next) {
            return false;
        }
        if !self.determine_block_free(block) {
            return true;
        }
        let next_size = self.size(next);
        let next_is_free = next != range.last && !self.previous_used(self.plus(next, next_size));
        if !self.previous_used(block) {
            let previous_size = self.tags().previous_size(block);
            let previous = self.minus(block, previous_size);
            if !range.contains(previous) || !self.previous_used(previous) {
                return false;
            }
            let mut size = self.plus(block_size, previous_size);
            if next_is_free {
                size = self.plus(size, next_size);
                self.list_remove(next);
                self.bump(layout.free_blocks, -1);
                self.set_size_and_flag(previous, size | PREVIOUS_USED);
                next = self.plus(previous, size);
                self.set_previous_size(next, size);
            } else {
                self.set_size_and_flag(previous, size | PREVIOUS_USED);
                self.mark_previous_free(next, size);
            }
        } else if next_is_free {
            let size = self.plus(block_size, next_size);
            self.list_replace(next, block);
            self.set_size_and_flag(block, size | PREVIOUS_USED);
            next = self.plus(block, size);
            self.set_previous_size(next, size);
        } else {
            self.list_insert_after(self.heap, block);
            self.set_size_and_flag(block, block_size | PREVIOUS_USED);
            self.mark_previous_free(next, block_size);
            self.bump(layout.free_blocks, 1);
            let free_blocks = self.tags().counter(layout.free_blocks);
            self.raise(layout.max_free_blocks, free_blocks);
        }
        self.bump(layout.used_blocks, -1);
        self.bump(layout.frees, 1);
        self.add_bytes(layout.free_size, block_size);
        if Self::LATER {
            self.add_lifetime(layout.lifetime_freed, block_size);
        }
        true
    }
}
