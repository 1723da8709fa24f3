// SPDX-License-Identifier: BSD-2-Clause
//! What the server knows of one client, buffers apart.

use super::super::peer::Peer;
use super::super::provider::Client;
use super::super::slab::NONE;
use alloc::vec::Vec;

/// See the module's description.
pub(in super::super) struct Session {
    pub(in super::super) peer: Peer,
    /// Minor version that the client speaks; `None` before it said so.
    pub(in super::super) minor: Option<u16>,
    /// 0 to 99, larger is served first.
    pub(in super::super) priority: u8,
    /// The client asked for no updates for now.
    pub(in super::super) events_off: bool,
    /// Nothing more is read; the circuit ends when the output is sent.
    pub(in super::super) closing: bool,
    /// The client has said its last; what it is owed is still sent.
    pub(in super::super) half_closed: bool,
    /// A request waits for room in the output.
    pub(in super::super) blocked: bool,
    /// There is work that does not wait for the client.
    pub(in super::super) has_work: bool,
    /// A large update found no memory; tried again at the next sweep.
    pub(in super::super) starved: bool,
    /// Whose turn is first: owed updates or requests.
    pub(in super::super) updates_first: bool,
    /// In the queue of circuits to be served.
    pub(super) ready: bool,
    pub(super) next_ready: u16,
    /// User and host name as the client claims them.
    pub(in super::super) user: Vec<u8>,
    pub(in super::super) host: Vec<u8>,
    /// Its channels: first of the list, and number.
    pub(in super::super) first_channel: u32,
    pub(in super::super) channels: u32,
    /// Number of its subscriptions.
    pub(in super::super) monitors: u32,
    /// Its subscriptions that are owed an update.
    pub(in super::super) pending_first: u32,
    pub(in super::super) pending_last: u32,
    pub(in super::super) pending: u32,
    /// Channels with a notice to be sent.
    pub(in super::super) notices: u32,
    /// Put-callbacks in progress, and those that have ended and wait for room.
    pub(in super::super) puts: u16,
    pub(in super::super) puts_ended: u16,
    /// Bytes still to come of a message that was too large.
    pub(in super::super) skip: u64,
    /// When the client was last heard, and when it last took something while something was queued.
    pub(in super::super) heard_ms: u64,
    pub(in super::super) progress_ms: u64,
    pub(in super::super) opened_ms: u64,
    pub(in super::super) bytes_received: u64,
    pub(in super::super) bytes_sent: u64,
    pub(in super::super) stalls: u64,
    pub(in super::super) requests: u64,
}

impl Default for Session {
    fn default() -> Self {
        Session {
            peer: Peer::default(),
            minor: None,
            priority: 0,
            events_off: false,
            closing: false,
            half_closed: false,
            blocked: false,
            has_work: false,
            starved: false,
            updates_first: false,
            ready: false,
            next_ready: u16::MAX,
            user: Vec::new(),
            host: Vec::new(),
            first_channel: NONE,
            channels: 0,
            monitors: 0,
            pending_first: NONE,
            pending_last: NONE,
            pending: 0,
            notices: 0,
            puts: 0,
            puts_ended: 0,
            skip: 0,
            heard_ms: 0,
            progress_ms: 0,
            opened_ms: 0,
            bytes_received: 0,
            bytes_sent: 0,
            stalls: 0,
            requests: 0,
        }
    }
}

impl Session {
    /// The client as the provider sees it.
    pub(in super::super) fn client(&self) -> Client<'_> {
        Client {
            address: self.peer.address,
            port: self.peer.port,
            user: &self.user,
            host: &self.host,
            logged: false,
        }
    }

    /// The client speaks at least this minor version. One that has not said so gets the benefit of the doubt.
    #[inline]
    pub(in super::super) fn speaks(&self, minor: u16) -> bool {
        self.minor.is_none_or(|m| m >= minor)
    }

    /// In the queue of circuits to be served.
    #[inline]
    pub(in super::super) fn is_ready(&self) -> bool {
        self.ready
    }

    /// Updates may be sent and some are owed.
    pub(in super::super) fn owes_updates(&self) -> bool {
        self.pending > 0 && !self.events_off && !self.starved
    }
}
