// SPDX-License-Identifier: BSD-2-Clause
//! READ_NOTIFY and READ: the value goes from the provider straight into the output buffer.

use super::super::circuits::{NoRoom, Output};
use super::super::payload::{Extra, encode, send_number};
use super::super::provider::PvId;
use super::super::wire::dbr::{Class, Dbr};
use super::*;
use crate::ca::config::Limits;
use crate::value::{NativeType, Reading, Text};

/// Since this minor version a count of 0 means the current length.
pub(super) const AUTOSIZE: u16 = 13;
/// A type code from here on is no type of any version: the stream is damaged.
const ABSURD_TYPE: u16 = 0x100;

/// More elements are asked for than there can be, and not just a few zeros more. EPICS's own server fills up with zeros
/// without end, so that any scalar makes a reply of many megabytes.
pub(super) fn is_excessive(count: u32, max_count: u32, size: u32, limits: &Limits) -> bool {
    count > max_count && size > limits.buffer_bytes / 2
}

/// Why there is no value to send.
enum Unread {
    /// The output is full for now.
    Wait,
    /// With this status.
    Status(u32),
}

impl From<NoRoom> for Unread {
    fn from(no_room: NoRoom) -> Self {
        match no_room {
            NoRoom::Wait => Unread::Wait,
            NoRoom::Memory => Unread::Status(status::ALLOCMEM),
        }
    }
}

/// What decides how large a reply may be.
struct Room<'a, A> {
    /// The count that 0 stands for, where it is not the current length.
    whole: Option<u32>,
    /// The client knows extended headers.
    long: bool,
    /// As many elements as there can be.
    max_count: u32,
    limits: &'a Limits,
    admission: &'a A,
}

impl<A: Admission> Room<'_, A> {
    /// Queues `reply` with any value. Returns the size of the payload.
    #[inline(never)]
    fn send(
        &self,
        dbr: Dbr,
        reading: &Reading<'_>,
        extra: &Extra,
        mut reply: Header,
        output: &mut Output,
    ) -> Result<u32, Unread> {
        if reply.count == 0 {
            let length = reading.elements.len() as u32;
            // An empty array stays empty whatever the version.
            reply.count = if length == 0 { 0 } else { self.whole.unwrap_or(length) };
        }
        let size = dbr.size(reply.count);
        if size > self.limits.max_array_bytes {
            return Err(Unread::Status(status::TOLARGE));
        }
        if is_excessive(reply.count, self.max_count, size, self.limits) {
            return Err(Unread::Status(status::BADCOUNT));
        }
        reply.payload = padded(size as usize) as u32;
        let header_size = reply.wire_size();
        if header_size == Header::LONG && !self.long {
            return Err(Unread::Status(status::ARRAY_16K_CLIENT));
        }
        let whole = header_size + reply.payload as usize;
        output.make_room(whole, sparing(self.admission, self.limits))?;
        let Some(place) = output.message(reply) else { return Err(Unread::Wait) };
        if encode(dbr, reply.count, reading, extra, place).is_err() {
            output.take_back(whole);
            return Err(Unread::Status(status::GETFAIL));
        }
        Ok(reply.payload)
    }
}

impl<P: Provider, A: Admission> Turn<'_, P, A> {
    #[inline]
    pub(super) fn read_notify(&mut self, request: &Request<'_>) -> Flow {
        let header = &request.header;
        self.statistics.reads += 1;
        let Some(channel) = self.channels.get(header.p1, self.slot) else {
            return self.no_value(request, status::BADCHID);
        };
        let (pv, max_count) = (channel.pv, channel.max_count);
        if !channel.access.read {
            return self.no_value(request, status::NORDACCESS);
        }
        let Some(dbr) = Dbr::from_code(header.data_type) else {
            if header.data_type >= ABSURD_TYPE {
                // As EPICS's own server: without a reply, since nothing says that this was a READ_NOTIFY at all.
                self.statistics.damaged += 1;
                self.session.closing = true;
                return Flow::Next;
            }
            return self.no_value(request, status::BADTYPE);
        };
        if !dbr.is_readable() {
            return self.no_value(request, status::GETFAIL);
        }
        let reply = Header { p1: status::NORMAL, ..*header };
        match self.value(pv, dbr, max_count, reply) {
            Ok(_) => Flow::Next,
            Err(Unread::Wait) => Flow::Blocked,
            Err(Unread::Status(code)) => self.no_value(request, code),
        }
    }

    /// Queues `reply` with the current value. Returns the size of the payload.
    #[inline]
    fn value(&mut self, pv: PvId, dbr: Dbr, max_count: u32, reply: Header) -> Result<u32, Unread> {
        self.provider.refresh(pv);
        let extra = self.extra(pv, dbr);
        let session = &*self.session;
        let (config, admission) = (self.config, self.admission);
        let output = &mut *self.output;
        self.provider
            .read(pv, |reading| {
                if reply.count == 1 && send_number(dbr, reading, reply, output) {
                    return Ok(0);
                }
                let room = Room {
                    // Before V4.13 a count of 0 was the whole of the array.
                    whole: (!session.speaks(AUTOSIZE)).then_some(max_count),
                    long: session.speaks(LONG_HEADERS),
                    max_count,
                    limits: &config.limits,
                    admission,
                };
                room.send(dbr, reading, &extra, reply, output)
            })
            .unwrap_or_else(|error| Err(Unread::Status(get_status(error))))
    }

    /// What two rare types need besides the reading.
    #[inline]
    pub(super) fn extra(&self, pv: PvId, dbr: Dbr) -> Extra {
        match dbr.class {
            Class::StatusAck => Extra::Acknowledgement(self.provider.acknowledgement(pv)),
            Class::ClassName => Extra::ClassName(Text::from(self.provider.class_name(pv))),
            _ => Extra::None,
        }
    }

    /// A reply with a status and zeros: as many as asked for, in case the client uses them all the same.
    #[cold]
    fn no_value(&mut self, request: &Request<'_>, code: u32) -> Flow {
        let mut reply = Header { p1: code, payload: 0, ..request.header };
        // Larger than a reply can be: a status is better than none.
        if matches!(code, status::TOLARGE | status::ARRAY_16K_CLIENT | status::ALLOCMEM) {
            return self.fail(request, code, "the value does not fit into a reply");
        }
        if let Some(dbr) = Dbr::from_code(reply.data_type) {
            let size = dbr.size(reply.count);
            if size > self.config.limits.buffer_bytes / 2 {
                reply.count = 0;
            }
            reply.payload = padded(dbr.size(reply.count) as usize) as u32;
        }
        if !self.output.has_room(reply.wire_size() + reply.payload as usize) {
            return Flow::Blocked;
        }
        self.statistics.errors += 1;
        if let Some(place) = self.output.message(reply) {
            place.fill(0);
        }
        Flow::Next
    }

    /// READ, of clients before V4.1: no status, and a string no longer than it is.
    pub(super) fn read(&mut self, request: &Request<'_>) -> Flow {
        let header = &request.header;
        self.statistics.reads += 1;
        let Some(channel) = self.channels.get(header.p1, self.slot) else {
            return self.fail(request, status::BADCHID, "no such channel");
        };
        let (pv, max_count, cid) = (channel.pv, channel.max_count, channel.cid);
        if !channel.access.read {
            return self.fail(request, status::NORDACCESS, "read access denied");
        }
        let Some(dbr) = Dbr::from_code(header.data_type) else {
            return self.fail(request, status::BADTYPE, "no such data type");
        };
        if !dbr.is_readable() {
            return self.fail(request, status::GETFAIL, "this data type cannot be read");
        }
        match self.value(pv, dbr, max_count, Header { p1: cid, ..*header }) {
            Ok(payload) => {
                if (dbr.class, dbr.native, header.count) == (Class::Plain, NativeType::String, 1) {
                    self.output.shorten_string(payload as usize);
                }
                Flow::Next
            }
            Err(Unread::Wait) => Flow::Blocked,
            Err(Unread::Status(code)) => self.fail(request, code, "the value could not be read"),
        }
    }
}
