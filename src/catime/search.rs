// SPDX-License-Identifier: BSD-2-Clause
//! The pace of the name search: datagrams out, sequence numbers back.
//!
//! As libca has it: a first try 32 ms after the channels were made, one datagram; each time *all* of a try was answered
//! the next one follows at once with twice as many datagrams, up to a threshold that each loss halves. Names without an
//! answer are asked again, with pauses that double.

use super::names::{NameBuffer, Names};
use crate::ca::wire::{Header, MINOR, command, padded};
use alloc::collections::TryReserveError;
use alloc::vec::Vec;

/// Bytes of a search datagram at most.
const DATAGRAM: usize = 1024;
/// Before the first try, and the shortest time that a try waits for its answers, nanoseconds.
const PERIOD_NS: u64 = 32_000_000;
/// The longest pause between two rounds over the names without answer, nanoseconds.
const LONGEST_NS: u64 = 5_000_000_000;
/// Datagrams of one try at most.
const MOST_FRAMES: f64 = 64.0;
/// SEARCH data type: no reply wanted for unknown names.
const DONT_REPLY: u16 = 5;

/// What the search has to know of a channel.
pub(super) trait Sought {
    /// Nobody answered yet.
    fn wanted(&self) -> bool;
    /// Counts one more request.
    fn asked(&mut self);
}

/// State of the search for all channels of a run.
#[derive(Debug)]
pub(super) struct Search {
    datagram: Vec<u8>,
    /// Number of the last datagram.
    sequence: u32,
    /// Number of the first datagram of this try.
    first: u32,
    /// Names asked and answered in this try.
    asked: u32,
    answered: u32,
    /// Datagrams of a try, and from where on they grow slowly.
    frames: f64,
    threshold: f64,
    /// Datagrams that this try may still send.
    left: u32,
    /// Next channel to look at; rounds over all channels so far.
    cursor: u32,
    rounds: u32,
    deadline_ns: u64,
}

impl Search {
    /// The first try is due a little later: names are collected first.
    pub(super) fn new(now_ns: u64) -> Result<Search, TryReserveError> {
        // Not on the stack: a shell of RTEMS has little.
        let mut datagram = Vec::new();
        datagram.try_reserve_exact(DATAGRAM)?;
        datagram.resize(DATAGRAM, 0);
        Ok(Search {
            datagram,
            sequence: 0,
            first: 1,
            asked: 0,
            answered: 0,
            frames: 1.0,
            threshold: f64::INFINITY,
            left: 0,
            cursor: 0,
            rounds: 0,
            deadline_ns: now_ns.saturating_add(PERIOD_NS),
        })
    }

    /// When [`Self::next`] will have something to send if no answer comes before.
    pub(super) fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Every name of the last try was answered: the next try is due at once.
    pub(super) fn complete(&self) -> bool {
        self.asked > 0 && self.answered >= self.asked
    }

    /// An answer came; `sequence` is the number that it quotes, `None` if it quotes none.
    pub(super) fn answer(&mut self, sequence: Option<u32>) {
        // Late answers to an earlier try say nothing about this one.
        if sequence.is_none_or(|sequence| (self.first..=self.sequence).contains(&sequence)) {
            self.answered += 1;
        }
    }

    /// The next datagram to be sent now, if any.
    pub(super) fn next<C: Sought>(
        &mut self,
        channels: &mut [C],
        names: &Names<'_>,
        now_ns: u64,
    ) -> Option<&[u8]> {
        if self.left == 0 {
            if now_ns < self.deadline_ns && !self.complete() {
                return None;
            }
            self.begin(channels.len() as u32, now_ns);
        }
        let end = self.compose(channels, names);
        match end {
            None => {
                self.left = 0;
                None
            }
            Some(end) => {
                self.left -= 1;
                Some(&self.datagram[..end])
            }
        }
    }

    /// Begins a try: how many datagrams follows from how the last one went.
    fn begin(&mut self, channels: u32, now_ns: u64) {
        if self.asked > 0 {
            if self.complete() {
                if self.frames < self.threshold {
                    self.frames = (2.0 * self.frames).min(self.threshold);
                } else {
                    self.frames += 1.0 / self.frames;
                }
                self.frames = self.frames.min(MOST_FRAMES);
            } else {
                self.threshold = (self.frames / 2.0).max(1.0);
                self.frames = 1.0;
            }
        }
        self.first = self.sequence.wrapping_add(1);
        (self.asked, self.answered) = (0, 0);
        self.left = self.frames as u32;
        if self.cursor >= channels {
            self.cursor = 0;
            self.rounds += 1;
        }
        let pause = PERIOD_NS.checked_shl(self.rounds.min(16)).map_or(LONGEST_NS, |ns| ns.min(LONGEST_NS));
        self.deadline_ns = now_ns.saturating_add(pause);
    }

    /// Fills the datagram with names from the cursor on; its length, or `None` if no name is left in this round.
    fn compose<C: Sought>(&mut self, channels: &mut [C], names: &Names<'_>) -> Option<usize> {
        let mut buffer = NameBuffer::default();
        let mut end = Header::STANDARD;
        while let Some(channel) = channels.get_mut(self.cursor as usize) {
            if channel.wanted() {
                let name = names.get(self.cursor, &mut buffer);
                let payload = padded(name.len() + 1);
                let next = end + Header::STANDARD + payload;
                if next > DATAGRAM {
                    break;
                }
                let header = Header::new(command::SEARCH)
                    .typed(DONT_REPLY, u32::from(MINOR))
                    .ids(self.cursor, self.cursor)
                    .with_payload(payload as u32);
                header.emit(&mut self.datagram[end..]);
                let field = &mut self.datagram[end + Header::STANDARD..next];
                field.fill(0);
                field[..name.len()].copy_from_slice(name);
                channel.asked();
                self.asked += 1;
                end = next;
            }
            self.cursor += 1;
        }
        if end == Header::STANDARD {
            return None;
        }
        self.sequence = self.sequence.wrapping_add(1);
        Header::new(command::VERSION)
            .typed(command::SEQUENCE_VALID, u32::from(MINOR))
            .ids(self.sequence, 0)
            .emit(&mut self.datagram);
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[derive(Clone, Default)]
    struct Probe {
        found: bool,
        tries: u32,
    }

    impl Sought for Probe {
        fn wanted(&self) -> bool {
            !self.found
        }
        fn asked(&mut self) {
            self.tries += 1;
        }
    }

    /// Sends what is due and returns the channels asked for, datagram by datagram.
    fn try_once(search: &mut Search, channels: &mut [Probe], now_ns: u64) -> Vec<Vec<u32>> {
        let names = Names::new("abcdefgh", false);
        let mut frames = Vec::new();
        while let Some(datagram) = search.next(channels, &names, now_ns) {
            assert!(datagram.len() <= DATAGRAM);
            let mut rest = &datagram[16..];
            let mut asked = Vec::new();
            while let Ok((header, size)) = Header::parse(rest, false) {
                assert_eq!((header.command, header.data_type, header.count), (6, 5, 13));
                assert_eq!(&rest[size..size + 9], b"abcdefgh\0");
                asked.push(header.p2);
                rest = &rest[size + header.payload as usize..];
            }
            assert!(rest.is_empty());
            frames.push(asked);
        }
        frames
    }

    #[test]
    fn tries_double_while_all_is_answered() {
        let mut channels = vec![Probe::default(); 1000];
        let mut search = Search::new(0).unwrap();
        assert!(try_once(&mut search, &mut channels, PERIOD_NS - 1).is_empty());
        let mut sizes = Vec::new();
        let mut next = 0;
        loop {
            let frames = try_once(&mut search, &mut channels, PERIOD_NS);
            if frames.is_empty() {
                break;
            }
            sizes.push(frames.len());
            for cid in frames.into_iter().flatten() {
                assert_eq!(cid, next);
                next += 1;
                channels[cid as usize].found = true;
                let sequence = search.sequence;
                search.answer(Some(sequence));
            }
        }
        // 31 names of 32 bytes fit into a datagram.
        assert_eq!(sizes, [1, 2, 4, 8, 16, 2]);
        assert!(channels.iter().all(|channel| channel.tries == 1));
    }

    #[test]
    fn what_is_not_answered_is_asked_again_slower() {
        let mut channels = vec![Probe::default(); 3];
        let mut search = Search::new(0).unwrap();
        assert_eq!(try_once(&mut search, &mut channels, PERIOD_NS), [[0, 1, 2]]);
        channels[1].found = true;
        search.answer(Some(1));
        assert!(try_once(&mut search, &mut channels, 2 * PERIOD_NS - 1).is_empty());
        assert_eq!(try_once(&mut search, &mut channels, 2 * PERIOD_NS), [[0, 2]]);
        // An answer to the first try does not count for the second, nor one from nowhere.
        search.answer(Some(1));
        search.answer(Some(99));
        assert_eq!(search.answered, 0);
        search.answer(None);
        assert_eq!(search.answered, 1);
        assert!(try_once(&mut search, &mut channels, 4 * PERIOD_NS - 1).is_empty());
        assert_eq!(try_once(&mut search, &mut channels, 4 * PERIOD_NS), [[0, 2]]);
        assert_eq!(channels[0].tries, 3);
    }
}
