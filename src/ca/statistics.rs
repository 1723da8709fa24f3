// SPDX-License-Identifier: BSD-2-Clause
//! Counters of the server, each changed at exactly the place where the fact changes.

/// What the server has done and has at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Circuits now.
    pub circuits: u32,
    /// Channels now.
    pub channels: u32,
    /// Subscriptions now.
    pub monitors: u32,
    /// Put-callbacks in progress now.
    pub puts_in_progress: u32,
    /// Circuits ever accepted.
    pub circuits_accepted: u64,
    /// Circuits refused: limit or memory.
    pub circuits_refused: u64,
    /// Names searched for, UDP and TCP.
    pub searches: u64,
    /// Searches answered with this server's address.
    pub searches_answered: u64,
    /// Searches for names served here, not answered for want of memory or over the rate.
    pub searches_refused: u64,
    /// Datagrams that were not a search.
    pub datagrams_ignored: u64,
    /// Channels refused: limit or memory.
    pub channels_refused: u64,
    /// Subscriptions refused: limit or memory.
    pub monitors_refused: u64,
    /// Requests read from circuits.
    pub requests: u64,
    /// READ and READ_NOTIFY among them.
    pub reads: u64,
    /// WRITE and WRITE_NOTIFY among them.
    pub writes: u64,
    /// Updates sent to subscribers.
    pub updates: u64,
    /// Updates left out because a newer value of the same subscription replaced them.
    pub updates_replaced: u64,
    /// Requests answered with an error.
    pub errors: u64,
    /// Circuits closed because what came was not Channel Access.
    pub damaged: u64,
    /// Messages larger than the limit, skipped.
    pub too_large: u64,
    /// Circuits closed because the client was silent for too long.
    pub idle_closed: u64,
    /// Circuits closed because the client did not read for too long.
    pub stuck_closed: u64,
    /// How often a circuit had to wait because its output buffer was full.
    pub stalls: u64,
    /// Bytes received on circuits.
    pub bytes_received: u64,
    /// Bytes sent on circuits.
    pub bytes_sent: u64,
}
