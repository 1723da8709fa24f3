// SPDX-License-Identifier: BSD-2-Clause
//! `_Heap_Initialize`: one free block between the area's begin and the dummy last block.

use super::Hooks;
use super::edit::Edit;
use crate::heap::layout::{Family, Version};
use crate::heap::memory::MemoryMut;
use crate::heap::tags::PREVIOUS_USED;

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    /// First and last block of an area, if it is big enough.
    pub(super) fn first_and_last(
        &self,
        begin: usize,
        bytes: usize,
        page_size: usize,
        minimum: usize,
    ) -> Option<(usize, usize)> {
        let header = V::LAYOUT.header;
        let first = self.minus(self.align_up(self.plus(begin, header), page_size), header);
        let overhead = header + self.minus(first, begin);
        if self.plus(begin, bytes) < begin || bytes <= overhead {
            return None;
        }
        let size = self.align_down(bytes - overhead, page_size);
        (size >= minimum).then(|| (first, self.plus(first, size)))
    }

    pub(super) fn initialize(&mut self, begin: usize, bytes: usize, page_size: usize) -> usize {
        let layout = &V::LAYOUT;
        let page_size = page_size.max(4);
        let minimum = self.align_up(layout.block_bytes, page_size);
        let Some((first, last)) = self.first_and_last(begin, bytes, page_size, minimum) else { return 0 };
        let size = self.minus(last, first);
        for offset in (0..layout.control_bytes).step_by(4) {
            self.set_counter(offset, 0);
        }
        let end = self.plus(begin, bytes);
        // From 4.11 on the first block of an area holds the area's end: the list of areas.
        self.set_previous_size(first, if Self::LATER { end } else { page_size });
        self.set_size_and_flag(first, size | PREVIOUS_USED);
        self.set_next(first, self.heap);
        self.set_prev(first, self.heap);
        self.set_next(self.heap, first);
        self.set_prev(self.heap, first);
        self.protect(first);

        self.set_control(layout.page_size, page_size);
        self.set_control(layout.min_block_size, minimum);
        self.set_control(layout.area_begin, begin);
        self.set_control(layout.area_end, end);
        self.set_control(layout.first_block, first);
        self.set_control(layout.last_block, last);

        self.set_previous_size(last, size);
        let last_size = match layout.family {
            Family::V4_7 => page_size,
            Family::V4_10 | Family::V4_11 => self.minus(first, last),
        };
        self.set_size_and_flag(last, last_size);
        self.protect(last);

        self.set_control(layout.stats_size, if matches!(layout.family, Family::V4_7) { bytes } else { size });
        self.set_control(layout.free_size, size);
        self.set_control(layout.min_free_size, size);
        self.set_counter(layout.free_blocks, 1);
        self.set_counter(layout.max_free_blocks, 1);
        self.initialize_protection();
        size
    }
}
