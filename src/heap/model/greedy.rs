// SPDX-License-Identifier: BSD-2-Clause
//! `_Heap_Greedy_allocate`: for tests that want an exhausted heap. Takes blocks without the entry points.

use super::Hooks;
use super::edit::Edit;
use crate::heap::layout::Version;
use crate::heap::memory::MemoryMut;

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    pub(super) fn greedy_allocate(&mut self, sizes: &[usize]) -> usize {
        self.free_all_delayed_blocks();
        let mut kept = 0;
        for size in sizes {
            let pointer = self.allocate_hooked(*size, 0, 0);
            if pointer != 0 {
                let block = self.block_of_alloc_area(pointer);
                self.set_next(block, kept);
                kept = block;
            }
        }
        let mut taken = 0;
        loop {
            let block = self.first_free();
            if block == self.heap {
                break;
            }
            let size = self.size(block) - V::LAYOUT.header;
            self.block_allocate(block, self.alloc_area_of_block(block), size);
            self.set_next(block, taken);
            taken = block;
        }
        self.greedy_free(kept);
        taken
    }

    /// Frees a list of blocks linked through their `next`.
    pub(super) fn greedy_free(&mut self, mut blocks: usize) {
        while blocks != 0 {
            let block = blocks;
            blocks = self.tags().next_free(block);
            self.free_hooked(self.alloc_area_of_block(block));
        }
    }
}
