// SPDX-License-Identifier: BSD-2-Clause
//! Puts to the records: to their values, to other fields, and into access groups; what subscribers hear of it.

use super::database::Place;
use super::field::{Field, Put, Store};
use super::process::{self, Before};
use super::record::Value;
use super::{Database, PutError, View, access, put_value};
use crate::value::{Alarm, EventMask, Metadata, WireElements};

impl Database {
    /// Writes a view and processes the record; subscribers hear of it through [`Database::next_change`].
    pub fn put(&mut self, index: u32, view: View, put: &WireElements<'_>) -> Result<(), PutError> {
        let now = self.now;
        let field = view.field().ok_or(PutError::Unknown)?;
        if !self.is_writable(index, view) {
            return Err(PutError::ReadOnly);
        }
        match self.place(index).ok_or(PutError::Unknown)? {
            Place::Member(number, position) => {
                let member = &mut self.families[number].members[position];
                let mut new = [member.value];
                crate::value::convert::decode(put, &Metadata::NONE, &mut new)?;
                let old = core::mem::replace(&mut member.value, new[0]);
                member.stamp = now;
                if process::beyond(old, new[0], 0.0) {
                    self.post(index, View::VALUE.number(), EventMask::VALUE.union(EventMask::LOG));
                }
                Ok(())
            }
            Place::Record(position) if field.store == Store::Value => {
                let record = &mut self.records[position];
                let length = record.length();
                if put.count == 0 && !matches!(record.value, Value::Array(_)) {
                    return Ok(());
                }
                let before = put_value::put_value(record, put, view)?;
                self.value_was_set(index, before, length, Alarm::NONE, now);
                Ok(())
            }
            Place::Record(position) => {
                if put.count == 0 {
                    return Ok(());
                }
                if field.store == Store::AccessGroup {
                    let name = put_value::text(put, View::new(0, true))?;
                    self.set_group(index, name.as_bytes())?;
                } else {
                    access::put(&mut self.records[position], field, put)?;
                }
                self.field_was_set(index, position, view.number(), field);
                Ok(())
            }
        }
    }

    /// Puts a record into an access group; the name may be new.
    pub(super) fn set_group(&mut self, index: u32, name: &[u8]) -> Result<(), PutError> {
        let group = self.groups.number(name).ok_or(PutError::Memory)?;
        let record = self.record_mut(index).ok_or(PutError::ReadOnly)?;
        self.groups_changed |= core::mem::replace(&mut record.group, group) != group;
        Ok(())
    }

    /// The access group that a record is in; empty for none.
    pub fn group_name(&self, index: u32) -> &[u8] {
        match self.place(index) {
            Some(Place::Record(position)) => self.groups.name(self.records[position].group),
            _ => &[],
        }
    }

    /// Whether a record has changed its access group since the last call.
    pub fn take_group_change(&mut self) -> bool {
        core::mem::take(&mut self.groups_changed)
    }

    /// Events and processing after a field other than VAL was set.
    fn field_was_set(&mut self, index: u32, position: usize, number: u8, field: &Field) {
        self.post(index, number, EventMask::VALUE.union(EventMask::LOG));
        if field.property {
            self.post(index, View::VALUE.number(), EventMask::PROPERTY);
            self.watches.post(index, EventMask::PROPERTY, |_| true);
        }
        if let (Store::StateName(renamed), Value::State(state, _)) =
            (field.store, &self.records[position].value)
            && *state == u16::from(renamed)
        {
            // The same state reads otherwise now.
            self.post(index, View::VALUE.number(), EventMask::VALUE.union(EventMask::LOG));
        }
        if field.put == Put::Processes {
            let record = &mut self.records[position];
            let before = Before::now(record);
            let effects = process::process(record, before, Alarm::NONE, self.now);
            self.tell(index, effects);
        }
    }
}
