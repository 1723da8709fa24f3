// SPDX-License-Identifier: BSD-2-Clause
//! The newest value of one process variable on its way from any task to the server: wait-free for the writers.
//!
//! ```text
//!  seats     [ a | b | c | d ]     who is in the middle of a set has one, and the buffer that belongs to it
//!  latest    the buffer with the newest value; FETCHED is set in it when the server has that already
//!  server    the buffer that the server has
//!
//!  writer: take a seat, fill its buffer, swap it for the one in `latest`, leave the seat
//!  server: swap its buffer, marked FETCHED, for the one in `latest`, and read that
//! ```
//!
//! There are as many buffers as seats, latest and server together, and each has one owner at any time: a value is never
//! torn, however writers interrupt each other. When every seat is taken the next writer is told that the slot is busy;
//! nobody waits. Words are atomic so that this needs no unsafe code; between the swaps plain loads and stores do.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

use super::seats::{Busy, Seat, Seats};
use crate::pv::OutOfMemory;
use crate::value::{Alarm, Severity, Stamp, Status};

/// Tasks that may be in the middle of a set of a small value at one time.
const SMALL_SEATS: usize = 4;
/// The same for a large array.
const LARGE_SEATS: usize = 1;
/// Buffers beside those of the seats: the newest value's and the server's.
const SPARE: usize = 2;
/// More words than this are a large array.
const SMALL_WORDS: usize = 16;
/// Words before the value.
const HEADER: usize = 4;
/// In `latest`: the server has that value.
const FETCHED: u32 = 1 << 31;
/// In the alarm's word: the stamp is the application's.
const STAMPED: u32 = 1 << 31;

/// What comes along with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Raised by the application; the record may raise a worse one.
    pub(super) alarm: Alarm,
    /// When it was so; `None` is the time at which the server takes it.
    pub(super) stamp: Option<Stamp>,
    /// Elements, or bytes of a text.
    pub(super) length: u32,
}

/// See the module's description.
#[derive(Debug)]
pub(super) struct Slot {
    seats: Seats<SMALL_SEATS>,
    latest: AtomicU32,
    /// Used by the server alone.
    server: AtomicU32,
    words: Vec<AtomicU32>,
    stride: usize,
}

impl Slot {
    /// For values of up to `words` words.
    pub(super) fn new(words: usize) -> Result<Self, OutOfMemory> {
        let seats = if words <= SMALL_WORDS { SMALL_SEATS } else { LARGE_SEATS };
        let stride = words.checked_add(HEADER).ok_or(OutOfMemory)?;
        let count = stride.checked_mul(seats + SPARE).ok_or(OutOfMemory)?;
        let mut all = Vec::new();
        all.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        all.resize_with(count, || AtomicU32::new(0));
        Ok(Slot {
            seats: Seats::new(seats),
            latest: AtomicU32::new(seats as u32 | FETCHED),
            server: AtomicU32::new(seats as u32 + 1),
            words: all,
            stride,
        })
    }

    fn buffer(&self, number: u32) -> &[AtomicU32] {
        let start = number as usize * self.stride;
        self.words.get(start..start + self.stride).unwrap_or(&[])
    }

    /// Makes what `fill` writes the newest value.
    #[inline]
    pub(super) fn write(&self, head: &Head, fill: impl FnOnce(&[AtomicU32])) -> Result<(), Busy> {
        let seat = self.seats.take()?;
        if let Some((header, value)) = self.buffer(seat.buffer()).split_first_chunk::<HEADER>() {
            let [alarm, seconds, nanoseconds, length] = header;
            let stamped = if head.stamp.is_some() { STAMPED } else { 0 };
            let stamp = head.stamp.unwrap_or(Stamp::UNSET);
            let code = (head.alarm.status as u32) << 8 | head.alarm.severity as u32;
            alarm.store(code | stamped, Ordering::Relaxed);
            seconds.store(stamp.seconds, Ordering::Relaxed);
            nanoseconds.store(stamp.nanoseconds, Ordering::Relaxed);
            length.store(head.length, Ordering::Relaxed);
            fill(value);
        }
        self.publish(seat);
        Ok(())
    }

    /// The seat's buffer becomes the newest value, and the one that was is the seat's.
    #[inline]
    fn publish(&self, seat: Seat<'_, SMALL_SEATS>) {
        let older = self.latest.swap(seat.buffer(), Ordering::AcqRel);
        seat.leave(older & !FETCHED);
    }

    /// The buffer with the newest value becomes the server's, unless it was there already.
    fn fetch(&self) -> Option<u32> {
        // Only the server sets the mark, so that a value without it is still without it at the swap.
        if self.latest.load(Ordering::Relaxed) & FETCHED != 0 {
            return None;
        }
        let number = self.latest.swap(self.server.load(Ordering::Relaxed) | FETCHED, Ordering::AcqRel);
        self.server.store(number, Ordering::Relaxed);
        Some(number)
    }

    /// Hands the newest value to `read` unless it was taken already. One task, the server's, does this.
    pub(super) fn take<R>(&self, read: impl FnOnce(&Head, &[AtomicU32]) -> R) -> Option<R> {
        let number = self.fetch()?;
        self.buffer(number).split_first_chunk::<HEADER>().map(|(header, value)| {
            let [alarm, seconds, nanoseconds, length] = header.each_ref().map(|w| w.load(Ordering::Relaxed));
            let head = Head {
                alarm: Alarm {
                    status: Status::from_code((alarm >> 8 & 0xff) as u16),
                    severity: Severity::from_code((alarm & 0xff) as u16),
                },
                stamp: (alarm & STAMPED != 0).then_some(Stamp { seconds, nanoseconds }),
                length,
            };
            read(&head, value)
        })
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<AtomicU32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    const HEAD: Head = Head { alarm: Alarm::NONE, stamp: None, length: 1 };

    #[test]
    fn the_newest_value_is_taken_once_with_all_that_came_along() {
        let slot = Slot::new(2).unwrap();
        assert_eq!(slot.take(|_, _| ()), None);
        let alarm = Alarm { status: Status::Comm, severity: Severity::Invalid };
        let head = Head { alarm, stamp: Some(Stamp { seconds: 7, nanoseconds: 8 }), length: 9 };
        for value in 0..100 {
            slot.write(&head, |words| words[0].store(value, Ordering::Relaxed)).unwrap();
        }
        let taken = slot.take(|head, words| (*head, words[0].load(Ordering::Relaxed)));
        assert_eq!(taken, Some((head, 99)));
        assert_eq!(slot.take(|_, _| ()), None);
    }

    #[test]
    fn a_writer_that_finds_every_seat_taken_is_told_so() {
        let slot = Slot::new(1).unwrap();
        fn nested(slot: &Slot, depth: u32) -> Result<(), Busy> {
            let mut result = Ok(());
            slot.write(&HEAD, |_| {
                if depth > 0 {
                    result = nested(slot, depth - 1);
                }
            })?;
            result
        }
        // Tasks that interrupt each other in the middle of a set; the outermost ends last, and its value counts.
        let most = SMALL_SEATS as u32;
        for _ in 0..3 {
            assert_eq!(nested(&slot, most - 1), Ok(()));
            assert_eq!(nested(&slot, most), Err(Busy));
            assert!(slot.take(|_, _| ()).is_some());
            assert!(slot.take(|_, _| ()).is_none());
        }
    }

    #[test]
    fn values_are_never_torn_and_the_last_one_arrives() {
        let slot = Slot::new(8).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers: std::vec::Vec<_> = (1..=SMALL_SEATS as u32)
                .map(|writer| {
                    let slot = &slot;
                    scope.spawn(move || {
                        for value in 0..20_000u32 {
                            let value = value << 4 | writer;
                            slot.write(&Head { length: value, ..HEAD }, |words| {
                                words.iter().for_each(|w| w.store(value, Ordering::Relaxed));
                            })
                            .unwrap();
                        }
                    })
                })
                .collect();
            let reader = scope.spawn(|| {
                let mut last = 0;
                loop {
                    let ended = done.load(Ordering::Acquire);
                    let taken = slot.take(|head, words| {
                        assert!(words.iter().all(|w| w.load(Ordering::Relaxed) == head.length), "torn");
                        head.length
                    });
                    match taken {
                        Some(value) => last = value,
                        None if ended => return last,
                        None => std::thread::yield_now(),
                    }
                }
            });
            writers.into_iter().for_each(|w| w.join().unwrap());
            done.store(true, Ordering::Release);
            assert_eq!(reader.join().unwrap() >> 4, 19_999);
        });
    }
}
