// SPDX-License-Identifier: BSD-2-Clause
//! The records: by index, by name, read, put, and the queue of what subscribers should hear of.

use super::access;
use super::application::NO_NAME;
use super::family::{self, Family, Member};
use super::field::{self, Field, Put, Store};
use super::groups::Groups;
use super::names::Names;
use super::record::{APPLICATION, Record, Value, flag};
use super::status::{self, Sample};
use super::watch::FieldWatches;
use super::{RecordType, StatusSource, View};
use crate::value::{Alarm, Elements, EventMask, Metadata, NativeType, Reading, Stamp, Text};
use alloc::vec::Vec;

/// No record: the end of the queue.
pub(super) const NONE: u32 = u32::MAX;

/// Type and size of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Type on the wire.
    pub native: NativeType,
    /// Maximum number of elements.
    pub max_count: u32,
}

/// All records.
///
/// ```text
///  names ──> index ──┬─> records (56 bytes each) ──> limits, states, texts, arrays where set
///  "x:catime000042" ─┴─> family: value, stamp        (24 bytes each, no name)
///  queue: head ─> record.next ─> ... ─> tail          (a record is in it at most once)
/// ```
#[derive(Debug)]
pub struct Database {
    pub(super) records: Vec<Record>,
    pub(super) families: Vec<Family>,
    pub(super) names: Names,
    pub(super) watches: FieldWatches,
    pub(super) groups: Groups,
    /// A record has changed its access group.
    pub(super) groups_changed: bool,
    /// Where the records are that show a status.
    pub(super) status: core::ops::Range<usize>,
    /// Places that deleted records have left.
    pub(super) vacant: Vec<u32>,
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) now: Stamp,
}

/// Where an index leads.
pub(super) enum Place {
    Record(usize),
    Member(usize, usize),
}

impl Default for Database {
    fn default() -> Self {
        Self::new()
    }
}

impl Database {
    /// Without any record.
    pub fn new() -> Self {
        Database {
            records: Vec::new(),
            families: Vec::new(),
            names: Names::default(),
            watches: FieldWatches::default(),
            groups: Groups::default(),
            groups_changed: false,
            status: 0..0,
            vacant: Vec::new(),
            head: NONE,
            tail: NONE,
            now: Stamp::UNSET,
        }
    }

    /// The time that puts stamp with from now on.
    pub fn set_time(&mut self, now: Stamp) {
        self.now = now;
    }

    /// The time that puts are stamped with.
    pub fn time(&self) -> Stamp {
        self.now
    }

    /// Number of records; indices are below it.
    pub fn len(&self) -> u32 {
        self.records.len() as u32 + self.families.iter().map(|f| f.members.len() as u32).sum::<u32>()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Heap bytes of all records, names, values and queues, without the allocator's own overhead.
    pub fn heap_bytes(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
            + self.records.iter().map(Record::heap_bytes).sum::<usize>()
            + self.families.iter().map(Family::heap_bytes).sum::<usize>()
            + self.names.heap_bytes()
            + self.watches.heap_bytes()
            + self.groups.heap_bytes()
    }

    pub(super) fn place(&self, index: u32) -> Option<Place> {
        let mut position = index;
        for (number, family) in self.families.iter().enumerate() {
            let members = family.members.len() as u32;
            if index < family.first {
                break;
            }
            if index - family.first < members {
                return Some(Place::Member(number, (index - family.first) as usize));
            }
            position -= members;
        }
        ((position as usize) < self.records.len()).then_some(Place::Record(position as usize))
    }

    /// The record of this name or alias.
    pub(super) fn find_record(&self, name: &[u8]) -> Option<u32> {
        // A family looks at the length first, so that asking it costs other names nothing.
        self.families
            .iter()
            .find_map(|family| Some(family.first + family.find(name)? as u32))
            .or_else(|| self.names.find(name))
    }

    /// Looks a channel name up: a record, perhaps `.FIELD`, perhaps `$`. Constant time.
    pub fn find(&self, name: &[u8]) -> Option<(u32, View)> {
        let dot = name.iter().position(|&b| b == b'.');
        let index = self.find_record(&name[..dot.unwrap_or(name.len())])?;
        let Some(dot) = dot else { return Some((index, View::VALUE)) };
        let (field_name, long_text) = match &name[dot + 1..] {
            [field_name @ .., b'$'] => (field_name, true),
            field_name => (field_name, false),
        };
        let field_name = if field_name.is_empty() { b"VAL" } else { field_name };
        let type_ = self.type_of(index);
        let (number, field) = field::find(type_, field_name)?;
        (!long_text || access::is_text(field, type_)).then_some((index, View::new(number, long_text)))
    }

    fn type_of(&self, index: u32) -> RecordType {
        match self.place(index) {
            Some(Place::Record(position)) => self.records[position].type_,
            _ => family::TYPE,
        }
    }

    /// EPICS's name of the record's type; empty for no record.
    pub fn type_name(&self, index: u32) -> &'static str {
        if self.place(index).is_some() { self.type_of(index).name() } else { "" }
    }

    /// Hands the name of a record to `visit`.
    pub fn name<R>(&self, index: u32, visit: impl FnOnce(&[u8]) -> R) -> Option<R> {
        Some(match self.place(index)? {
            Place::Record(position) if self.records[position].name == NO_NAME => return None,
            Place::Record(position) => visit(self.names.get(self.records[position].name)),
            Place::Member(number, position) => {
                let (name, length) = self.families[number].name(position);
                visit(&name[..length])
            }
        })
    }

    /// Type and size of a view; a view that is none has no elements.
    pub fn info(&self, index: u32, view: View) -> Info {
        match (self.place(index), view.field()) {
            (Some(Place::Record(position)), Some(field)) => info(&self.records[position], field, view),
            (Some(Place::Member(number, position)), Some(field)) => {
                info(&self.families[number].members[position].as_record(), field, view)
            }
            _ => Info { native: NativeType::Double, max_count: 0 },
        }
    }

    /// Whether a client may write the view at all.
    pub fn is_writable(&self, index: u32, view: View) -> bool {
        match self.place(index) {
            Some(Place::Record(position)) => {
                let protected =
                    view.number() == View::VALUE.number() && self.records[position].has(flag::READ_ONLY);
                view.field().is_some_and(|field| field.put != Put::Never) && !protected
            }
            Some(Place::Member(..)) => view == View::VALUE,
            None => false,
        }
    }

    /// Hands the current reading of a view to `visit`; a status is computed now.
    pub fn read<R>(
        &mut self,
        index: u32,
        view: View,
        source: &dyn StatusSource,
        visit: impl FnOnce(&Reading<'_>) -> R,
    ) -> Option<R> {
        let place = self.place(index)?;
        if let Place::Member(number, position) = place {
            let member = &self.families[number].members[position];
            if view == View::VALUE {
                return Some(member.read(visit));
            }
            let (name, length) = self.families[number].name(position);
            let field = view.field()?;
            let name = if field.store == Store::AccessGroup { &[][..] } else { &name[..length] };
            return Some(access::read(&member.as_record(), name, field, view, visit));
        }
        let Place::Record(position) = place else { return None };
        if self.records[position].shows_status() {
            self.refresh(position, source);
        }
        let record = &self.records[position];
        if view == View::VALUE {
            return Some(record.read(visit));
        }
        let field = view.field()?;
        Some(match (&record.value, field.store) {
            (Value::LongText(text), Store::Value) => {
                record.read(|whole| visit(&Reading { elements: Elements::Char(text.chars()), ..*whole }))
            }
            (_, Store::AccessGroup) => {
                access::read(record, self.groups.name(record.group), field, view, visit)
            }
            (Value::Text(text), Store::Value) => access::long(text.as_bytes(), |chars| {
                record.read(|whole| visit(&Reading { elements: Elements::Char(chars), ..*whole }))
            }),
            _ => access::read(record, self.names.get(record.name), field, view, visit),
        })
    }

    /// Computes a status anew; tells whether its value is another one.
    fn refresh(&mut self, position: usize, source: &dyn StatusSource) -> bool {
        let now = self.now;
        let record = &mut self.records[position];
        let sample = status::item(record.status).and_then(|item| status::sample(item, source, now));
        record.stamp = now;
        match (sample, &mut record.value) {
            (Some(Sample::Number(new)), Value::Double(value)) => core::mem::replace(value, new) != new,
            (Some(Sample::Text(new)), Value::Text(text)) => core::mem::replace(&mut **text, new) != new,
            _ => false,
        }
    }

    /// Once a second: samples the status that somebody subscribes to.
    pub fn tick(&mut self, source: &dyn StatusSource) {
        for position in 0..self.records.len() {
            let record = &self.records[position];
            if record.shows_status()
                && record.has(flag::WATCHED | flag::FIELDS_WATCHED)
                && self.refresh(position, source)
            {
                let index = self.index_of(position);
                self.post(index, View::VALUE.number(), EventMask::VALUE.union(EventMask::LOG));
            }
        }
    }

    /// The index of a record's position.
    fn index_of(&self, position: usize) -> u32 {
        let mut index = position as u32;
        for family in &self.families {
            if index >= family.first {
                index += family.members.len() as u32;
            }
        }
        index
    }
}

fn info(record: &Record, field: &Field, view: View) -> Info {
    let native = field.native(record.type_, record.native());
    let native = if view.long_text() { NativeType::Char } else { native };
    Info { native, max_count: access::max_count(record, field, view) }
}

impl Member {
    fn read<R>(&self, visit: impl FnOnce(&Reading<'_>) -> R) -> R {
        const METADATA: Metadata<'static> = Metadata { precision: Some(0), ..Metadata::NONE };
        visit(&Reading {
            elements: Elements::Double(core::slice::from_ref(&self.value)),
            alarm: Alarm::NONE,
            stamp: self.stamp,
            metadata: &METADATA,
        })
    }
}

impl Record {
    /// It shows a status, which is computed when it is read.
    fn shows_status(&self) -> bool {
        self.status != 0 && self.status != APPLICATION
    }

    /// NORD; `None` for a scalar.
    pub(super) fn length(&self) -> Option<u32> {
        match &self.value {
            Value::Array(array) => Some(array.length()),
            Value::LongText(text) => Some(text.length()),
            _ => None,
        }
    }

    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize {
        let value = match &self.value {
            Value::State(_, Some(_)) => size_of::<super::record::States>(),
            Value::Text(_) => size_of::<Text>(),
            Value::LongText(text) => size_of::<super::long_text::LongText>() + text.size() as usize,
            Value::Array(array) => {
                size_of::<super::array::Array>()
                    + array.capacity() as usize * array.elements().native_type().size()
            }
            _ => 0,
        };
        let analog = self.analog.as_ref().map_or(0, |_| size_of::<super::record::Analog>());
        value + analog + self.description.as_ref().map_or(0, |_| size_of::<Text>())
    }
}
