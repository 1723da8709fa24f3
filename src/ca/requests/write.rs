// SPDX-License-Identifier: BSD-2-Clause
//! WRITE and WRITE_NOTIFY. A count is believed only as far as the payload bears it out.

use super::super::channels::{Channel, Channels};
use super::super::provider::{Acknowledge, Client, PutOutcome, PvId};
use super::super::puts::Put;
use super::super::wire::dbr::{Class, Dbr};
use super::*;
use crate::value::{NativeType, WireElements};

/// A put whose size has been checked.
enum Checked<'m> {
    Value(WireElements<'m>),
    Acknowledge(Acknowledge),
}

/// Checks type and count against the payload. `compound`: types with alarm and limits are accepted, and those left out.
#[inline]
fn checked<'m>(request: &Request<'m>, max_count: u32, compound: bool) -> Result<Checked<'m>, u32> {
    let Header { data_type, count, .. } = request.header;
    let payload = request.payload;
    let dbr = Dbr::from_code(data_type).ok_or(status::BADTYPE)?;
    match dbr.class {
        Class::Plain => {}
        Class::PutAckTransient | Class::PutAckSeverity => {
            let &[high, low] = payload.first_chunk::<2>().ok_or(status::BADCOUNT)?;
            let value = u16::from_be_bytes([high, low]);
            return Ok(Checked::Acknowledge(if dbr.class == Class::PutAckTransient {
                Acknowledge::Transient(value != 0)
            } else {
                Acknowledge::Severity(value)
            }));
        }
        Class::StatusAck | Class::ClassName => return Err(status::PUTFAIL),
        _ if compound => {}
        _ => return Err(status::PUTFAIL),
    }
    let offset = usize::from(dbr.offset);
    let elements = payload.get(offset..).ok_or(status::BADCOUNT)?;
    // A single string comes as long as it is, and all others whole.
    let needed =
        if dbr.native == NativeType::String && count == 1 { 1 } else { dbr.size(count) as usize - offset };
    if elements.len() < needed {
        return Err(status::BADCOUNT);
    }
    let count = count.min(max_count);
    let length = elements.len().min(count as usize * usize::from(dbr.element));
    let bytes = elements.get(..length).ok_or(status::BADCOUNT)?;
    Ok(Checked::Value(WireElements { from: dbr.native, count, bytes }))
}

impl<P: Provider, A: Admission> Turn<'_, P, A> {
    fn put(
        &mut self,
        request: &Request<'_>,
        pv: PvId,
        max_count: u32,
        logged: bool,
        completion: bool,
    ) -> Result<PutOutcome, u32> {
        let client = Client { logged, ..self.session.client() };
        let result = match checked(request, max_count, !completion)? {
            Checked::Value(elements) => self.provider.put(pv, &elements, &client, completion),
            Checked::Acknowledge(what) => {
                self.provider.acknowledge(pv, what, &client).map(|()| PutOutcome::Done)
            }
        };
        result.map_err(put_status)
    }

    #[inline]
    pub(super) fn write(&mut self, request: &Request<'_>) -> Flow {
        self.statistics.writes += 1;
        let Some(&Channel { pv, max_count, access, .. }) = self.channels.get(request.header.p1, self.slot)
        else {
            return self.fail(request, status::BADCHID, "no such channel");
        };
        if !access.write {
            self.denied(request, pv, max_count, true);
            return self.fail(request, status::NOWTACCESS, "write access denied");
        }
        match self.put(request, pv, max_count, access.logged, false) {
            Ok(_) => Flow::Next,
            Err(code) => self.fail(request, code, "the value could not be written"),
        }
    }

    pub(super) fn write_notify(&mut self, request: &Request<'_>) -> Flow {
        self.statistics.writes += 1;
        let header = &request.header;
        let Some(&Channel { pv, max_count, access, .. }) = self.channels.get(header.p1, self.slot) else {
            return self.written(header, status::BADCHID);
        };
        if !access.write {
            self.denied(request, pv, max_count, false);
            return self.written(header, status::NOWTACCESS);
        }
        if self.session.puts >= self.config.limits.puts_per_circuit {
            return self.written(header, status::PUTCBINPROG);
        }
        if self.puts.reserve().is_err() {
            return self.written(header, status::ALLOCMEM);
        }
        match self.put(request, pv, max_count, access.logged, true) {
            Ok(PutOutcome::Done) => self.written(header, status::NORMAL),
            Ok(PutOutcome::Later(token)) => {
                self.puts.push(Put {
                    token,
                    circuit: self.slot,
                    channel: Channels::index(header.p1),
                    data_type: header.data_type,
                    count: header.count,
                    ioid: header.p2,
                    ended: None,
                });
                self.session.puts += 1;
                self.statistics.puts_in_progress = self.puts.len();
                Flow::Next
            }
            Err(code) => self.written(header, code),
        }
    }

    #[cold]
    fn denied(&mut self, request: &Request<'_>, pv: PvId, max_count: u32, compound: bool) {
        let client = self.session.client();
        let put = match checked(request, max_count, compound) {
            Ok(Checked::Value(elements)) => Some(elements),
            _ => None,
        };
        self.provider.denied(pv, put.as_ref(), &client);
    }

    /// The reply of WRITE_NOTIFY: a small one, for which there is room.
    fn written(&mut self, header: &Header, code: u32) -> Flow {
        self.statistics.errors += u64::from(code != status::NORMAL);
        self.output.bare(Header { p1: code, payload: 0, ..*header });
        Flow::Next
    }

    /// Replies to put-callbacks whose processing has ended.
    pub(super) fn send_ended_puts(&mut self) {
        while self.session.puts_ended > 0 {
            if !self.output.has_room(SMALL_REPLY) {
                self.stall();
                return;
            }
            let Some((put, code)) = self.puts.take_ended(self.slot) else {
                self.session.puts_ended = 0;
                return;
            };
            self.session.puts_ended -= 1;
            self.session.puts -= 1;
            self.statistics.puts_in_progress = self.puts.len();
            let header = Header::new(command::WRITE_NOTIFY).typed(put.data_type, put.count).ids(0, put.ioid);
            self.written(&header, code);
        }
    }
}
