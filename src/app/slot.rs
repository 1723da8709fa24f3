// SPDX-License-Identifier: BSD-2-Clause
//! The newest value of one process variable on its way from any task to the server: wait-free for the writers.
//!
//! ```text
//!  buffers   [ 0 | 1 | 2 | 3 | 4 | 5 ]     each of `stride` words
//!  free      a bit per buffer that nobody has
//!  latest    the buffer with the newest value, or EMPTY when the server has taken it
//!
//!  writer: take a bit out of `free`, fill that buffer, swap its number into `latest`, give the older one back
//!  server: swap EMPTY into `latest`, read that buffer, give it back
//! ```
//!
//! A buffer has one owner at any time, so a value is never torn, however writers interrupt each other. With as many
//! writers in the middle of a set as there are buffers to spare, the next one is told that the slot is busy; nobody
//! waits. Words are atomic so that this needs no unsafe code; between the swaps plain loads and stores do.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::pv::OutOfMemory;
use crate::value::{Alarm, Severity, Stamp, Status};

/// Buffers of a small value: four tasks may be in the middle of a set at one time, beside the newest and the server's.
const SMALL_BUFFERS: u32 = 6;
/// Buffers of a large array: one task at a time.
const LARGE_BUFFERS: u32 = 3;
/// More words than this are a large array.
const SMALL_WORDS: usize = 16;
/// Words before the value.
const HEADER: usize = 4;
/// No buffer.
const EMPTY: u32 = u32::MAX;
/// In the alarm's word: the stamp is the application's.
const STAMPED: u32 = 1 << 31;

/// Every buffer is in use by a task that is in the middle of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

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
    free: AtomicU32,
    latest: AtomicU32,
    words: Vec<AtomicU32>,
    stride: usize,
    buffers: u32,
}

impl Slot {
    /// For values of up to `words` words.
    pub(super) fn new(words: usize) -> Result<Self, OutOfMemory> {
        let buffers = if words <= SMALL_WORDS { SMALL_BUFFERS } else { LARGE_BUFFERS };
        let stride = words.checked_add(HEADER).ok_or(OutOfMemory)?;
        let count = stride.checked_mul(buffers as usize).ok_or(OutOfMemory)?;
        let mut all = Vec::new();
        all.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        all.resize_with(count, || AtomicU32::new(0));
        Ok(Slot {
            free: AtomicU32::new((1 << buffers) - 1),
            latest: AtomicU32::new(EMPTY),
            words: all,
            stride,
            buffers,
        })
    }

    fn buffer(&self, number: u32) -> &[AtomicU32] {
        let start = number as usize * self.stride;
        self.words.get(start..start + self.stride).unwrap_or(&[])
    }

    /// A buffer that is nobody else's. Each round is lost to at most one other task, and there are not more of those.
    #[inline]
    fn claim(&self) -> Result<u32, Busy> {
        for _ in 0..self.buffers {
            let free = self.free.load(Ordering::Relaxed);
            if free == 0 {
                return Err(Busy);
            }
            let number = free.trailing_zeros();
            if self.free.fetch_and(!(1 << number), Ordering::Acquire) & 1 << number != 0 {
                return Ok(number);
            }
        }
        Err(Busy)
    }

    /// Makes what `fill` writes the newest value.
    #[inline]
    pub(super) fn write(&self, head: &Head, fill: impl FnOnce(&[AtomicU32])) -> Result<(), Busy> {
        let number = self.claim()?;
        if let Some((header, value)) = self.buffer(number).split_first_chunk::<HEADER>() {
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
        let older = self.latest.swap(number, Ordering::AcqRel);
        if older != EMPTY {
            self.free.fetch_or(1 << older, Ordering::Release);
        }
        Ok(())
    }

    /// Hands the newest value to `read` unless it was taken already. One task, the server's, does this.
    pub(super) fn take<R>(&self, read: impl FnOnce(&Head, &[AtomicU32]) -> R) -> Option<R> {
        let number = self.latest.swap(EMPTY, Ordering::AcqRel);
        if number == EMPTY {
            return None;
        }
        let result = self.buffer(number).split_first_chunk::<HEADER>().map(|(header, value)| {
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
        });
        self.free.fetch_or(1 << number, Ordering::Release);
        result
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
    fn a_writer_that_finds_every_buffer_in_use_is_told_so() {
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
        assert_eq!(nested(&slot, SMALL_BUFFERS - 1), Ok(()));
        assert_eq!(nested(&slot, SMALL_BUFFERS), Err(Busy));
        assert_eq!(slot.free.load(Ordering::Relaxed).count_ones(), SMALL_BUFFERS - 1);
        assert!(slot.take(|_, _| ()).is_some());
        assert_eq!(slot.free.load(Ordering::Relaxed).count_ones(), SMALL_BUFFERS);
    }

    #[test]
    fn values_are_never_torn_and_the_last_one_arrives() {
        let slot = Slot::new(8).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers: std::vec::Vec<_> = (1..=3u32)
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
