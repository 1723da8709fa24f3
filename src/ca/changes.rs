// SPDX-License-Identifier: BSD-2-Clause
//! What the provider has to say goes to the circuits: changed values, ended puts, changed rights, deleted variables.

use super::admission::{Admission, sparing};
use super::channels::{Channel, ChannelNotice};
use super::circuits::{Circuits, NoRoom};
use super::monitors::{Monitor, Monitors};
use super::payload::Extra;
use super::provider::{Access, Change, Notice, Provider, PvId};
use super::requests::put_status;
use super::server::Server;
use super::slab::NONE;
use super::statistics::Statistics;
use super::updates::{Updater, is_rare};
use super::wire::status;
use crate::value::Reading;

/// Changes taken in one call, so that a flood of them does not keep the sockets waiting.
const CHANGES_PER_CALL: usize = 256;

impl<P: Provider> Server<P> {
    /// Takes the provider's changes to their subscribers: into a circuit's output if there is room and nothing is owed,
    /// else the newest value will follow when there is. Returns whether there may be more changes to take.
    pub fn poll_changes<A: Admission>(&mut self, admission: &A, now: u64) -> bool {
        while let Some((token, result)) = self.provider.next_completion() {
            let code = result.map_or_else(put_status, |()| status::NORMAL);
            let Some(slot) = self.puts.end(token, code) else { continue };
            if let Some(circuit) = self.circuits.at_mut(slot) {
                circuit.session.puts_ended += 1;
                circuit.session.has_work = true;
            }
            self.circuits.mark_ready(slot);
        }
        self.poll_notices();
        self.unpolled = false;
        for _ in 0..CHANGES_PER_CALL {
            let Some(change) = self.provider.next_change() else { return false };
            self.fan_out(change, admission, now);
        }
        self.unpolled = true;
        true
    }

    /// Takes what has changed about rights and deleted variables to the channels. Before requests are read: one that came
    /// after the change is then judged by what holds now.
    pub fn poll_notices(&mut self) {
        while let Some(notice) = self.provider.next_notice() {
            self.notice(notice);
        }
    }

    fn fan_out<A: Admission>(&mut self, change: Change, admission: &A, now: u64) {
        let first = self.monitors.first_of(change.pv.index);
        if self.monitors.get(first).is_none() {
            return;
        }
        let spares = sparing(admission, &self.config.limits);
        let mut fan = Fan {
            change,
            now,
            first,
            monitors: &mut self.monitors,
            circuits: &mut self.circuits,
            statistics: &mut self.statistics,
            updater: Updater::new(self.config.limits.max_array_bytes),
        };
        if self.provider.read(change.pv, |reading| fan.send(Some(reading), spares)).is_err() {
            fan.send(None, spares);
        }
    }

    /// A process variable is gone: nobody asks for its index any more, and its channels are closed as soon as there is
    /// room to say so.
    pub fn removed(&mut self, index: u32) {
        self.notice(Notice::Removed(index));
    }

    fn notice(&mut self, notice: Notice) {
        for index in 0..self.channels.bound() {
            let Some(channel) = self.channels.at_mut(index) else { continue };
            let Some(circuit) = self.circuits.at_mut(channel.circuit) else { continue };
            let told = match notice {
                Notice::Removed(gone) if gone == channel.pv.index => {
                    while channel.monitors != NONE {
                        let first = self.monitors.after_in_channel(channel.monitors);
                        let last = channel.monitors;
                        self.monitors.remove(&mut circuit.session, first, last, &mut channel.monitors);
                    }
                    self.statistics.monitors = self.monitors.len();
                    channel.pv = PvId { index: NONE, view: 0 };
                    channel.access = Access { read: false, write: false, logged: false };
                    ChannelNotice::Gone
                }
                Notice::Access if channel.notice == Some(ChannelNotice::Gone) => continue,
                Notice::Access => {
                    let access = self.provider.access(channel.pv, &circuit.session.client());
                    if access == channel.access {
                        continue;
                    }
                    channel.access = access;
                    ChannelNotice::Access
                }
                Notice::Removed(_) => continue,
            };
            if channel.notice.replace(told).is_none() {
                circuit.session.notices += 1;
            }
            circuit.session.has_work = true;
            let &mut Channel { circuit: slot, .. } = channel;
            self.circuits.mark_ready(slot);
        }
    }
}

/// One change on its way to its subscribers.
struct Fan<'a> {
    change: Change,
    now: u64,
    /// Oldest monitor of the process variable.
    first: u32,
    monitors: &'a mut Monitors,
    circuits: &'a mut Circuits,
    statistics: &'a mut Statistics,
    updater: Updater,
}

impl Fan<'_> {
    /// Sends `reading` to all who asked for such a change; without one, notes that they are owed an update.
    fn send(&mut self, reading: Option<&Reading<'_>>, spares: impl Fn(usize) -> bool + Copy) {
        let mut at = self.first;
        while let Some(monitor) = self.monitors.get(at) {
            let next = self.monitors.next_of(monitor, self.first);
            // A monitor without read access has heard of that and hears of nothing else.
            if monitor.view == self.change.pv.view
                && monitor.readable
                && monitor.mask.intersects(self.change.mask)
            {
                if monitor.pending {
                    self.statistics.updates_replaced += 1;
                } else {
                    self.send_one(at, reading, spares);
                }
            }
            at = next;
        }
    }

    #[inline]
    fn send_one(&mut self, index: u32, reading: Option<&Reading<'_>>, spares: impl Fn(usize) -> bool + Copy) {
        let Some(monitor) = self.monitors.get(index) else { return };
        let &Monitor { circuit: slot, dbr, .. } = monitor;
        let Some(circuit) = self.circuits.at_mut(slot) else { return };
        let session = &mut circuit.session;
        if session.closing {
            return;
        }
        if circuit.output.used() == 0 {
            session.progress_ms = self.now;
        }
        let mut at_once = None;
        if session.pending == 0 && !session.events_off && !is_rare(dbr) {
            at_once = reading;
        }
        if let Some(reading) = at_once {
            match self.updater.send(monitor, reading, &Extra::None, &mut circuit.output, spares) {
                Ok(()) => {
                    self.statistics.updates += 1;
                    if !session.is_ready() {
                        self.circuits.mark_ready(slot);
                    }
                    return;
                }
                Err(NoRoom::Wait) => {}
                Err(NoRoom::Memory) => session.starved = true,
            }
        }
        self.monitors.queue(session, index);
        // With room left, the circuit's own turn sends it.
        if session.owes_updates() && circuit.output.drained() {
            session.has_work = true;
            self.circuits.mark_ready(slot);
        }
    }
}
