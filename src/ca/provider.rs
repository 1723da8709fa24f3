// SPDX-License-Identifier: BSD-2-Clause
//! What the protocol asks of whoever has the process variables.
//!
//! The server is generic over this trait, so that a read is a direct call and a test brings its own values.

use crate::value::{EventMask, NativeType, Reading, WireElements};

/// A process variable as a channel sees it: a dense index (below [`Provider::capacity`]) and which view of it
/// (0 is the value; others are fields or the long-string form, as the provider likes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PvId {
    /// Dense index of the process variable.
    pub index: u32,
    /// Which view of it.
    pub view: u8,
}

/// What CREATE_CHAN answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelInfo {
    /// Native type of this view.
    pub native: NativeType,
    /// Maximum number of elements.
    pub max_count: u32,
}

/// What a client may do with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// May read and subscribe.
    pub read: bool,
    /// May write.
    pub write: bool,
    /// Puts are to be logged: handed on in [`Client::logged`].
    pub logged: bool,
}

impl Access {
    /// Everything, and nothing logged.
    pub const FULL: Access = Access { read: true, write: true, logged: false };
}

/// Who is at the other end of a circuit.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// IPv4 address of the peer, host order.
    pub address: u32,
    /// TCP port of the peer.
    pub port: u16,
    /// User name as the client claims it; empty if it never did.
    pub user: &'a [u8],
    /// Host name as the client claims it; empty if it never did.
    pub host: &'a [u8],
    /// This client's puts to the channel in question are to be logged.
    pub logged: bool,
}

/// How a put went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// Done, processing included.
    Done,
    /// Accepted; [`Provider::next_completion`] will name this token when processing has ended.
    Later(u32),
}

/// Why a get or put failed; the server turns it into the ECA status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PvError {
    /// No such conversion, or the text does not parse (ECA_GETFAIL, ECA_PUTFAIL).
    Conversion,
    /// More elements than the PV has (ECA_BADCOUNT).
    Count,
    /// Not writable (ECA_NOWTACCESS) or not readable (ECA_NORDACCESS).
    Access,
    /// The application refused (ECA_PUTFAIL).
    Refused,
    /// A put-callback is still in progress (ECA_PUTCBINPROG).
    Busy,
    /// No memory for it (ECA_ALLOCMEM).
    Memory,
}

/// A change to be sent to subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which process variable, which view.
    pub pv: PvId,
    /// What kind of change.
    pub mask: EventMask,
}

/// Something else than a value has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Access rights may have changed: the server asks again for every channel.
    Access,
    /// The process variable of this index is gone: the channels of all its views are closed (SERVER_DISCONN). Once the
    /// server has taken the notice it does not ask for that index any more, so that it may be used again.
    Removed(u32),
}

/// What DBR_PUT_ACKT and DBR_PUT_ACKS set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// Whether alarms that have gone must still be acknowledged (ACKT).
    Transient(bool),
    /// Acknowledges alarms up to this severity (ACKS).
    Severity(u16),
}

/// State of alarm acknowledgement, for DBR_STSACK_STRING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Alarms that have gone must still be acknowledged (ACKT).
    pub transient: bool,
    /// Highest severity not yet acknowledged (ACKS).
    pub severity: u16,
}

/// Whoever has the process variables.
pub trait Provider {
    /// Upper bound of the indices handed out so far.
    fn capacity(&self) -> u32;

    /// Looks a channel name up; constant time. The name has no terminator and may be anything.
    fn find(&self, name: &[u8]) -> Option<PvId>;

    /// Type and size of a view.
    fn info(&self, pv: PvId) -> ChannelInfo;

    /// Name of the record type, for DBR_CLASS_NAME.
    fn class_name(&self, pv: PvId) -> &str;

    /// What this client may do.
    fn access(&self, pv: PvId, client: &Client<'_>) -> Access;

    /// A client asks for this value: what was set before has to be in it. Subscribers, who are told of each change, are
    /// not asked for again.
    #[inline]
    fn refresh(&mut self, _pv: PvId) {}

    /// Hands the current reading to `visit`; computed values are computed now.
    fn read<R>(&mut self, pv: PvId, visit: impl FnOnce(&Reading<'_>) -> R) -> Result<R, PvError>;

    /// Writes. Subscribers hear of it through [`Provider::next_change`]. The count has been checked against the bytes
    /// and cut to the maximum of the view; 0 empties an array and leaves a scalar alone. `completion` is set when
    /// the client waits for the end of processing: only then may the answer be [`PutOutcome::Later`].
    fn put(
        &mut self,
        pv: PvId,
        put: &WireElements<'_>,
        client: &Client<'_>,
        completion: bool,
    ) -> Result<PutOutcome, PvError>;

    /// A client tried to write what it may not: for a log. `put` is what it would have written, where that is a value whose
    /// count bears out.
    fn denied(&mut self, _pv: PvId, _put: Option<&WireElements<'_>>, _client: &Client<'_>) {}

    /// The next change that subscribers have not heard of.
    fn next_change(&mut self) -> Option<Change>;

    /// The next put that was answered with [`PutOutcome::Later`] and has ended: token and result.
    fn next_completion(&mut self) -> Option<(u32, Result<(), PvError>)>;

    /// The first subscription to this view of a PV came (true) or the last one went (false): periodic values need
    /// sampling only while somebody listens.
    fn watched(&mut self, pv: PvId, watched: bool);

    /// Acknowledges an alarm. A provider without acknowledgement refuses.
    fn acknowledge(&mut self, _pv: PvId, _what: Acknowledge, _client: &Client<'_>) -> Result<(), PvError> {
        Err(PvError::Refused)
    }

    /// State of acknowledgement; EPICS's initial state unless the provider knows better.
    fn acknowledgement(&self, _pv: PvId) -> Acknowledgement {
        Acknowledgement { transient: true, severity: 0 }
    }

    /// The next change of another kind that the server has not heard of.
    fn next_notice(&mut self) -> Option<Notice> {
        None
    }

    /// Writes the name of a process variable for a report; its index if the provider keeps no names.
    fn write_name(&self, pv: PvId, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
        write!(out, "#{}", pv.index)
    }
}
