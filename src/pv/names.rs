// SPDX-License-Identifier: BSD-2-Clause
//! Names to indices, in constant time: all names in one buffer, one hash table of where they are.

use super::{AddError, MAX_NAME};
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};

/// One name in the table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where it starts in `bytes`: its length, then its characters.
    at: u32,
    /// Index of the record; an alias has that of its record.
    index: u32,
}

/// The names of records and their aliases.
#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    table: HashTable<Entry>,
    hasher: DefaultHashBuilder,
}

/// Whether EPICS allows it as a record name.
pub(super) fn is_valid(name: &[u8]) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && !name.iter().any(|&b| b <= b' ' || b == 0x7f || matches!(b, b'"' | b'\'' | b'.' | b'$'))
}

fn text(bytes: &[u8], at: u32) -> &[u8] {
    let start = at as usize + 1;
    &bytes[start..start + usize::from(bytes[at as usize])]
}

impl Names {
    /// The name at a place that [`Names::insert`] returned.
    pub(super) fn get(&self, at: u32) -> &[u8] {
        text(&self.bytes, at)
    }

    /// The index of the record of this name.
    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.table.find(hash, |entry| text(&self.bytes, entry.at) == name).map(|entry| entry.index)
    }

    /// Adds a name; returns where it is.
    pub(super) fn insert(&mut self, name: &[u8], index: u32) -> Result<u32, AddError> {
        if !is_valid(name) {
            return Err(AddError::BadName);
        }
        if self.find(name).is_some() {
            return Err(AddError::NameTaken);
        }
        let at = u32::try_from(self.bytes.len()).map_err(|_| AddError::Memory)?;
        self.bytes.try_reserve(1 + name.len()).map_err(|_| AddError::Memory)?;
        let Names { bytes, table, hasher } = self;
        table.try_reserve(1, |entry| hasher.hash_one(text(bytes, entry.at))).map_err(|_| AddError::Memory)?;
        bytes.push(name.len() as u8);
        bytes.extend_from_slice(name);
        let hash = hasher.hash_one(name);
        // Room was reserved above, so that this neither allocates nor rehashes.
        table.insert_unique(hash, Entry { at, index }, |entry| hasher.hash_one(text(bytes, entry.at)));
        Ok(at)
    }

    /// Forgets one name of a record, if it has any: where it was, and by how much the names behind it have moved.
    pub(super) fn remove_of(&mut self, index: u32) -> Option<(u32, u32)> {
        let at = self.table.iter().find(|entry| entry.index == index)?.at;
        let name = text(&self.bytes, at);
        let length = name.len() as u32 + 1;
        let hash = self.hasher.hash_one(name);
        if let Ok(entry) = self.table.find_entry(hash, |entry| entry.at == at) {
            entry.remove();
        }
        self.bytes.drain(at as usize..(at + length) as usize);
        self.table.iter_mut().filter(|entry| entry.at > at).for_each(|entry| entry.at -= length);
        Some((at, length))
    }

    /// Forgets all names at or beyond a place: what [`Names::insert`] returned since then.
    pub(super) fn truncate(&mut self, at: u32) {
        self.table.retain(|entry| entry.at < at);
        self.bytes.truncate(at as usize);
    }

    /// Where the next name will be.
    pub(super) fn end(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Gives back what growth has reserved beyond need.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity() + self.table.allocation_size()
    }
}
