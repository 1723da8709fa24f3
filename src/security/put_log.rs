// SPDX-License-Identifier: BSD-2-Clause
//! A log of puts: who, from where, what, from which value to which, and how it went.
//!
//! A ring of fixed size that the shell shows, and lines of `log` in the order of events. A client that writes without end
//! fills the ring, but not the console: so many lines a second and one about those that were left out.

use crate::value::{Stamp, Text};
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// Lines of `log` per second.
const LINES_PER_SECOND: u32 = 10;
/// Bytes kept of a name, of a user and of a host.
const NAME: usize = 68;
const WHO: usize = 24;

/// How a put went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The record has the value.
    Done,
    /// The rules do not let this client write.
    Denied,
    /// The value does not convert, or the application refused it.
    Failed,
    /// It has not ended; the number names it.
    Pending(u32),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Done => "done",
            Outcome::Denied => "denied",
            Outcome::Failed => "failed",
            Outcome::Pending(_) => "in progress",
        })
    }
}

/// Text cut to what there is room for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cut<const N: usize> {
    bytes: [u8; N],
    length: u8,
}

impl<const N: usize> Cut<N> {
    fn new(text: &[u8]) -> Self {
        let mut cut = Cut { bytes: [0; N], length: 0 };
        cut.push(text);
        cut
    }

    fn push(&mut self, text: &[u8]) {
        let start = usize::from(self.length);
        let kept = text.len().min(N - start);
        self.bytes[start..start + kept].copy_from_slice(&text[..kept]);
        self.length += kept as u8;
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl<const N: usize> fmt::Write for Cut<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// One put.
#[derive(Clone, Copy)]
pub struct Put {
    /// When it came; unset while the clock is.
    pub stamp: Stamp,
    name: Cut<NAME>,
    user: Cut<WHO>,
    host: Cut<WHO>,
    /// IPv4 address and port that it came from.
    pub from: (u32, u16),
    /// The value before, as text; of an array the first element.
    pub old: Text,
    /// The value that was put, as text.
    pub new: Text,
    /// How it went.
    pub outcome: Outcome,
}

impl Put {
    /// A put whose name is written by `name`.
    pub fn new(
        stamp: Stamp,
        who: &super::Subject<'_>,
        port: u16,
        name: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
    ) -> Put {
        let mut written = Cut::new(&[]);
        // What does not fit is cut.
        let _ = name(&mut written);
        Put {
            stamp,
            name: written,
            user: Cut::new(who.user),
            host: Cut::new(who.host),
            from: (who.address, port),
            old: Text::EMPTY,
            new: Text::EMPTY,
            outcome: Outcome::Denied,
        }
    }
}

impl fmt::Display for Put {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.from.0.to_be_bytes();
        write!(
            f,
            "{} by {}@{} ({a}.{b}.{c}.{d}:{}): \"{}\" -> \"{}\", {}",
            self.name.as_bytes().escape_ascii(),
            self.user.as_bytes().escape_ascii(),
            self.host.as_bytes().escape_ascii(),
            self.from.1,
            self.old.as_bytes().escape_ascii(),
            self.new.as_bytes().escape_ascii(),
            self.outcome
        )
    }
}

/// See the module's description.
#[derive(Default)]
pub struct PutLog {
    ring: Vec<Put>,
    /// Where the next one goes when the ring is full.
    next: usize,
    /// All that ever came.
    total: u64,
    /// The second on the event loop's clock, which runs whether the time of day is known or not; how many lines were
    /// written in it, and how many were left out.
    second: u64,
    lines: u32,
    left_out: u32,
}

impl PutLog {
    /// A ring of so many puts; of fewer when there is no memory for them.
    pub fn with_capacity(puts: usize) -> Self {
        let mut log = PutLog::default();
        // Without memory the lines of `log` are all there is.
        let _ = log.ring.try_reserve_exact(puts);
        log
    }

    /// A turn begins, at this time of the event loop's clock in milliseconds.
    pub fn begin_turn(&mut self, now_ms: u64) {
        let second = now_ms / 1000;
        if second != self.second {
            if self.left_out > 0 {
                log::info!("put: {} more were not shown here", self.left_out);
            }
            (self.second, self.lines, self.left_out) = (second, 0, 0);
        }
    }

    /// Adds a put.
    pub fn add(&mut self, put: Put) {
        self.total += 1;
        self.say(&put);
        if self.ring.len() < self.ring.capacity() {
            self.ring.push(put);
        } else if let Some(place) = self.ring.get_mut(self.next) {
            *place = put;
            self.next = (self.next + 1) % self.ring.len();
        }
    }

    /// A put that was in progress has ended.
    pub fn ended(&mut self, token: u32, succeeded: bool) {
        let pending = Outcome::Pending(token);
        let Some(at) = self.ring.iter().rposition(|put| put.outcome == pending) else { return };
        let put = {
            let put = &mut self.ring[at];
            put.outcome = if succeeded { Outcome::Done } else { Outcome::Failed };
            *put
        };
        self.say(&put);
    }

    fn say(&mut self, put: &Put) {
        if self.lines < LINES_PER_SECOND {
            self.lines += 1;
            log::info!("put: {put}");
        } else {
            self.left_out += 1;
        }
    }

    /// Those in the ring, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Put> {
        let (newer, older) = self.ring.split_at(self.next.min(self.ring.len()));
        older.iter().chain(newer)
    }

    /// Writes the ring and how many there were in all.
    pub fn report(&self, out: &mut dyn Write) -> fmt::Result {
        for put in self.iter() {
            match put.stamp {
                Stamp::UNSET => out.write_str("(clock not set) ")?,
                stamp => write!(out, "{} ", crate::value::Utc(stamp))?,
            }
            writeln!(out, "{put}")?;
        }
        writeln!(out, "{} of {} puts shown", self.ring.len(), self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Subject;
    use super::*;
    use std::string::{String, ToString};

    fn put(number: u32, outcome: Outcome) -> Put {
        let who = Subject { user: b"ann", host: b"console1", address: 0x0a00_0007 };
        let mut put =
            Put::new(Stamp { seconds: number, nanoseconds: 0 }, &who, 4000, |out| write!(out, "x:{number}"));
        (put.old, put.new, put.outcome) = (Text::from("1"), Text::from("2"), outcome);
        put
    }

    #[test]
    fn the_ring_keeps_the_newest() {
        let mut log = PutLog::with_capacity(3);
        for number in 0..5 {
            log.add(put(number, Outcome::Done));
        }
        let seconds: std::vec::Vec<u32> = log.iter().map(|p| p.stamp.seconds).collect();
        assert_eq!(seconds, [2, 3, 4]);
        let mut text = String::new();
        log.report(&mut text).unwrap();
        assert!(text.ends_with("3 of 5 puts shown\n"), "{text}");
    }

    #[test]
    fn a_put_says_who_where_what_and_how() {
        assert_eq!(
            put(7, Outcome::Denied).to_string(),
            "x:7 by ann@console1 (10.0.0.7:4000): \"1\" -> \"2\", denied"
        );
    }

    #[test]
    fn a_pending_put_ends() {
        let mut log = PutLog::with_capacity(3);
        log.add(put(1, Outcome::Pending(9)));
        log.add(put(2, Outcome::Done));
        log.ended(9, false);
        log.ended(10, true);
        let outcomes: std::vec::Vec<Outcome> = log.iter().map(|p| p.outcome).collect();
        assert_eq!(outcomes, [Outcome::Failed, Outcome::Done]);
    }

    #[test]
    fn a_flood_does_not_fill_the_console() {
        let mut log = PutLog::with_capacity(1);
        // The clock is not set: the stamps stand still, and the limit is a second's all the same.
        for second in 0..3 {
            log.begin_turn(1000 * second + 7);
            for _ in 0..100 {
                log.add(put(0, Outcome::Done));
            }
            log.begin_turn(1000 * second + 999);
            assert_eq!((log.lines, log.left_out), (LINES_PER_SECOND, 90));
        }
        log.begin_turn(3000);
        assert_eq!((log.lines, log.left_out), (0, 0));
    }
}
