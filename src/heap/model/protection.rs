// SPDX-License-Identifier: BSD-2-Clause
//! HEAP_PROTECTION (RTEMS_DEBUG): freed blocks are filled with a pattern and queued, and freed later.

use super::Hooks;
use super::edit::Edit;
use crate::heap::layout::Version;
use crate::heap::memory::MemoryMut;

/// Marks a queued block whose turn has come.
const OBOLUS: usize = 1;
/// What a queued block is filled with.
const FREE_PATTERN: usize = 0xe709_3cdf;

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    const PROTECTED: bool = V::LAYOUT.protection != 0;

    // Words of Heap_Protection: block_initialize, block_check, block_error, handler_data come first.
    const FIRST: usize = V::LAYOUT.protection + 4 * V::LAYOUT.word;
    const LAST: usize = V::LAYOUT.protection + 5 * V::LAYOUT.word;
    const COUNT: usize = V::LAYOUT.protection + 6 * V::LAYOUT.word;
    const FRACTION: usize = V::LAYOUT.protection + 7 * V::LAYOUT.word;
    /// `Protection_begin.next_delayed_free_block` of a block: behind prev_size and two protectors.
    const NEXT_DELAYED: usize = 3 * V::LAYOUT.word;

    pub(super) fn initialize_protection(&mut self) {
        if Self::PROTECTED {
            self.set_control(Self::FRACTION, 2);
        }
    }

    /// `_Heap_Protection_block_initialize`: protectors, not queued.
    pub(super) fn protect(&mut self, block: usize) {
        if Self::PROTECTED {
            let word = V::LAYOUT.word;
            for (offset, value) in [(word, 0xfd75_a98f), (2 * word, 0xbfa1_f177), (Self::NEXT_DELAYED, 0)] {
                self.memory.set_word(self.plus(block, offset), value);
            }
            for (offset, value) in [(word, 0xd6b8_855e), (2 * word, 0x13a4_4a5b)] {
                self.memory.set_word(self.plus(block, V::LAYOUT.size + offset), value);
            }
        }
    }

    /// Whether the block is to be freed now; otherwise it has been queued.
    pub(super) fn determine_block_free(&mut self, block: usize) -> bool {
        if !Self::PROTECTED {
            return true;
        }
        match self.memory.word(self.plus(block, Self::NEXT_DELAYED)) {
            0 => {}
            OBOLUS => return true,
            // Freed twice: fatal on RTEMS.
            _ => return false,
        }
        self.memory.set_word(self.plus(block, Self::NEXT_DELAYED), block);
        let count = self.control(Self::COUNT);
        if count > 0 {
            let last = self.control(Self::LAST);
            self.memory.set_word(self.plus(last, Self::NEXT_DELAYED), block);
        } else {
            self.set_control(Self::FIRST, block);
        }
        self.set_control(Self::LAST, block);
        self.set_control(Self::COUNT, count + 1);
        let end = self.plus(block, self.size(block) + V::LAYOUT.word);
        let mut word = self.alloc_area_of_block(block);
        while word != end {
            self.memory.set_word(word, FREE_PATTERN);
            word = self.plus(word, V::LAYOUT.word);
        }
        false
    }

    /// Frees a fraction of the queue; whether there was any, so that a search is worth repeating.
    pub(super) fn free_delayed_blocks(&mut self) -> bool {
        if !Self::PROTECTED {
            return false;
        }
        let count = self.control(Self::COUNT);
        let due = count.div_ceil(self.control(Self::FRACTION).max(1));
        if due == 0 {
            return false;
        }
        let mut block = self.control(Self::FIRST);
        for _ in 0..due {
            let link = self.plus(block, Self::NEXT_DELAYED);
            let next = self.memory.word(link);
            self.memory.set_word(link, OBOLUS);
            self.free_hooked(self.alloc_area_of_block(block));
            block = next;
        }
        self.set_control(Self::COUNT, count - due);
        self.set_control(Self::FIRST, block);
        true
    }

    /// `_Heap_Protection_free_all_delayed_blocks`.
    pub(super) fn free_all_delayed_blocks(&mut self) {
        while self.free_delayed_blocks() {}
    }
}
