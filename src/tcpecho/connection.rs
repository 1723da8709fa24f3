// SPDX-License-Identifier: BSD-2-Clause
//! One client: its buffer, its counters and what to do next. Knows no task and no clock.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Counters, Kind};
use crate::os::Interest;
use crate::os::socket::{Shutdown, SocketError, Stream};

/// How long to leave a stack alone that has no buffers.
const NO_BUFFERS_PAUSE_MS: u64 = 10;

/// A client may move so many bytes before the next one has its turn.
const TURN_BYTES: usize = 256 << 10;

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing more can be done until the socket is ready.
    Waiting,
    /// There is more to do, but others have their turn first.
    More,
    /// The stack has no buffers: nothing to do before this time, in milliseconds.
    Paused(u64),
    /// It is over.
    Ended,
}

/// A client.
pub struct Connection<T> {
    kind: Kind,
    stream: T,
    buffer: Box<[u8]>,
    /// Bytes in the buffer that are still to be sent: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// The last read left most of the buffer empty: the next one would block (poll says if that has changed).
    drained: bool,
    /// So says a read that leaves most of the buffer empty. After a larger one more is likely to have come meanwhile, and
    /// to look costs less than to ask the poller.
    short_is_all: bool,
    /// The peer will send no more.
    end_of_stream: bool,
    /// The next word of the source.
    word: u32,
    counters: Counters,
}

impl<T: Stream> Connection<T> {
    /// A new client with a buffer of that many bytes; `None` if there is no memory for it.
    pub fn new(kind: Kind, stream: T, buffer_bytes: usize) -> Option<Self> {
        let mut buffer = Vec::new();
        // Whole words, for the source.
        let bytes = buffer_bytes.max(4) & !3;
        buffer.try_reserve_exact(bytes).ok()?;
        buffer.resize(bytes, 0);
        let counters = Counters::default();
        Some(Connection {
            kind,
            stream,
            buffer: buffer.into_boxed_slice(),
            start: 0,
            end: 0,
            drained: false,
            short_is_all: true,
            end_of_stream: false,
            word: 0,
            counters,
        })
    }

    /// For a poller that does not tell of a state: a short read does not mean that there is nothing more to be told.
    pub fn receiving_until_blocked(mut self) -> Self {
        self.short_is_all = false;
        self
    }

    /// What it does.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What it has done.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Its socket.
    pub fn descriptor(&self) -> i32 {
        self.stream.descriptor()
    }

    /// What to wait for after [`Progress::Waiting`].
    pub fn interest(&self) -> Interest {
        if self.kind == Kind::Source || self.start < self.end { Interest::WRITE } else { Interest::READ }
    }

    /// Ends both ways at once; the peer sees the end.
    pub fn shut(&mut self) {
        self.stream.shutdown(Shutdown::Both);
    }

    /// Receives and sends until the socket would block, the turn is over or the connection is.
    pub fn turn(&mut self, now: u64) -> Progress {
        let mut moved = 0;
        loop {
            if moved >= TURN_BYTES {
                return Progress::More;
            }
            let step = if self.start < self.end {
                self.send()
            } else if self.kind == Kind::Source {
                self.fill();
                continue;
            } else if self.end_of_stream {
                self.stream.shutdown(Shutdown::Write);
                return Progress::Ended;
            } else if core::mem::take(&mut self.drained) {
                return Progress::Waiting;
            } else {
                self.receive()
            };
            match step {
                Ok(bytes) => moved += bytes,
                Err(SocketError::Interrupted) => {}
                Err(SocketError::WouldBlock) => return Progress::Waiting,
                Err(SocketError::NoBuffers) => {
                    self.counters.no_buffers += 1;
                    return Progress::Paused(now + NO_BUFFERS_PAUSE_MS);
                }
                Err(_) => {
                    self.counters.errors += 1;
                    return Progress::Ended;
                }
            }
        }
    }

    fn receive(&mut self) -> Result<usize, SocketError> {
        let received = self.stream.recv(&mut self.buffer)?;
        if received == 0 {
            self.end_of_stream = true;
            return Ok(0);
        }
        self.drained = self.short_is_all && received < self.buffer.len() / 2;
        self.counters.reads += 1;
        self.counters.received += received as u64;
        if self.kind == Kind::Echo {
            (self.start, self.end) = (0, received);
        }
        Ok(received)
    }

    fn send(&mut self) -> Result<usize, SocketError> {
        let offered = self.end - self.start;
        let sent = match self.stream.send(&self.buffer[self.start..self.end]) {
            Err(SocketError::WouldBlock) => {
                self.counters.stalls += 1;
                return Err(SocketError::WouldBlock);
            }
            other => other?,
        };
        self.counters.writes += 1;
        self.counters.sent += sent as u64;
        self.counters.short_writes += u64::from(sent < offered);
        self.start += sent;
        Ok(sent)
    }

    /// The next buffer of the source.
    fn fill(&mut self) {
        for place in self.buffer.chunks_exact_mut(4) {
            place.copy_from_slice(&self.word.to_be_bytes());
            self.word = self.word.wrapping_add(1);
        }
        (self.start, self.end) = (0, self.buffer.len());
    }
}

#[cfg(test)]
mod tests;
