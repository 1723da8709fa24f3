// SPDX-License-Identifier: BSD-2-Clause
//! What one connection did.

use core::fmt;

/// Counters of a connection, each changed where the fact changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
    /// Reads that brought something.
    pub reads: u64,
    /// Sends that took something.
    pub writes: u64,
    /// Sends that took less than was offered.
    pub short_writes: u64,
    /// Times that there was no room to send at all.
    pub stalls: u64,
    /// Times that the stack had no buffers.
    pub no_buffers: u64,
    /// The connection ended with an error (a reset, say) instead of an end of stream.
    pub errors: u32,
}

impl Counters {
    /// Adds another connection's.
    pub fn add(&mut self, other: &Counters) {
        self.received += other.received;
        self.sent += other.sent;
        self.reads += other.reads;
        self.writes += other.writes;
        self.short_writes += other.short_writes;
        self.stalls += other.stalls;
        self.no_buffers += other.no_buffers;
        self.errors += other.errors;
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "received {} in {} reads, sent {} in {} writes ({} short), {} stalls, {} no buffers, {} errors",
            self.received,
            self.reads,
            self.sent,
            self.writes,
            self.short_writes,
            self.stalls,
            self.no_buffers,
            self.errors
        )
    }
}
