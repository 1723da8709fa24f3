// SPDX-License-Identifier: BSD-2-Clause
//! Subscriptions to anything but VAL: few, so a sorted list does.

use super::View;
use crate::value::EventMask;
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug)]
struct Watch {
    index: u32,
    view: View,
    pending: EventMask,
}

/// The views that somebody subscribes to, other than VAL.
#[derive(Debug, Default)]
pub(super) struct FieldWatches {
    /// By index, then view.
    sorted: Vec<Watch>,
    /// How many have something pending.
    pending: usize,
}

impl FieldWatches {
    fn position(&self, index: u32, view: View) -> Result<usize, usize> {
        self.sorted.binary_search_by_key(&(index, view), |w| (w.index, w.view))
    }

    /// Adds one; without memory for it, it hears of nothing.
    pub(super) fn add(&mut self, index: u32, view: View) {
        if let Err(at) = self.position(index, view)
            && self.sorted.try_reserve(1).is_ok()
        {
            self.sorted.insert(at, Watch { index, view, pending: EventMask(0) });
        }
    }

    /// Removes one.
    pub(super) fn remove(&mut self, index: u32, view: View) {
        if let Ok(at) = self.position(index, view) {
            self.pending -= usize::from(self.sorted[at].pending.0 != 0);
            self.sorted.remove(at);
        }
    }

    /// Removes all of a record.
    pub(super) fn remove_all(&mut self, index: u32) {
        self.sorted.retain(|watch| watch.index != index);
        self.pending = self.sorted.iter().filter(|watch| watch.pending.0 != 0).count();
    }

    /// Whether there is any for this record.
    pub(super) fn any(&self, index: u32) -> bool {
        let at = self.sorted.partition_point(|w| w.index < index);
        self.sorted.get(at).is_some_and(|w| w.index == index)
    }

    /// Marks the views of this record that `concerns` picks.
    pub(super) fn post(&mut self, index: u32, mask: EventMask, concerns: impl Fn(View) -> bool) {
        let first = self.sorted.partition_point(|w| w.index < index);
        for watch in self.sorted[first..].iter_mut().take_while(|w| w.index == index) {
            if concerns(watch.view) {
                self.pending += usize::from(watch.pending.0 == 0);
                watch.pending = watch.pending.union(mask);
            }
        }
    }

    /// Takes the next one that has something pending.
    pub(super) fn next(&mut self) -> Option<(u32, View, EventMask)> {
        if self.pending == 0 {
            return None;
        }
        let watch = self.sorted.iter_mut().find(|w| w.pending.0 != 0)?;
        self.pending -= 1;
        Some((watch.index, watch.view, core::mem::take(&mut watch.pending)))
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.sorted.capacity() * size_of::<Watch>()
    }
}
