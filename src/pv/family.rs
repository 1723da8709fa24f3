// SPDX-License-Identifier: BSD-2-Clause
//! Many alike records under one name: `catime000000`, `catime000001`, ... for the benchmark of that name.
//!
//! Their names are parsed, not stored, and each has only a value, a stamp and its place in the queue of changes.

use super::record::{Record, Value, flag};
use super::{AddError, OutOfMemory, RecordType};
use crate::value::{Alarm, EventMask, Stamp};
use alloc::vec::Vec;

/// Digits of the number after the base name, as catime appends them.
const DIGITS: usize = 6;
/// What that many digits can number.
const MAX_MEMBERS: u32 = 1_000_000;

/// One of them: an `ao` without metadata that has a value from the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) value: f64,
    pub(super) stamp: Stamp,
    pub(super) next: u32,
    pub(super) pending: EventMask,
    pub(super) flags: u8,
}

/// The record type that they pretend to have.
pub(super) const TYPE: RecordType = RecordType::Ao;

/// A base name and its numbered records.
#[derive(Debug)]
pub(super) struct Family {
    base: Vec<u8>,
    /// Index of the first one.
    pub(super) first: u32,
    pub(super) members: Vec<Member>,
}

impl Family {
    pub(super) fn new(base: &[u8], first: u32, count: u32) -> Result<Self, AddError> {
        let count = if count <= MAX_MEMBERS { count as usize } else { return Err(AddError::Memory) };
        let mut family = Family { base: Vec::new(), first, members: Vec::new() };
        family.base.try_reserve_exact(base.len()).map_err(|_| OutOfMemory)?;
        family.base.extend_from_slice(base);
        family.members.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        let member = Member { value: 0.0, stamp: Stamp::UNSET, next: 0, pending: EventMask(0), flags: 0 };
        family.members.resize(count, member);
        Ok(family)
    }

    /// The position of the member of this name.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        if name.len() != self.base.len() + DIGITS {
            return None;
        }
        let digits = name.strip_prefix(&*self.base)?;
        let mut number = 0;
        for digit in digits {
            number = number * 10 + usize::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        (number < self.members.len()).then_some(number)
    }

    /// The name of a member.
    pub(super) fn name(&self, position: usize) -> ([u8; super::MAX_NAME + DIGITS], usize) {
        let mut name = [0; super::MAX_NAME + DIGITS];
        let base = self.base.len().min(super::MAX_NAME);
        name[..base].copy_from_slice(&self.base[..base]);
        let mut number = position;
        for digit in name[base..base + DIGITS].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
        (name, base + DIGITS)
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.base.capacity() + self.members.capacity() * size_of::<Member>()
    }
}

impl Member {
    /// The same as a record, for reading its fields.
    pub(super) fn as_record(&self) -> Record {
        Record {
            name: 0,
            next: 0,
            stamp: self.stamp,
            value: Value::Double(self.value),
            analog: None,
            description: None,
            type_: TYPE,
            alarm: Alarm::NONE,
            unacknowledged: Default::default(),
            pending: EventMask(0),
            flags: self.flags & !flag::UNDEFINED,
            status: 0,
            group: 0,
        }
    }
}
