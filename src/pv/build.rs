// SPDX-License-Identifier: BSD-2-Clause
//! Adding records to the database.

use super::database::{Database, NONE, Place};
use super::family::{self, Family};
use super::process::{self, Before};
use super::record::{Record, flag};
use super::{AddError, StatusSource, names, status};
use crate::value::Alarm;
use alloc::vec::Vec;

impl Database {
    /// Adds a record; the time and memory are found, or nothing changes.
    pub(super) fn add(&mut self, name: &[u8], mut record: Record) -> Result<u32, AddError> {
        if self.find_record(name).is_some() {
            return Err(AddError::NameTaken);
        }
        let index = self.len();
        if index >= NONE - 1 {
            return Err(AddError::Memory);
        }
        if self.records.len() == self.records.capacity() {
            // A quarter more: doubling would waste too much of a small board.
            let more = (self.records.len() / 4).max(16);
            self.records.try_reserve_exact(more).map_err(|_| AddError::Memory)?;
        }
        record.name = self.names.insert(name, index)?;
        self.records.push(record);
        Ok(index)
    }

    /// Adds another name for a record.
    pub fn add_alias(&mut self, name: &[u8], index: u32) -> Result<(), AddError> {
        if self.find_record(name).is_some() {
            return Err(AddError::NameTaken);
        }
        self.names.insert(name, index).map(|_| ())
    }

    /// Adds a writable double of this name, without metadata and with a value from the start.
    pub fn add_double(&mut self, name: &[u8]) -> Result<u32, AddError> {
        let mut record = Record::new(family::TYPE)?;
        record.alarm = Alarm::NONE;
        record.set_flag(flag::UNDEFINED, false);
        self.add(name, record)
    }

    /// Adds `count` such doubles: `base` followed by six digits, from 000000.
    pub fn add_family(&mut self, base: &[u8], count: u32) -> Result<(), AddError> {
        if !names::is_valid(base) {
            return Err(AddError::BadName);
        }
        let first = self.len();
        if first.checked_add(count).is_none_or(|end| end >= NONE - 1) {
            return Err(AddError::Memory);
        }
        let family = Family::new(base, first, count)?;
        self.families.try_reserve_exact(1).map_err(|_| AddError::Memory)?;
        self.families.push(family);
        Ok(())
    }

    /// Adds a record for each status that the source knows: `prefix:MEM_FREE` and so on.
    pub fn add_status(&mut self, prefix: &[u8], source: &dyn StatusSource) -> Result<(), AddError> {
        let first = self.records.len();
        for (item, suffix) in status::items() {
            if let Some(sample) = status::sample(item, source, self.now) {
                let mut name = Vec::new();
                name.try_reserve_exact(prefix.len() + 1 + suffix.len()).map_err(|_| AddError::Memory)?;
                name.extend_from_slice(prefix);
                name.push(b':');
                name.extend_from_slice(suffix.as_bytes());
                self.add(&name, status::record(item, sample)?)?;
            }
        }
        let start = if self.status.is_empty() { first } else { self.status.start };
        self.status = start..self.records.len();
        Ok(())
    }

    /// Where to go back to with [`Database::roll_back`].
    pub(super) fn mark(&self) -> (usize, u32) {
        (self.records.len(), self.names.end())
    }

    /// Forgets the records and names added since the mark; nobody may have found them yet.
    pub(super) fn roll_back(&mut self, (records, names): (usize, u32)) {
        self.records.truncate(records);
        self.names.truncate(names);
    }

    /// Gives back memory that growth has reserved beyond need.
    pub fn shrink(&mut self) {
        self.records.shrink_to_fit();
        self.names.shrink();
    }

    /// A record that is being loaded; members of families have nothing to load.
    pub(super) fn record_mut(&mut self, index: u32) -> Option<&mut Record> {
        match self.place(index)? {
            Place::Record(position) => self.records.get_mut(position),
            Place::Member(..) => None,
        }
    }

    /// Processes a record that has just been loaded: the value it was given is its first.
    pub(super) fn process_at_start(&mut self, index: u32) {
        let now = self.now;
        if let Some(record) = self.record_mut(index) {
            record.set_flag(flag::PROCESSED_AT_START, true);
            let before = Before::now(record);
            process::process(record, before, Alarm::NONE, now);
        }
    }
}
