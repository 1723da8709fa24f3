// SPDX-License-Identifier: BSD-2-Clause
//! Subscriptions: EVENT_ADD, EVENT_CANCEL and the updates that are owed.

use super::super::channels::Channel;
use super::super::circuits::NoRoom;
use super::super::monitors::Subscribe;
use super::super::payload::Extra;
use super::super::provider::PvId;
use super::super::updates::{Updater, is_rare};
use super::super::wire::dbr::Dbr;
use super::read::{AUTOSIZE, is_excessive};
use super::*;
use crate::value::EventMask;

/// Where EVENT_ADD has its mask, after three obsolete floats.
const MASK: usize = 12;
/// All kinds of event that there are.
const KNOWN_EVENTS: u8 = EventMask::VALUE.0 | EventMask::LOG.0 | EventMask::ALARM.0 | EventMask::PROPERTY.0;

impl<P: Provider, A: Admission> Turn<'_, P, A> {
    pub(super) fn event_add(&mut self, request: &Request<'_>) -> Flow {
        let header = &request.header;
        let sid = header.p1;
        let Some(&Channel { pv, max_count, access, .. }) = self.channels.get(sid, self.slot) else {
            return self.fail(request, status::BADCHID, "no such channel");
        };
        let Some(dbr) = Dbr::from_code(header.data_type).filter(|d| d.is_readable()) else {
            return self.fail(request, status::BADTYPE, "no such data type");
        };
        let mask = match request.payload.get(MASK..MASK + 2) {
            Some(&[_, low]) => EventMask(low & KNOWN_EVENTS),
            _ => return self.fail(request, status::INTERNAL, "subscription without mask"),
        };
        if mask.0 == 0 {
            return self.fail(request, status::BADMASK, "subscription to no event");
        }
        let autosize = self.session.speaks(AUTOSIZE);
        let count = if header.count == 0 && !autosize { max_count } else { header.count };
        let size = dbr.size(count);
        if size > self.config.limits.max_array_bytes {
            return self.fail(request, status::TOLARGE, "subscription to more than the largest array");
        }
        let limits = &self.config.limits;
        if is_excessive(count, max_count, size, limits) {
            return self.fail(
                request,
                status::BADCOUNT,
                "subscription to more elements than the channel has",
            );
        }
        if self.monitors.len() >= limits.monitors || self.session.monitors >= limits.monitors_per_circuit {
            return self.refuse_monitor(request, Cause::Limit, "as many subscriptions as there may be");
        }
        let capacity = self.provider.capacity();
        if !self.admission.admits(self.monitors.growth(capacity)) {
            return self.refuse_monitor(request, Cause::Memory, "no memory for another subscription");
        }
        let subscribe = Subscribe {
            pv: pv.index,
            view: pv.view,
            circuit: self.slot,
            subscription: header.p2,
            dbr: header.data_type as u8,
            count,
            mask,
            readable: access.read,
        };
        let Some(channel) = self.channels.get_mut(sid, self.slot) else { return Flow::Next };
        let Ok((index, first)) = self.monitors.add(subscribe, capacity, &mut channel.monitors) else {
            return self.refuse_monitor(request, Cause::Memory, "no memory for another subscription");
        };
        self.session.monitors += 1;
        self.statistics.monitors = self.monitors.len();
        if first {
            self.provider.watched(pv, true);
        }
        // The first update is owed like any other, behind those that are owed already.
        let in_line = self.session.owes_updates();
        self.monitors.queue(self.session, index);
        if !in_line {
            self.send_updates();
        }
        Flow::Next
    }

    #[cold]
    fn refuse_monitor(&mut self, request: &Request<'_>, cause: Cause, text: &str) -> Flow {
        self.statistics.monitors_refused += 1;
        let peer = self.session.peer;
        self.notes.say(peer, cause, self.now, format_args!("subscription refused: {text}"));
        self.fail(request, status::ALLOCMEM, text)
    }

    pub(super) fn event_cancel(&mut self, request: &Request<'_>) -> Flow {
        let header = &request.header;
        let sid = header.p1;
        let Some(channel) = self.channels.get_mut(sid, self.slot) else {
            return self.fail(request, status::BADCHID, "no such channel");
        };
        let pv = channel.pv;
        let Some((index, before)) = self.monitors.find(channel.monitors, header.p2) else {
            return self.fail(request, status::BADMONID, "no such subscription");
        };
        let Some((dbr, count)) = self.monitors.get(index).map(|m| (m.dbr, m.count)) else {
            return Flow::Next;
        };
        if self.monitors.remove(self.session, index, before, &mut channel.monitors) {
            self.provider.watched(pv, false);
        }
        self.statistics.monitors = self.monitors.len();
        self.output.bare(Header::new(command::EVENT_ADD).typed(u16::from(dbr), count).ids(sid, header.p2));
        Flow::Next
    }

    /// Sends owed updates as long as there is room, each from the value of the moment.
    pub(super) fn send_updates(&mut self) {
        let budget = self.config.limits.turn_bytes as usize + self.output.used();
        let mut updater = Updater::new(self.config.limits.max_array_bytes);
        while self.session.owes_updates() {
            if self.output.used() >= budget {
                self.session.has_work = true;
                return;
            }
            match self.send_some(&mut updater) {
                Ok(()) => {}
                Err(NoRoom::Wait) => return,
                Err(NoRoom::Memory) => {
                    self.session.starved = true;
                    return;
                }
            }
        }
    }

    /// Sends the first owed update, and those behind it that are of the same process variable.
    fn send_some(&mut self, updater: &mut Updater) -> Result<(), NoRoom> {
        let first = self.session.pending_first;
        let Some(monitor) = self.monitors.get(first) else { return Err(NoRoom::Wait) };
        let pv = PvId { index: monitor.pv, view: monitor.view };
        let spares = sparing(self.admission, &self.config.limits);
        updater.renew();
        if !monitor.readable {
            updater.fail(monitor, status::NORDACCESS, self.output, spares)?;
            self.statistics.updates += 1;
            self.monitors.unqueue(self.session, first);
            return Ok(());
        }
        let rare = is_rare(monitor.dbr);
        let extra = match Dbr::from_code(u16::from(monitor.dbr)) {
            Some(dbr) if rare => self.extra(pv, dbr),
            _ => Extra::None,
        };
        let Turn { monitors, session, output, statistics, provider, .. } = self;
        let result = provider.read(pv, |reading| {
            let mut at = first;
            loop {
                let Some(monitor) = monitors.get(at) else { return Ok(()) };
                let same = (monitor.pv, monitor.view) == (pv.index, pv.view);
                if at != first && (!same || rare || is_rare(monitor.dbr) || !monitor.readable) {
                    return Ok(());
                }
                updater.send(monitor, reading, &extra, output, spares)?;
                statistics.updates += 1;
                monitors.unqueue(session, at);
                at = session.pending_first;
            }
        });
        match result {
            Ok(result) => result,
            Err(error) => {
                let Some(monitor) = self.monitors.get(first) else { return Ok(()) };
                updater.fail(monitor, get_status(error), self.output, spares)?;
                self.statistics.updates += 1;
                self.monitors.unqueue(self.session, first);
                Ok(())
            }
        }
    }
}
