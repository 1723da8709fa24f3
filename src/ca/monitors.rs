// SPDX-License-Identifier: BSD-2-Clause
//! The subscriptions: who hears of which process variable, and who is owed its newest value.
//!
//! A monitor is a member of up to three lists, all of indices into one slab:
//!
//! ```text
//!  heads[pv index] ──> ring of all monitors of that process variable, oldest first   (pv_next, pv_prev)
//!  channel.monitors ─> ring of the monitors of one channel, by its last              (channel_next)
//!  session.pending ──> queue of the circuit's monitors that owe an update            (pending_next, pending_prev)
//! ```
//!
//! There is no queue of values: a monitor without room in its circuit's output is marked pending and is encoded from
//! the value of the moment when there is room. So memory is bounded, and the newest value always arrives.

use super::circuits::Session;
use super::slab::{NONE, NoMemory, Slab};
use crate::value::EventMask;
use alloc::vec::Vec;

/// One subscription.
#[derive(Debug)]
pub(super) struct Monitor {
    /// Dense index of the process variable.
    pub(super) pv: u32,
    /// The client's id of it.
    pub(super) subscription: u32,
    /// Elements asked for; 0: as many as there are each time.
    pub(super) count: u32,
    pv_next: u32,
    pv_prev: u32,
    channel_next: u32,
    pending_next: u32,
    pending_prev: u32,
    /// Slot of the circuit.
    pub(super) circuit: u16,
    /// View of the process variable.
    pub(super) view: u8,
    /// DBR type asked for.
    pub(super) dbr: u8,
    pub(super) mask: EventMask,
    /// In the circuit's queue of owed updates.
    pub(super) pending: bool,
    /// The channel may be read.
    pub(super) readable: bool,
}

/// What a new subscription asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subscribe {
    pub(super) pv: u32,
    pub(super) view: u8,
    pub(super) circuit: u16,
    pub(super) subscription: u32,
    pub(super) dbr: u8,
    pub(super) count: u32,
    pub(super) mask: EventMask,
    pub(super) readable: bool,
}

/// All subscriptions.
pub(super) struct Monitors {
    slab: Slab<Monitor>,
    /// By process variable: its oldest monitor, or `NONE`.
    heads: Vec<u32>,
}

impl Monitors {
    pub(super) const fn new() -> Self {
        Monitors { slab: Slab::new(), heads: Vec::new() }
    }

    pub(super) const fn len(&self) -> u32 {
        self.slab.len()
    }

    /// Bytes of one monitor.
    pub(super) const fn entry_size() -> usize {
        Slab::<Monitor>::entry_size()
    }

    /// Bytes of heap in use.
    pub(super) fn heap_bytes(&self) -> usize {
        self.slab.heap_bytes() + self.heads.capacity() * size_of::<u32>()
    }

    /// Bytes that one more monitor may ask of the heap, where there are `capacity` process variables.
    pub(super) const fn growth(&self, capacity: u32) -> usize {
        let heads = if capacity as usize > self.heads.len() { capacity as usize } else { 0 };
        self.slab.growth() + heads * size_of::<u32>()
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&Monitor> {
        self.slab.get(index)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Monitor> {
        self.slab.get_mut(index)
    }

    /// The oldest monitor of a process variable.
    #[inline]
    pub(super) fn first_of(&self, pv: u32) -> u32 {
        self.heads.get(pv as usize).copied().unwrap_or(NONE)
    }

    /// The next younger one of the same process variable, unless it is `first` again.
    #[inline]
    pub(super) fn next_of(&self, monitor: &Monitor, first: u32) -> u32 {
        if monitor.pv_next == first { NONE } else { monitor.pv_next }
    }

    /// Adds a subscription as the youngest of its process variable and of its channel, whose `last` is updated.
    /// `capacity` is the number of process variables. Returns the index and whether it is the first of its view.
    pub(super) fn add(
        &mut self,
        new: Subscribe,
        capacity: u32,
        last: &mut u32,
    ) -> Result<(u32, bool), NoMemory> {
        let wanted = capacity.max(new.pv.checked_add(1).ok_or(NoMemory)?) as usize;
        if new.pv as usize >= self.heads.len() {
            self.heads.try_reserve_exact(wanted - self.heads.len()).map_err(|_| NoMemory)?;
            self.heads.resize(wanted, NONE);
        }
        let index = self.slab.insert(Monitor {
            pv: new.pv,
            subscription: new.subscription,
            count: new.count,
            pv_next: NONE,
            pv_prev: NONE,
            channel_next: NONE,
            pending_next: NONE,
            pending_prev: NONE,
            circuit: new.circuit,
            view: new.view,
            dbr: new.dbr,
            mask: new.mask,
            pending: false,
            readable: new.readable,
        })?;
        let known = self.has_view(new.pv, new.view);
        let first = self.first_of(new.pv);
        if first == NONE {
            self.set_pv_links(index, index, index);
            if let Some(head) = self.heads.get_mut(new.pv as usize) {
                *head = index;
            }
        } else {
            let end = self.slab.get(first).map_or(NONE, |m| m.pv_prev);
            self.set_pv_links(index, end, first);
            self.with(end, |m| m.pv_next = index);
            self.with(first, |m| m.pv_prev = index);
        }
        let after = match self.slab.get_mut(*last) {
            Some(old_last) => core::mem::replace(&mut old_last.channel_next, index),
            None => index,
        };
        self.with(index, |m| m.channel_next = after);
        *last = index;
        Ok((index, !known))
    }

    /// Whether there is a monitor of this view. The youngest or the oldest mostly is one; else all are looked at.
    fn has_view(&self, pv: u32, view: u8) -> bool {
        let first = self.first_of(pv);
        let Some(oldest) = self.slab.get(first) else { return false };
        if self.slab.get(oldest.pv_prev).is_some_and(|youngest| youngest.view == view) {
            return true;
        }
        let mut at = first;
        while let Some(monitor) = self.slab.get(at) {
            if monitor.view == view {
                return true;
            }
            at = self.next_of(monitor, first);
        }
        false
    }

    /// Finds a channel's monitor by the client's id: the index of it and of its predecessor in the channel's ring.
    pub(super) fn find(&self, last: u32, subscription: u32) -> Option<(u32, u32)> {
        let mut before = last;
        loop {
            let at = self.slab.get(before)?.channel_next;
            if self.slab.get(at)?.subscription == subscription {
                return Some((at, before));
            }
            if at == last {
                return None;
            }
            before = at;
        }
    }

    /// The monitor after `index` in its channel's ring.
    pub(super) fn after_in_channel(&self, index: u32) -> u32 {
        self.slab.get(index).map_or(NONE, |m| m.channel_next)
    }

    /// Removes a monitor of a channel whose `last` is updated; `before` is its predecessor in the channel's ring.
    /// Returns whether it was the last of its view.
    pub(super) fn remove(&mut self, session: &mut Session, index: u32, before: u32, last: &mut u32) -> bool {
        self.unqueue(session, index);
        let Some(monitor) = self.slab.remove(index) else { return false };
        if before == index {
            *last = NONE;
        } else {
            self.with(before, |m| m.channel_next = monitor.channel_next);
            if *last == index {
                *last = before;
            }
        }
        session.monitors -= 1;
        let alone = monitor.pv_next == index;
        if alone {
            if let Some(head) = self.heads.get_mut(monitor.pv as usize) {
                *head = NONE;
            }
        } else {
            self.with(monitor.pv_prev, |m| m.pv_next = monitor.pv_next);
            self.with(monitor.pv_next, |m| m.pv_prev = monitor.pv_prev);
            if let Some(head) = self.heads.get_mut(monitor.pv as usize)
                && *head == index
            {
                *head = monitor.pv_next;
            }
        }
        if self.slab.len() == 0 {
            self.heads = Vec::new();
        }
        !self.has_view(monitor.pv, monitor.view)
    }

    /// Notes that the circuit owes this monitor an update. False if it did already.
    pub(super) fn queue(&mut self, session: &mut Session, index: u32) -> bool {
        let end = session.pending_last;
        let Some(monitor) = self.slab.get_mut(index) else { return false };
        if monitor.pending {
            return false;
        }
        monitor.pending = true;
        monitor.pending_prev = end;
        monitor.pending_next = NONE;
        match self.slab.get_mut(end) {
            Some(before) => before.pending_next = index,
            None => session.pending_first = index,
        }
        session.pending_last = index;
        session.pending += 1;
        true
    }

    /// The update has been sent, or is owed no more.
    pub(super) fn unqueue(&mut self, session: &mut Session, index: u32) {
        let Some(monitor) = self.slab.get_mut(index) else { return };
        if !monitor.pending {
            return;
        }
        monitor.pending = false;
        let (next, prev) = (monitor.pending_next, monitor.pending_prev);
        match self.slab.get_mut(prev) {
            Some(before) => before.pending_next = next,
            None => session.pending_first = next,
        }
        match self.slab.get_mut(next) {
            Some(after) => after.pending_prev = prev,
            None => session.pending_last = prev,
        }
        session.pending -= 1;
    }

    fn set_pv_links(&mut self, index: u32, prev: u32, next: u32) {
        self.with(index, |m| {
            m.pv_prev = prev;
            m.pv_next = next;
        });
    }

    fn with(&mut self, index: u32, change: impl FnOnce(&mut Monitor)) {
        if let Some(monitor) = self.slab.get_mut(index) {
            change(monitor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn new(pv: u32, subscription: u32) -> Subscribe {
        Subscribe {
            pv,
            view: 0,
            circuit: 0,
            subscription,
            dbr: 6,
            count: 1,
            mask: EventMask::VALUE,
            readable: true,
        }
    }

    fn of_pv(monitors: &Monitors, pv: u32) -> Vec<u32> {
        let first = monitors.first_of(pv);
        let mut at = first;
        let mut found = Vec::new();
        while let Some(monitor) = monitors.get(at) {
            found.push(monitor.subscription);
            at = monitors.next_of(monitor, first);
        }
        found
    }

    #[test]
    fn each_view_has_a_first_and_a_last_monitor() {
        let mut monitors = Monitors::new();
        let mut session = Session::default();
        session.monitors = 5;
        let mut last = NONE;
        let views = [0, 3, 0, 3, 3];
        let firsts: Vec<bool> = (0..5)
            .map(|n| {
                monitors.add(Subscribe { view: views[n as usize], ..new(7, n) }, 10, &mut last).unwrap().1
            })
            .collect();
        assert_eq!(firsts, [true, true, false, false, false]);
        let lasts: Vec<bool> = [2, 4, 0, 1, 3]
            .into_iter()
            .map(|n| {
                let (index, before) = monitors.find(last, n).unwrap();
                monitors.remove(&mut session, index, before, &mut last)
            })
            .collect();
        assert_eq!(lasts, [false, false, true, false, true]);
    }

    fn pending(monitors: &Monitors, session: &Session) -> Vec<u32> {
        let mut at = session.pending_first;
        let mut found = Vec::new();
        while let Some(monitor) = monitors.get(at) {
            found.push(monitor.subscription);
            at = monitor.pending_next;
        }
        found
    }

    #[test]
    fn a_pv_lists_its_monitors_in_the_order_of_their_subscription() {
        let mut monitors = Monitors::new();
        let mut session = Session::default();
        session.monitors = 5;
        let mut last = NONE;
        for n in 0..5 {
            let (_, first) = monitors.add(new(7, n), 10, &mut last).unwrap();
            assert_eq!(first, n == 0);
        }
        assert_eq!(of_pv(&monitors, 7), [0, 1, 2, 3, 4]);
        for (gone, left) in [(2, &[0, 1, 3, 4][..]), (0, &[1, 3, 4]), (4, &[1, 3]), (1, &[3]), (3, &[])] {
            let (index, before) = monitors.find(last, gone).unwrap();
            let alone = monitors.remove(&mut session, index, before, &mut last);
            assert_eq!(alone, left.is_empty());
            assert_eq!(of_pv(&monitors, 7), left);
            assert!(monitors.find(last, gone).is_none());
        }
        assert_eq!((last, session.monitors, monitors.heap_bytes()), (NONE, 0, 0));
    }

    #[test]
    fn owed_updates_are_a_queue_with_each_monitor_once() {
        let mut monitors = Monitors::new();
        let mut session = Session::default();
        session.monitors = 3;
        let mut last = NONE;
        let index: Vec<u32> = (0..3).map(|n| monitors.add(new(0, n), 1, &mut last).unwrap().0).collect();
        assert!(monitors.queue(&mut session, index[1]));
        assert!(monitors.queue(&mut session, index[0]));
        assert!(!monitors.queue(&mut session, index[1]));
        assert!(monitors.queue(&mut session, index[2]));
        assert_eq!(pending(&monitors, &session), [1, 0, 2]);
        monitors.unqueue(&mut session, index[0]);
        assert_eq!(pending(&monitors, &session), [1, 2]);
        let (at, before) = monitors.find(last, 2).unwrap();
        monitors.remove(&mut session, at, before, &mut last);
        assert_eq!(pending(&monitors, &session), [1]);
        monitors.unqueue(&mut session, index[1]);
        assert_eq!((session.pending, session.pending_first, session.pending_last), (0, NONE, NONE));
    }

    #[test]
    fn a_monitor_is_small() {
        assert!(Monitors::entry_size() <= 40, "{} bytes", Monitors::entry_size());
    }
}
