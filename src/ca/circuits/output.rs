// SPDX-License-Identifier: BSD-2-Clause
//! What is queued for one client: one buffer of fixed size.
//!
//! Replies are written where they will be sent from, and only once there is room for the whole of them. A reply larger
//! than the buffer waits until it is empty, and has a buffer of its own size for as long as it takes.

use super::super::wire::{Header, padded};
use alloc::vec::Vec;

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum NoRoom {
    /// Not before the client takes what is queued.
    Wait,
    /// The heap has no such block.
    Memory,
}

/// See the module's description.
pub(in super::super) struct Output {
    /// Always filled to its length; what is queued lies in `head..tail`.
    buffer: Vec<u8>,
    head: usize,
    tail: usize,
    /// Length of the buffer but for a larger reply.
    normal: usize,
}

impl Output {
    /// A buffer of `normal` bytes, or nothing if there is no memory.
    pub(super) fn new(normal: usize) -> Option<Self> {
        Some(Output { buffer: zeroed(normal)?, head: 0, tail: 0, normal })
    }

    /// What is to be sent.
    #[inline]
    pub(in super::super) fn unsent(&self) -> &[u8] {
        self.buffer.get(self.head..self.tail).unwrap_or(&[])
    }

    /// Number of bytes queued.
    #[inline]
    pub(in super::super) fn used(&self) -> usize {
        self.tail - self.head
    }

    /// Bytes of heap in use.
    pub(in super::super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Half of it is free: worth going on after a stall.
    pub(in super::super) fn drained(&self) -> bool {
        self.used() <= self.normal / 2
    }

    /// `bytes` have been sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.head = self.tail.min(self.head + bytes);
        if self.head == self.tail {
            self.head = 0;
            self.tail = 0;
            if self.buffer.len() > self.normal {
                self.buffer.truncate(self.normal);
                self.buffer.shrink_to(self.normal);
            }
        }
    }

    /// Forgets what is queued.
    pub(super) fn discard(&mut self) {
        self.sent(self.used());
    }

    /// Makes sure that `bytes` can be appended, moving what is queued to the front if that helps.
    #[inline]
    pub(in super::super) fn has_room(&mut self, bytes: usize) -> bool {
        if self.buffer.len() - self.tail >= bytes {
            return true;
        }
        self.compact(bytes)
    }

    fn compact(&mut self, bytes: usize) -> bool {
        if self.head == 0 || self.buffer.len() - self.used() < bytes {
            return false;
        }
        self.buffer.copy_within(self.head..self.tail, 0);
        self.tail -= self.head;
        self.head = 0;
        true
    }

    /// Makes room for `bytes`, in a larger buffer if they exceed the normal one and `admits` allows it.
    #[inline]
    pub(in super::super) fn make_room(
        &mut self,
        bytes: usize,
        admits: impl FnOnce(usize) -> bool,
    ) -> Result<(), NoRoom> {
        if self.has_room(bytes) {
            return Ok(());
        }
        self.grow(bytes, admits)
    }

    #[cold]
    fn grow(&mut self, bytes: usize, admits: impl FnOnce(usize) -> bool) -> Result<(), NoRoom> {
        if self.used() > 0 {
            return Err(NoRoom::Wait);
        }
        if !admits(bytes) {
            return Err(NoRoom::Memory);
        }
        self.buffer = zeroed(bytes).ok_or(NoRoom::Memory)?;
        Ok(())
    }

    /// Appends `bytes`, for which there must be room, and returns the place to write them to.
    #[inline]
    fn append(&mut self, bytes: usize) -> Option<&mut [u8]> {
        let place = self.buffer.get_mut(self.tail..self.tail + bytes)?;
        self.tail += bytes;
        Some(place)
    }

    /// Queues a message with a payload of `header.payload` bytes rounded up to 8, which the caller fills; all of them,
    /// since the place holds whatever was there before. `None` without room, which `make_room` gives.
    #[inline]
    pub(in super::super) fn message(&mut self, mut header: Header) -> Option<&mut [u8]> {
        let payload = padded(header.payload as usize);
        header.payload = payload as u32;
        let size = header.wire_size();
        let place = self.append(size + payload)?;
        header.emit(place);
        place.get_mut(size..)
    }

    /// Queues a message with a payload of known size, a standard header in front; false without room.
    #[inline]
    pub(in super::super) fn fixed<const N: usize>(&mut self, header: Header, payload: &[u8; N]) -> bool {
        let end = self.tail + Header::STANDARD + N;
        let Some(place) = self.buffer.get_mut(self.tail..end) else { return false };
        let Some((head, body)) = place.split_first_chunk_mut::<{ Header::STANDARD }>() else { return false };
        *head = header.with_payload(N as u32).standard();
        body.copy_from_slice(payload);
        self.tail = end;
        true
    }

    /// The last message is a standard header and a string of `payload` bytes: cuts it to what the string needs.
    pub(in super::super) fn shorten_string(&mut self, payload: usize) {
        let Some(start) = self.tail.checked_sub(payload + Header::STANDARD) else { return };
        let Some(message) = self.buffer.get_mut(start..self.tail) else { return };
        let Some((header, text)) = message.split_at_mut_checked(Header::STANDARD) else { return };
        let length = text.iter().position(|&b| b == 0).unwrap_or(text.len());
        let kept = padded(length + 1).min(payload);
        if let Ok((old, _)) = Header::parse(header, false) {
            old.with_payload(kept as u32).emit(header);
            self.tail = start + Header::STANDARD + kept;
        }
    }

    /// Takes the last `bytes` back, which were a message that came to nothing.
    pub(in super::super) fn take_back(&mut self, bytes: usize) {
        self.tail = self.tail.saturating_sub(bytes).max(self.head);
    }

    /// Queues ready bytes and returns their place; `None` without room.
    #[inline]
    pub(in super::super) fn copy(&mut self, bytes: &[u8]) -> Option<&mut [u8]> {
        let place = self.append(bytes.len())?;
        place.copy_from_slice(bytes);
        Some(place)
    }

    /// Queues a message without payload.
    #[inline]
    pub(in super::super) fn bare(&mut self, header: Header) {
        let _ = self.message(header);
    }
}

/// A vector of so many zeros, if there is memory.
pub(super) fn zeroed(bytes: usize) -> Option<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(bytes).ok()?;
    buffer.resize(bytes, 0);
    Some(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_padded_and_leave_in_order() {
        let mut output = Output::new(64).unwrap();
        output.message(Header::new(1).with_payload(3)).unwrap().copy_from_slice(&[7, 7, 7, 0, 0, 0, 0, 0]);
        output.bare(Header::new(2));
        assert_eq!(output.unsent()[..4], [0, 1, 0, 8]);
        assert_eq!(output.unsent()[16..26], [7, 7, 7, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(output.used(), 40);
    }

    #[test]
    fn room_comes_back_as_bytes_leave() {
        let mut output = Output::new(48).unwrap();
        for n in 0..3 {
            assert!(output.has_room(16));
            output.bare(Header::new(n));
        }
        assert!(!output.has_room(16));
        output.sent(20);
        assert!(output.has_room(16));
        output.bare(Header::new(3));
        assert!(!output.has_room(16));
        assert_eq!(output.used(), 44);
        assert_eq!(output.unsent()[28..30], [0, 3]);
    }

    #[test]
    fn a_large_reply_waits_for_an_empty_buffer_grows_it_and_gives_it_back() {
        let mut output = Output::new(32).unwrap();
        output.bare(Header::new(1));
        assert_eq!(output.make_room(1000, |_| true), Err(NoRoom::Wait));
        output.sent(16);
        assert_eq!(output.make_room(1000, |_| false), Err(NoRoom::Memory));
        assert_eq!(output.make_room(1000, |_| true), Ok(()));
        output.message(Header::new(1).with_payload(984)).unwrap().fill(1);
        assert_eq!(output.used(), 1000);
        output.sent(999);
        output.sent(1);
        assert_eq!((output.used(), output.capacity()), (0, 32));
    }
}
