// SPDX-License-Identifier: BSD-2-Clause
//! What has come from one client and is not yet understood: one buffer of fixed size.
//!
//! It grows for one larger message, whose size the caller has checked against the limit, and shrinks again.

use super::output::zeroed;
use alloc::vec::Vec;

/// See the module's description.
pub(in super::super) struct Input {
    /// Always filled to its length; what has come lies in `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Length of the buffer but for a larger message.
    normal: usize,
    /// A larger message has been read since the buffer was last empty.
    large: bool,
}

impl Input {
    pub(super) fn new(normal: usize) -> Option<Self> {
        Some(Input { buffer: zeroed(normal)?, start: 0, end: 0, normal, large: false })
    }

    /// Bytes of heap in use.
    pub(in super::super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Room for more.
    pub(super) fn free(&mut self) -> &mut [u8] {
        if self.start > 0 && self.end == self.buffer.len() {
            self.compact();
        }
        self.buffer.get_mut(self.end..).unwrap_or(&mut [])
    }

    /// No room for more.
    pub(super) fn is_full(&self) -> bool {
        self.start == 0 && self.end == self.buffer.len()
    }

    /// `bytes` have been written to the front of [`Self::free`].
    pub(super) fn commit(&mut self, bytes: usize) {
        self.end = self.buffer.len().min(self.end + bytes);
    }

    /// What is to be understood.
    #[inline]
    pub(in super::super) fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or(&[])
    }

    /// The first `bytes` of it are done with.
    pub(in super::super) fn consume(&mut self, bytes: usize) {
        self.start = self.end.min(self.start + bytes);
        if self.start != self.end {
            return;
        }
        self.start = 0;
        self.end = 0;
        if self.buffer.len() > self.normal && !core::mem::take(&mut self.large) {
            self.buffer.truncate(self.normal);
            self.buffer.shrink_to(self.normal);
        }
    }

    /// Gives the larger buffer back if nothing is in it.
    pub(super) fn shrink(&mut self) {
        self.large = false;
        self.consume(0);
    }

    /// Part of a message that is larger than the normal buffer lies in it.
    pub(in super::super) fn is_large(&self) -> bool {
        self.buffer.len() > self.normal && self.end > self.start
    }

    /// Makes sure that a message of `bytes` fits, if memory allows; not before as much has come as the buffer holds, so that
    /// a claimed size alone takes no memory.
    pub(in super::super) fn make_room(&mut self, bytes: usize, admits: impl FnOnce(usize) -> bool) -> bool {
        if bytes > self.normal {
            self.large = true;
        }
        if self.start + bytes <= self.buffer.len() {
            return true;
        }
        if self.unread().len() < self.buffer.len() {
            self.compact();
            return true;
        }
        if !admits(bytes) {
            return false;
        }
        let Some(mut larger) = zeroed(bytes) else { return false };
        let unread = self.unread();
        let length = unread.len();
        if let Some(place) = larger.get_mut(..length) {
            place.copy_from_slice(unread);
        }
        self.buffer = larger;
        self.start = 0;
        self.end = length;
        true
    }

    fn compact(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(input: &mut Input, bytes: &[u8]) {
        input.free()[..bytes.len()].copy_from_slice(bytes);
        input.commit(bytes.len());
    }

    #[test]
    fn keeps_what_is_not_understood_and_makes_room_for_the_rest() {
        let mut input = Input::new(8).unwrap();
        put(&mut input, &[1, 2, 3, 4, 5, 6]);
        input.consume(4);
        put(&mut input, &[7, 8]);
        assert_eq!(input.unread(), [5, 6, 7, 8]);
        assert_eq!(input.free().len(), 4);
        assert_eq!(input.unread(), [5, 6, 7, 8]);
        assert!(!input.is_full());
    }

    #[test]
    fn grows_for_a_larger_message_and_shrinks_when_only_smaller_ones_follow() {
        let mut input = Input::new(8).unwrap();
        put(&mut input, &[1; 7]);
        assert!(input.make_room(100, |_| false), "not yet full");
        put(&mut input, &[1; 1]);
        assert!(input.is_full());
        assert!(!input.make_room(100, |_| false));
        assert!(input.make_room(100, |_| true));
        put(&mut input, &[2; 92]);
        assert_eq!(input.unread().len(), 100);
        input.consume(100);
        assert_eq!(input.capacity(), 100);
        put(&mut input, &[1; 8]);
        input.consume(8);
        assert_eq!(input.capacity(), 8);
    }
}
