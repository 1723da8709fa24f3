// SPDX-License-Identifier: BSD-2-Clause
//! Who is in the middle of a set: seats, each with a buffer that belongs to whoever sits there. Wait-free.
//!
//! A writer tries the seats in their order, each once, by setting its bit; the order is what makes this enough, for any
//! number of processors. With as many seats as writers one of them is always found:
//!
//! Call a writer *beyond j* when it has seat j or a later one, or has found all seats before j taken. There are never
//! more than n - j writers beyond j, with seats and writers counted 0 to n - 1 and n. For j = 0 that is all of them. A
//! writer comes beyond j + 1 only by finding seat j taken; whoever sits there then is beyond j and not beyond j + 1, so
//! that of the n - j at most n - j - 1 are. Without such a step their number only shrinks. Hence at most one writer is
//! beyond the last seat's number n - 1, and finds that seat free.
//!
//! The tests below go through every state that this can come into.

use core::sync::atomic::{AtomicU32, Ordering};

/// Every seat is taken: as many tasks as there are seats are in the middle of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// See the module's description.
#[derive(Debug)]
pub(super) struct Seats<const MOST: usize> {
    /// A bit per seat that is taken.
    taken: AtomicU32,
    /// The buffer of each seat, used by whoever sits there.
    buffers: [AtomicU32; MOST],
    count: u32,
}

/// A seat that is taken.
#[derive(Debug)]
pub(super) struct Seat<'a, const MOST: usize> {
    seats: &'a Seats<MOST>,
    number: u32,
    buffer: u32,
}

impl<const MOST: usize> Seats<MOST> {
    /// So many seats (at most `MOST`) with the buffers of the same numbers.
    pub(super) fn new(count: usize) -> Self {
        Seats {
            taken: AtomicU32::new(0),
            buffers: core::array::from_fn(|number| AtomicU32::new(number as u32)),
            count: count.min(MOST) as u32,
        }
    }

    /// A seat that is nobody else's.
    #[inline]
    pub(super) fn take(&self) -> Result<Seat<'_, MOST>, Busy> {
        (0..self.count).find_map(|number| self.try_seat(number)).ok_or(Busy)
    }

    /// This seat unless it is taken.
    #[inline]
    fn try_seat(&self, number: u32) -> Option<Seat<'_, MOST>> {
        let buffer = self.buffers.get(number as usize)?;
        let free = self.taken.fetch_or(1 << number, Ordering::Acquire) & 1 << number == 0;
        free.then(|| Seat { seats: self, number, buffer: buffer.load(Ordering::Relaxed) })
    }
}

impl<const MOST: usize> Seat<'_, MOST> {
    /// The buffer that belongs to it.
    #[inline]
    pub(super) fn buffer(&self) -> u32 {
        self.buffer
    }

    /// Leaves it with another buffer.
    #[inline]
    pub(super) fn leave(self, buffer: u32) {
        if let Some(place) = self.seats.buffers.get(self.number as usize) {
            place.store(buffer, Ordering::Relaxed);
        }
        self.seats.taken.fetch_and(!(1 << self.number), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashSet, VecDeque};
    use std::vec::Vec;

    const SEATS: usize = 4;

    /// A writer, before its next step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Writer {
        /// About to try this seat; the first one is also where it rests between two sets.
        Tries(u32),
        /// Has this seat, before the swap.
        Sits(u32),
        Refused,
    }

    /// Each step is one operation on `taken`, on which alone a seat depends: all orders of them are all there is.
    fn step(state: &[Writer], who: usize) -> Vec<Writer> {
        let seats = Seats::<SEATS>::new(SEATS);
        let mut held: Vec<_> = (0..SEATS).map(|_| None).collect();
        for writer in state {
            if let Writer::Sits(number) = *writer {
                let seat = seats.try_seat(number).expect("two writers in one seat");
                held[number as usize] = Some(seat);
            }
        }
        let mut next = state.to_vec();
        next[who] = match state[who] {
            Writer::Tries(number) => match seats.try_seat(number) {
                Some(seat) => Writer::Sits(seat.number),
                None if number + 1 < SEATS as u32 => Writer::Tries(number + 1),
                None => Writer::Refused,
            },
            Writer::Sits(number) => {
                held[number as usize].take().unwrap().leave(9);
                Writer::Tries(0)
            }
            Writer::Refused => Writer::Tries(0),
        };
        next
    }

    /// All states that so many writers can come into, from rest, in any order of their steps and for any number of sets.
    fn reachable(writers: usize) -> HashSet<Vec<Writer>> {
        let rest = std::vec![Writer::Tries(0); writers];
        let (mut seen, mut to_do) = (HashSet::from([rest.clone()]), VecDeque::from([rest]));
        while let Some(state) = to_do.pop_front() {
            for who in 0..writers {
                let next = step(&state, who);
                if seen.insert(next.clone()) {
                    to_do.push_back(next);
                }
            }
        }
        seen
    }

    #[test]
    fn as_many_writers_as_seats_are_never_refused_in_any_order_of_steps() {
        for writers in 1..=SEATS {
            let states = reachable(writers);
            let refused = states.iter().find(|state| state.contains(&Writer::Refused));
            assert_eq!(refused, None, "{writers} writers");
            // All seats were in use at one time: the states are not just those of one writer after the other.
            let full = |state: &&Vec<Writer>| state.iter().all(|w| matches!(w, Writer::Sits(_)));
            assert!(states.iter().find(full).is_some(), "{writers} writers");
        }
        // One more than that, and there is somebody to refuse.
        assert!(reachable(SEATS + 1).iter().any(|state| state.contains(&Writer::Refused)));
    }
}
