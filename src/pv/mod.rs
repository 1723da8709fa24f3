// SPDX-License-Identifier: BSD-2-Clause
//! The process variables that the server serves.
//!
//! [`Database`] holds records with dense indices, looks names up in constant time and processes puts as EPICS's
//! records do: limits, alarms, deadbands, time stamps. What subscribers should hear of waits in a queue that needs no
//! memory of its own: one link and one mask per record, so the newest value wins and nothing is lost.
//!
//! It knows neither the protocol nor a clock: time is set from outside, status values come from a [`StatusSource`].

mod access;
mod acknowledge;
mod application;
mod array;
mod boxed;
mod build;
mod changes;
mod database;
pub mod db;
mod family;
pub mod field;
mod groups;
mod long_text;
mod menu;
mod names;
mod process;
mod put_value;
mod record;
mod record_type;
pub mod status;
#[cfg(test)]
pub(crate) mod tests;
mod watch;
mod write;

pub use application::{Incoming, Kind};
pub use array::MAX_ARRAY_BYTES;
pub use changes::Change;
pub use database::{Database, Info};
pub use field::View;
pub use groups::MAX_GROUP;
pub use record_type::{RecordType, ValueKind};
pub use status::StatusSource;

use crate::value::convert::ConversionError;

/// The longest record name, as in EPICS.
pub const MAX_NAME: usize = 60;

/// There was no memory for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Why a put failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutError {
    /// No such record or field.
    Unknown,
    /// The value does not convert.
    Conversion(ConversionError),
    /// The record or field may not be written.
    ReadOnly,
    /// The application refuses the value.
    Refused,
    /// Too many puts have not ended.
    Busy,
    /// No memory.
    Memory,
}

impl From<ConversionError> for PutError {
    fn from(error: ConversionError) -> Self {
        PutError::Conversion(error)
    }
}

impl From<OutOfMemory> for PutError {
    fn from(_: OutOfMemory) -> Self {
        PutError::Memory
    }
}

/// Why a record could not be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// The name is empty, longer than [`MAX_NAME`] or contains a character that EPICS forbids.
    BadName,
    /// A record or alias of this name exists.
    NameTaken,
    /// No memory, or too many records.
    Memory,
}

impl From<OutOfMemory> for AddError {
    fn from(_: OutOfMemory) -> Self {
        AddError::Memory
    }
}

impl core::fmt::Display for AddError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            AddError::BadName => "names have 1 to 60 characters, without blanks, quotes, '.' or '$'",
            AddError::NameTaken => "the name is taken",
            AddError::Memory => "out of memory",
        })
    }
}
