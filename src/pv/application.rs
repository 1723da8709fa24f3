// SPDX-License-Identifier: BSD-2-Clause
//! Records whose values come from the application: what their values are, taking one, and deleting such a record.

use super::array::Array;
use super::database::{Database, Place};
use super::process::Before;
use super::put_value;
use super::record::{APPLICATION, Record, Value, flag};
use super::{OutOfMemory, PutError, RecordType, View};
use crate::value::convert::decode;
use crate::value::{Alarm, Elements, EventMask, Metadata, NativeType, Stamp, Text, WireElements};

/// What the value of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `f64`.
    Double,
    /// `i64`.
    Int64,
    /// `i32`.
    Long,
    /// The number of a state.
    State,
    /// Text of so many bytes, terminator included.
    Text(u32),
    /// At most so many elements of a type.
    Array(NativeType, u32),
}

impl Kind {
    /// Bytes that the largest value takes as it travels (an `i64` takes eight).
    pub const fn bytes(self) -> usize {
        match self {
            Kind::Double | Kind::Int64 => 8,
            Kind::Long => 4,
            Kind::State => 2,
            Kind::Text(size) => size as usize,
            Kind::Array(native, count) => native.size().saturating_mul(count as usize),
        }
    }

    /// The type in which its elements travel; none for text, which comes as it is, and `i64`.
    pub const fn native(self) -> Option<NativeType> {
        match self {
            Kind::Double => Some(NativeType::Double),
            Kind::Long => Some(NativeType::Long),
            Kind::State => Some(NativeType::Enum),
            Kind::Array(native, _) => Some(native),
            Kind::Int64 | Kind::Text(_) => None,
        }
    }
}

/// A value from the application.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Type of the elements; none for text and `i64`.
    pub from: Option<NativeType>,
    /// Number of elements.
    pub count: u32,
    /// The elements, big-endian.
    pub bytes: &'a [u8],
    /// Raised by the application.
    pub alarm: Alarm,
    /// When it was so; `None` is now.
    pub stamp: Option<Stamp>,
}

impl Database {
    /// What the value of a record is that may be the application's; `None` for statuses and members of families.
    pub fn application_kind(&self, index: u32) -> Option<Kind> {
        let Some(Place::Record(position)) = self.place(index) else { return None };
        let record = &self.records[position];
        if record.status != 0 {
            return None;
        }
        Some(match &record.value {
            Value::Double(_) => Kind::Double,
            Value::Long(_) => Kind::Long,
            Value::Int64(_) => Kind::Int64,
            Value::State(..) => Kind::State,
            Value::Text(_) => Kind::Text(Text::SIZE as u32),
            Value::LongText(text) => Kind::Text(text.size()),
            Value::Array(array) => Kind::Array(array.elements().native_type(), array.capacity()),
        })
    }

    /// Says that a record's values come from the application from now on, or no more.
    pub fn set_application(&mut self, index: u32, is_application: bool) {
        if let Some(record) = self.record_mut(index) {
            record.status = if is_application { APPLICATION } else { 0 };
        }
    }

    /// The record's values come from the application.
    #[inline]
    pub fn is_application(&self, index: u32) -> bool {
        matches!(self.place(index), Some(Place::Record(position)) if self.records[position].status == APPLICATION)
    }

    /// Takes a value from the application and processes the record.
    pub fn set_from_application(&mut self, index: u32, incoming: &Incoming<'_>) -> Result<(), PutError> {
        let now = incoming.stamp.unwrap_or(self.now);
        let record = self.record_mut(index).ok_or(PutError::Unknown)?;
        let length = record.length();
        let before = take(record, incoming)?;
        record.set_flag(flag::UNDEFINED, false);
        self.value_was_set(index, before, length, incoming.alarm, now);
        Ok(())
    }

    /// Hands to `visit` what a put would make of the value; the record stays as it is.
    pub fn converted<R>(
        &self,
        index: u32,
        view: View,
        put: &WireElements<'_>,
        visit: impl FnOnce(Elements<'_>) -> R,
    ) -> Result<R, PutError> {
        let Some(Place::Record(position)) = self.place(index) else { return Err(PutError::Unknown) };
        let record = &self.records[position];
        let none = &Metadata::NONE;
        Ok(match &record.value {
            Value::Double(value) => {
                let mut new = [*value];
                decode(put, none, &mut new)?;
                visit(Elements::Double(&new))
            }
            Value::Long(value) => {
                let mut new = [*value];
                decode(put, none, &mut new)?;
                visit(Elements::Long(&new))
            }
            Value::Int64(value) => {
                let mut new = [*value];
                decode(put, none, &mut new)?;
                visit(Elements::Int64(&new))
            }
            Value::State(..) => visit(Elements::Enum(&[put_value::state(record, put)?])),
            Value::Text(_) => visit(Elements::String(&[put_value::text(put, view)?])),
            Value::LongText(_) if put.from == NativeType::Char && view.long_text() => {
                visit(Elements::Char(&put.bytes[..put.bytes.len().min(put.count as usize)]))
            }
            Value::LongText(_) => visit(Elements::Char(put_value::text(put, view)?.as_bytes())),
            Value::Array(array) => {
                let mut new = Array::new(array.element_type, array.capacity())?;
                new.put(put, none)?;
                visit(new.elements())
            }
        })
    }

    /// Deletes a record with all its names. Its index is used again; subscribers have to be told before that.
    pub fn remove(&mut self, index: u32) {
        let Some(Place::Record(position)) = self.place(index) else { return };
        // Room in the list of vacant places first, so that nothing is lost half-way.
        let Ok(vacant) = vacancy() else { return };
        if self.vacant.try_reserve(1).is_err() {
            return;
        }
        while let Some((at, length)) = self.names.remove_of(index) {
            for record in &mut self.records {
                if record.name > at && record.name != NO_NAME {
                    record.name -= length;
                }
            }
        }
        self.watches.remove_all(index);
        let record = &mut self.records[position];
        let (next, queued) = (record.next, record.flags & flag::QUEUED);
        // It may wait in the queue of changes: its link stays, and nothing is pending.
        *record = Record { next, flags: queued, ..vacant };
        self.vacant.push(index);
    }

    /// A record in a place that a deleted one has left, or in a new one.
    pub(super) fn add_reusing(&mut self, name: &[u8], record: Record) -> Result<u32, super::AddError> {
        let Some(&index) = self.vacant.last() else { return self.add(name, record) };
        if self.find_record(name).is_some() {
            return Err(super::AddError::NameTaken);
        }
        let name = self.names.insert(name, index)?;
        self.vacant.pop();
        if let Some(place) = self.record_mut(index) {
            let (next, queued) = (place.next, place.flags & flag::QUEUED);
            *place = Record { name, next, flags: record.flags | queued, ..record };
        }
        Ok(index)
    }

    /// Events and processing after VAL was set.
    pub(super) fn value_was_set(
        &mut self,
        index: u32,
        before: Before,
        length: Option<u32>,
        raised: Alarm,
        now: Stamp,
    ) {
        let Some(record) = self.record_mut(index) else { return };
        let effects = super::process::process(record, before, raised, now);
        let resized = record.length() != length;
        self.tell(index, effects);
        if resized {
            self.post_field(index, super::field::Store::Length, EventMask::VALUE.union(EventMask::LOG));
        }
    }
}

/// Where the name of a deleted record is.
pub(super) const NO_NAME: u32 = u32::MAX;

/// What stands in the place of a deleted record.
fn vacancy() -> Result<Record, OutOfMemory> {
    Ok(Record { name: NO_NAME, status: APPLICATION, ..Record::new(RecordType::Ai)? })
}

fn take(record: &mut Record, incoming: &Incoming<'_>) -> Result<Before, PutError> {
    let before = Before::now(record);
    match (&mut record.value, incoming.from) {
        (Value::Int64(value), None) => {
            *value = i64::from_be_bytes(incoming.bytes.try_into().map_err(|_| PutError::Unknown)?);
            Ok(before)
        }
        (Value::Text(text), None) => {
            let new = Text::truncated(incoming.bytes).0;
            let changed = **text != new;
            **text = new;
            Ok(Before::Text(changed))
        }
        (Value::LongText(text), None) => Ok(Before::Text(text.set(incoming.bytes))),
        (_, Some(from)) => {
            let put = WireElements { from, count: incoming.count, bytes: incoming.bytes };
            put_value::put_value(record, &put, View::VALUE)
        }
        _ => Err(PutError::Unknown),
    }
}
