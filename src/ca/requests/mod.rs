// SPDX-License-Identifier: BSD-2-Clause
//! One turn of a circuit: as many of its requests and owed updates as fit.
//!
//! Principles: a request is executed only when its reply is sure to find room, so no reply is ever lost or queued
//! elsewhere; when there is no room the request stays where it is and the client is not read any further. A bad
//! request is answered with a status and the circuit goes on, as long as the byte stream can still be followed.

mod channel;
mod event;
mod read;
mod session;
mod write;

use super::admission::{Admission, sparing};
use super::channels::Channels;
use super::circuits::{Circuit, Input, Output, Session};
use super::config::Config;
use super::monitors::Monitors;
use super::notes::{Cause, Notes};
use super::provider::{Provider, PvError};
use super::puts::Puts;
use super::search::Gate;
use super::statistics::Statistics;
use super::wire::dbr::Dbr;
use super::wire::{Header, command, padded, status};

/// Room that any small reply needs; made sure of before every request. The longest is an ERROR: two headers and text.
const SMALL_REPLY: usize = 256;
/// Longest text in an ERROR, terminator included.
const MAX_TEXT: usize = SMALL_REPLY - Header::STANDARD - Header::LONG;
/// Since this minor version headers may be extended.
const LONG_HEADERS: u16 = 9;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// Done.
    Next,
    /// No room for its reply: to be done again later, as if it had just come.
    Blocked,
}

/// One request.
#[derive(Clone, Copy)]
struct Request<'m> {
    header: Header,
    /// The header as it came, for quoting.
    raw: &'m [u8],
    payload: &'m [u8],
}

/// What stopped the reading of requests.
enum Stop {
    /// A message has not come whole, a reply found no room, or the turn is over.
    Wait,
    /// The next message fills the input buffer and needs one of so many bytes.
    Large(usize),
    /// The next message is skipped: so many bytes of it.
    Skip(u64),
}

/// Everything that one circuit's turn works with.
pub(super) struct Turn<'a, P, A> {
    pub(super) slot: u16,
    pub(super) session: &'a mut Session,
    pub(super) output: &'a mut Output,
    pub(super) channels: &'a mut Channels,
    pub(super) monitors: &'a mut Monitors,
    pub(super) puts: &'a mut Puts,
    pub(super) provider: &'a mut P,
    pub(super) gate: &'a mut Gate,
    pub(super) config: &'a Config,
    pub(super) statistics: &'a mut Statistics,
    pub(super) notes: &'a mut Notes,
    pub(super) admission: &'a A,
    pub(super) now: u64,
}

impl<P: Provider, A: Admission> Turn<'_, P, A> {
    /// Does what can be done now: notices and ended puts first, then updates and requests in changing order.
    pub(super) fn run(&mut self, input: &mut Input) {
        self.session.has_work = false;
        self.session.blocked = false;
        self.send_notices();
        self.send_ended_puts();
        let updates_first = core::mem::replace(&mut self.session.updates_first, false);
        if updates_first {
            self.send_updates();
        }
        self.read_requests(input);
        if !updates_first {
            self.send_updates();
        }
        // Whoever found no room now is first when there is some.
        self.session.updates_first = !updates_first && self.session.owes_updates();
        if self.session.half_closed
            && !self.session.blocked
            && !self.session.has_work
            && self.session.puts == 0
        {
            self.session.closing = true;
        }
    }

    fn read_requests(&mut self, input: &mut Input) {
        let mut moved = 0;
        loop {
            if self.session.closing {
                return;
            }
            if self.session.skip > 0 {
                let bytes = (input.unread().len() as u64).min(self.session.skip);
                input.consume(bytes as usize);
                self.session.skip -= bytes;
                if self.session.skip > 0 {
                    return;
                }
            }
            let (consumed, stop) = self.requests_in(input.unread(), &mut moved);
            input.consume(consumed);
            match stop {
                Stop::Wait => return,
                Stop::Skip(bytes) => self.session.skip = bytes,
                Stop::Large(bytes) => {
                    if input.make_room(bytes, sparing(self.admission, &self.config.limits)) {
                        return;
                    }
                    self.refuse_message(
                        input.unread(),
                        status::ALLOCMEM,
                        "no memory for a message of this size",
                    );
                    self.session.skip = bytes as u64;
                }
            }
        }
    }

    /// Executes the requests at the start of `bytes`; returns how many bytes they were.
    fn requests_in(&mut self, bytes: &[u8], moved: &mut usize) -> (usize, Stop) {
        let budget = self.config.limits.turn_bytes as usize;
        let queued = self.output.used();
        let mut at = 0;
        let mut count = 0;
        let stop = loop {
            let rest = bytes.get(at..).unwrap_or(&[]);
            let long = self.session.speaks(LONG_HEADERS);
            let Ok((header, size)) = Header::parse(rest, long) else { break Stop::Wait };
            if self.session.closing {
                break Stop::Wait;
            }
            // What has been read and what that has queued; nothing is sent meanwhile.
            if *moved + at + (self.output.used() - queued) >= budget {
                self.session.has_work = true;
                break Stop::Wait;
            }
            if !self.output.has_room(SMALL_REPLY) {
                self.stall();
                break Stop::Wait;
            }
            let raw = rest.get(..size).unwrap_or(&[]);
            if !is_request(header.command) {
                self.damaged(raw, "invalid (damaged?) request code from TCP");
                break Stop::Wait;
            }
            if header.payload % 8 != 0 {
                self.damaged(raw, "CAS: Missaligned protocol rejected");
                break Stop::Wait;
            }
            let whole = size as u64 + u64::from(header.payload);
            if let Some((code, text)) = self.too_large(&header, whole) {
                self.statistics.too_large += 1;
                self.refuse_message(rest, code, text);
                break Stop::Skip(whole);
            }
            let whole = whole as usize;
            let Some(payload) = rest.get(size..whole) else {
                break if bytes.len() < whole { Stop::Large(whole) } else { Stop::Wait };
            };
            if self.execute(&Request { header, raw, payload }) == Flow::Blocked {
                self.stall();
                break Stop::Wait;
            }
            at += whole;
            count += 1;
        };
        *moved += at + (self.output.used() - queued);
        self.statistics.requests += count;
        self.session.requests += count;
        (at, stop)
    }

    /// Why a message is not even received: only a value for one of the client's channels may be larger than the buffer,
    /// and not larger than the value of that channel can be. What a header claims costs nothing until then.
    #[inline]
    fn too_large(&self, header: &Header, whole: u64) -> Option<(u32, &'static str)> {
        let limits = &self.config.limits;
        if whole <= u64::from(limits.buffer_bytes) {
            return None;
        }
        self.too_large_for_buffer(header)
    }

    #[cold]
    fn too_large_for_buffer(&self, header: &Header) -> Option<(u32, &'static str)> {
        if header.payload > self.config.limits.max_array_bytes {
            return Some((status::TOLARGE, "message exceeds the largest array of this server"));
        }
        if ![command::WRITE, command::WRITE_NOTIFY].contains(&header.command) {
            return Some((status::TOLARGE, "message exceeds the buffer of a circuit"));
        }
        let Some(channel) = self.channels.get(header.p1, self.slot) else {
            return Some((status::BADCHID, "no such channel"));
        };
        let Some(dbr) = Dbr::from_code(header.data_type) else {
            return Some((status::BADTYPE, "no such data type"));
        };
        if header.payload as usize > padded(dbr.size(channel.max_count) as usize) {
            return Some((status::BADCOUNT, "more elements than the channel has"));
        }
        None
    }

    #[inline]
    fn execute(&mut self, request: &Request<'_>) -> Flow {
        if request.header.command == command::READ_NOTIFY {
            return self.read_notify(request);
        }
        self.execute_other(request)
    }

    fn execute_other(&mut self, request: &Request<'_>) -> Flow {
        match request.header.command {
            command::WRITE => self.write(request),
            command::WRITE_NOTIFY => self.write_notify(request),
            command::READ => self.read(request),
            command::EVENT_ADD => self.event_add(request),
            command::EVENT_CANCEL => self.event_cancel(request),
            command::CREATE_CHAN => self.create_channel(request),
            command::CLEAR_CHANNEL => self.clear_channel(request),
            command::ECHO | command::READ_SYNC => self.echo(request),
            command::EVENTS_OFF => self.events_off(),
            command::EVENTS_ON => self.events_on(),
            command::VERSION => self.version(request),
            command::SEARCH => self.search(request),
            command::CLIENT_NAME => self.client_name(request),
            _ => self.host_name(request),
        }
    }

    /// A request has to wait for the client.
    #[cold]
    fn stall(&mut self) {
        self.session.blocked = true;
        self.session.stalls += 1;
        self.statistics.stalls += 1;
    }

    /// The byte stream makes no sense any more: says so and ends the circuit.
    #[cold]
    fn damaged(&mut self, raw: &[u8], text: &str) {
        self.statistics.damaged += 1;
        self.error(raw, NO_CHANNEL, status::INTERNAL, text);
        self.session.closing = true;
        let peer = self.session.peer;
        self.notes.say(peer, Cause::Damaged, self.now, format_args!("closed: {text}"));
    }

    /// Refuses a message without having it in memory; `rest` begins with its header.
    #[cold]
    fn refuse_message(&mut self, rest: &[u8], code: u32, text: &str) {
        let Ok((header, size)) = Header::parse(rest, self.session.speaks(LONG_HEADERS)) else { return };
        let cid = self.cid_of(&header);
        self.error(rest.get(..size).unwrap_or(&[]), cid, code, text);
        let peer = self.session.peer;
        self.notes.say(
            peer,
            Cause::Limit,
            self.now,
            format_args!("{} bytes refused: {text}", header.payload),
        );
    }

    /// The client's id of the channel that a request is about.
    fn cid_of(&self, header: &Header) -> u32 {
        match header.command {
            command::EVENT_ADD
            | command::EVENT_CANCEL
            | command::READ
            | command::READ_NOTIFY
            | command::WRITE
            | command::WRITE_NOTIFY => self.channels.get(header.p1, self.slot).map_or(NO_CHANNEL, |c| c.cid),
            command::SEARCH | command::CREATE_CHAN => header.p1,
            _ => NO_CHANNEL,
        }
    }

    /// Answers a request with ERROR: its header quoted, and a text.
    #[cold]
    fn fail(&mut self, request: &Request<'_>, code: u32, text: &str) -> Flow {
        let cid = self.cid_of(&request.header);
        self.error(request.raw, cid, code, text);
        Flow::Next
    }

    /// Queues an ERROR, for which there is room.
    #[cold]
    fn error(&mut self, raw: &[u8], cid: u32, code: u32, text: &str) {
        self.statistics.errors += 1;
        let text = text.as_bytes();
        let text = text.get(..text.len().min(MAX_TEXT - 1)).unwrap_or(&[]);
        let size = raw.len() + text.len() + 1;
        let header = Header::new(command::ERROR).ids(cid, code).with_payload(padded(size) as u32);
        let Some(place) = self.output.message(header) else { return };
        place.fill(0);
        if let Some((quoted, rest)) = place.split_at_mut_checked(raw.len()) {
            quoted.copy_from_slice(raw);
            if let Some(rest) = rest.get_mut(..text.len()) {
                rest.copy_from_slice(text);
            }
        }
    }
}

/// The cid of an ERROR that is about no channel.
const NO_CHANNEL: u32 = u32::MAX;

/// A client may send this command on a circuit.
#[inline]
const fn is_request(code: u16) -> bool {
    const REQUESTS: u32 = 1 << command::VERSION
        | 1 << command::EVENT_ADD
        | 1 << command::EVENT_CANCEL
        | 1 << command::READ
        | 1 << command::WRITE
        | 1 << command::SEARCH
        | 1 << command::EVENTS_OFF
        | 1 << command::EVENTS_ON
        | 1 << command::READ_SYNC
        | 1 << command::CLEAR_CHANNEL
        | 1 << command::READ_NOTIFY
        | 1 << command::CREATE_CHAN
        | 1 << command::WRITE_NOTIFY
        | 1 << command::CLIENT_NAME
        | 1 << command::HOST_NAME
        | 1 << command::ECHO;
    code < 32 && REQUESTS >> code & 1 != 0
}

/// The status of a failed get.
const fn get_status(error: PvError) -> u32 {
    match error {
        PvError::Conversion | PvError::Refused | PvError::Busy => status::GETFAIL,
        PvError::Count => status::BADCOUNT,
        PvError::Access => status::NORDACCESS,
        PvError::Memory => status::ALLOCMEM,
    }
}

/// The status of a failed put.
pub(super) const fn put_status(error: PvError) -> u32 {
    match error {
        PvError::Conversion | PvError::Refused => status::PUTFAIL,
        PvError::Count => status::BADCOUNT,
        PvError::Access => status::NOWTACCESS,
        PvError::Busy => status::PUTCBINPROG,
        PvError::Memory => status::ALLOCMEM,
    }
}

/// The parts of a circuit that a turn borrows separately.
pub(super) fn parts(circuit: &mut Circuit) -> (&mut Input, &mut Output, &mut Session) {
    (&mut circuit.input, &mut circuit.output, &mut circuit.session)
}
