// SPDX-License-Identifier: BSD-2-Clause
//! What subscribers have not heard of: a queue through the records themselves, so that it needs no memory.

use super::View;
use super::database::{Database, NONE, Place};
use super::field::Store;
use super::process::Effects;
use super::record::flag;
use crate::value::EventMask;

/// What subscribers have not heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Index of the record.
    pub index: u32,
    /// Which view of it.
    pub view: View,
    /// What kind of change.
    pub mask: EventMask,
}

impl Database {
    /// Posts what processing a record has changed.
    pub(super) fn tell(&mut self, index: u32, effects: Effects) {
        if effects.value.0 != 0 {
            self.post(index, View::VALUE.number(), effects.value);
        }
        if effects.status.0 != 0 {
            self.post_field(index, Store::Status, effects.status);
        }
        if effects.severity {
            self.post_field(index, Store::Severity, EventMask::VALUE);
        }
        if effects.unacknowledged {
            self.post_field(index, Store::AckSeverity, EventMask::VALUE);
        }
    }

    /// Marks a field by where it is kept.
    pub(super) fn post_field(&mut self, index: u32, store: Store, mask: EventMask) {
        self.watches.post(index, mask, |view| view.field().is_some_and(|field| field.store == store));
    }

    /// Marks a field as changed: VAL by the queue, others and long texts by the list of watches.
    pub(super) fn post(&mut self, index: u32, field: u8, mask: EventMask) {
        let (head, tail) = (self.head, self.tail);
        let Some((next, pending, flags)) = self.link(index) else { return };
        let fields_watched = *flags & flag::FIELDS_WATCHED != 0;
        if field == View::VALUE.number() && *flags & flag::WATCHED != 0 {
            *pending = pending.union(mask);
            if *flags & flag::QUEUED == 0 {
                *flags |= flag::QUEUED;
                *next = NONE;
                self.tail = index;
                if head == NONE {
                    self.head = index;
                } else if let Some((next, ..)) = self.link(tail) {
                    *next = index;
                }
            }
        }
        if fields_watched {
            self.watches.post(index, mask, |view| view.number() == field);
        }
    }

    /// What a record or member has for the queue: the next one, what is pending, its flags.
    fn link(&mut self, index: u32) -> Option<(&mut u32, &mut EventMask, &mut u8)> {
        Some(match self.place(index)? {
            Place::Record(position) => {
                let record = &mut self.records[position];
                (&mut record.next, &mut record.pending, &mut record.flags)
            }
            Place::Member(number, position) => {
                let member = &mut self.families[number].members[position];
                (&mut member.next, &mut member.pending, &mut member.flags)
            }
        })
    }

    /// The next change that subscribers have not heard of; several changes of one view are one.
    pub fn next_change(&mut self) -> Option<Change> {
        while self.head != NONE {
            let index = self.head;
            let Some((next, pending, flags)) = self.link(index) else {
                self.head = NONE;
                break;
            };
            *flags &= !flag::QUEUED;
            let mask = core::mem::take(pending);
            self.head = *next;
            if mask.0 != 0 {
                return Some(Change { index, view: View::VALUE, mask });
            }
        }
        self.watches.next().map(|(index, view, mask)| Change { index, view, mask })
    }

    /// The first subscription to this view came (true) or the last one went (false).
    pub fn watched(&mut self, index: u32, view: View, watched: bool) {
        if view == View::VALUE {
            if let Some((_, pending, flags)) = self.link(index) {
                *flags = if watched { *flags | flag::WATCHED } else { *flags & !flag::WATCHED };
                if !watched {
                    *pending = EventMask(0);
                }
            }
            return;
        }
        if watched {
            self.watches.add(index, view);
        } else {
            self.watches.remove(index, view);
        }
        let any = self.watches.any(index);
        if let Some((_, _, flags)) = self.link(index) {
            *flags = if any { *flags | flag::FIELDS_WATCHED } else { *flags & !flag::FIELDS_WATCHED };
        }
    }
}
