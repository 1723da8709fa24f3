// SPDX-License-Identifier: BSD-2-Clause
//! `_Heap_Extend`: makes the new area look like a used block and frees it.
//!
//! From 4.11 on areas need not be contiguous; the gap is covered by a used block. An area that exactly fills the hole
//! between two others is joined to both, which corrupts the heap: an upstream bug that is kept here.

use super::Hooks;
use super::edit::Edit;
use crate::heap::layout::{Family, Version};
use crate::heap::memory::MemoryMut;
use crate::heap::tags::PREVIOUS_USED;

impl<V: Version, M: MemoryMut, H: Hooks<M>> Edit<'_, V, M, H> {
    /// Up to 4.10.
    pub(super) fn extend_contiguous(&mut self, begin: usize, bytes: usize) -> usize {
        let layout = &V::LAYOUT;
        if begin != self.control(layout.area_end) {
            return 0;
        }
        let range = self.range();
        let end = self.plus(begin, bytes);
        self.set_control(layout.area_end, end);
        let room = self.minus(self.minus(end, range.last), layout.header);
        let size = self.align_down(room, self.page_size());
        if size < self.min_block_size() {
            return 0;
        }
        let last = self.plus(range.last, size);
        self.set_size(range.last, size);
        let last_size = match layout.family {
            Family::V4_7 => 0,
            Family::V4_10 | Family::V4_11 => self.minus(range.first, last),
        };
        self.set_size_and_flag(last, last_size | PREVIOUS_USED);
        self.set_control(layout.last_block, last);
        self.add_bytes(layout.stats_size, if matches!(layout.family, Family::V4_7) { bytes } else { size });
        self.bump(layout.used_blocks, 1);
        self.bump(layout.frees, -1);
        self.free_hooked(self.alloc_area_of_block(range.last));
        size
    }

    /// 4.11 and later.
    pub(super) fn extend(&mut self, begin: usize, bytes: usize) -> usize {
        let layout = &V::LAYOUT;
        let (page_size, minimum) = (self.page_size(), self.min_block_size());
        let end = self.plus(begin, bytes);
        let Some((new_first, new_last)) = self.first_and_last(begin, bytes, page_size, minimum) else {
            return 0;
        };
        let free_size = self.control(layout.free_size);
        let first = self.range().first;
        let (mut merge_below, mut merge_above, mut link_below, mut link_above) = (None, None, None, None);
        let mut start = first;
        loop {
            let area_begin = if start == first { self.control(layout.area_begin) } else { start };
            let area_end = self.tags().previous_size(start);
            let end_block = self.block_of_alloc_area(area_end);
            if area_end > begin && end > area_begin {
                return 0;
            }
            if end == area_begin {
                merge_below = Some(start);
            } else if end < area_end {
                link_below = Some(start);
            }
            if area_end == begin {
                self.set_previous_size(start, end);
                merge_above = Some(end_block);
            } else if area_end < begin {
                link_above = Some(end_block);
            }
            start = self.plus(end_block, self.size(end_block));
            if start == first {
                break;
            }
        }
        if begin < self.control(layout.area_begin) {
            self.set_control(layout.area_begin, begin);
        } else if self.control(layout.area_end) < end {
            self.set_control(layout.area_end, end);
        }
        let new_size = self.minus(new_last, new_first);
        self.set_previous_size(new_first, end);
        self.set_size_and_flag(new_first, new_size | PREVIOUS_USED);
        self.protect(new_first);
        self.set_previous_size(new_last, new_size);
        self.set_size_and_flag(new_last, 0);
        self.protect(new_last);
        let range = self.range();
        if new_first < range.first {
            self.set_control(layout.first_block, new_first);
        } else if new_last > range.last {
            self.set_control(layout.last_block, new_last);
        }
        match (merge_below, link_below) {
            (Some(block), _) => self.merge_below(begin, block),
            (None, Some(block)) => {
                self.set_size_and_flag(new_last, self.minus(block, new_last) | PREVIOUS_USED)
            }
            (None, None) => {}
        }
        match (merge_above, link_above) {
            (Some(block), _) => self.merge_above(block, end),
            (None, Some(block)) => {
                self.set_size(block, self.minus(new_first, block));
                self.mark_previous_used(new_last);
            }
            (None, None) => {}
        }
        if merge_below.is_none() && merge_above.is_none() {
            self.free_area(new_first);
        }
        let range = self.range();
        self.set_size(range.last, self.minus(range.first, range.last));
        let extended = self.minus(self.control(layout.free_size), free_size);
        self.add_bytes(layout.stats_size, extended);
        extended
    }

    /// The new area ends where the area of `first` begins.
    fn merge_below(&mut self, begin: usize, first: usize) {
        let header = V::LAYOUT.header;
        let new_first = self.minus(self.align_up(self.plus(begin, header), self.page_size()), header);
        self.set_previous_size(new_first, self.tags().previous_size(first));
        self.set_size_and_flag(new_first, self.minus(first, new_first) | PREVIOUS_USED);
        self.free_area(new_first);
    }

    /// The new area begins where the area whose end block is `last` ends.
    fn merge_above(&mut self, last: usize, end: usize) {
        let room = self.minus(self.minus(end, last), V::LAYOUT.header);
        let size = self.align_down(room, self.page_size());
        let new_last = self.plus(last, size);
        let rest = self.minus(self.tags().size_and_flag(last), size) | PREVIOUS_USED;
        self.set_size_and_flag(new_last, rest);
        self.set_size(last, size);
        self.free_area(last);
    }

    /// `_Heap_Free_block`: frees it and moves it to the tail, so that earlier areas are used first.
    fn free_area(&mut self, block: usize) {
        self.bump(V::LAYOUT.used_blocks, 1);
        self.bump(V::LAYOUT.frees, -1);
        self.free_hooked(self.alloc_area_of_block(block));
        self.free_all_delayed_blocks();
        let first = self.first_free();
        self.list_remove(first);
        let tail = self.tags().previous_free(self.heap);
        self.list_insert_after(tail, first);
    }
}
