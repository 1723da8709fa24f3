// SPDX-License-Identifier: BSD-2-Clause
//! Requests about the circuit as a whole: version, names, echo, flow control, name search.

use super::super::search::name_in;
use super::*;
use alloc::vec::Vec;

/// Highest priority of a circuit.
const MAX_PRIORITY: u16 = 99;
/// Longest user or host name, terminator included.
const MAX_CLIENT_NAME: usize = 512;

impl<P: Provider, A: Admission> Turn<'_, P, A> {
    /// VERSION: once at the start; again at the head of each batch of searches, where the type is no priority.
    pub(super) fn version(&mut self, request: &Request<'_>) -> Flow {
        let header = &request.header;
        if self.session.minor.is_none() {
            if header.data_type > MAX_PRIORITY {
                self.damaged(request.raw, "priority above 99");
                return Flow::Next;
            }
            self.session.priority = header.data_type as u8;
        }
        self.session.minor = Some(header.count.min(u32::from(u16::MAX)) as u16);
        Flow::Next
    }

    pub(super) fn echo(&mut self, request: &Request<'_>) -> Flow {
        let size = request.raw.len() + request.payload.len();
        // It has come through an input buffer of the same size.
        if !self.output.has_room(size) {
            return Flow::Blocked;
        }
        self.output.copy(request.raw);
        self.output.copy(request.payload);
        Flow::Next
    }

    pub(super) fn events_off(&mut self) -> Flow {
        self.session.events_off = true;
        Flow::Next
    }

    pub(super) fn events_on(&mut self) -> Flow {
        self.session.events_off = false;
        Flow::Next
    }

    pub(super) fn client_name(&mut self, request: &Request<'_>) -> Flow {
        match self.name_for_access(request, "user") {
            Ok(name) => self.session.user = name,
            Err(flow) => return flow,
        }
        Flow::Next
    }

    pub(super) fn host_name(&mut self, request: &Request<'_>) -> Flow {
        match self.name_for_access(request, "host") {
            Ok(name) => self.session.host = name,
            Err(flow) => return flow,
        }
        Flow::Next
    }

    /// Who the client is decides its rights, so that it may not change once a channel has been created.
    fn name_for_access(&mut self, request: &Request<'_>, which: &str) -> Result<Vec<u8>, Flow> {
        if self.session.channels > 0 {
            let text = if which == "user" {
                "attempts to use protocol to set user name after creating first channel ignored by server"
            } else {
                "attempts to use protocol to set host name after creating first channel ignored by server"
            };
            return Err(self.fail(request, status::INTERNAL, text));
        }
        let payload = request.payload;
        let end = payload.iter().position(|&b| b == 0).unwrap_or(payload.len());
        if end >= MAX_CLIENT_NAME || end == payload.len() {
            return Err(self.fail(request, status::INTERNAL, "bad (very long) user or host name"));
        }
        let mut name = Vec::new();
        if name.try_reserve_exact(end).is_err() {
            return Err(self.fail(request, status::ALLOCMEM, "no space in pool for the client's name"));
        }
        name.extend_from_slice(payload.get(..end).unwrap_or(&[]));
        Ok(name)
    }

    /// SEARCH over TCP: the client then uses the address of this circuit.
    pub(super) fn search(&mut self, request: &Request<'_>) -> Flow {
        let header = &request.header;
        self.statistics.searches += 1;
        let found = name_in(request.payload).and_then(|name| self.provider.find(name)).is_some();
        if found {
            // As for a datagram: silence, so that the client asks again later.
            let opens = self.gate.opens(self.session.peer.address, self.config, self.now);
            if !opens
                || self.channels.len() >= self.config.limits.channels
                || !self.admission.admits(self.channels.growth())
            {
                self.statistics.searches_refused += 1;
                return Flow::Next;
            }
            self.statistics.searches_answered += 1;
            self.output.bare(
                Header::new(command::SEARCH)
                    .typed(self.config.tcp_port, 0)
                    .ids(command::SENDER_ADDRESS, header.p2),
            );
        } else if header.data_type == command::DO_REPLY {
            self.output.bare(Header { command: command::NOT_FOUND, payload: 0, ..*header });
        }
        Flow::Next
    }
}
