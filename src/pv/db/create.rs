// SPDX-License-Identifier: BSD-2-Clause
//! One record with its fields, as an application creates it.

use super::error::Place;
use super::loader::{Read, assign_all};
use crate::pv::record::Record;
use crate::pv::{Database, RecordType};
use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

/// Creates a record; `fields` are names and values as in a .db file. The error is a text without a place.
pub fn create(
    database: &mut Database,
    type_name: &str,
    name: &str,
    fields: &[(&str, &str)],
) -> Result<u32, Cow<'static, str>> {
    let type_ = RecordType::from_name(type_name)
        .ok_or_else(|| format!("record type \"{}\" is not supported", type_name.escape_debug()))?;
    let record = Record::new(type_).map_err(|_| "out of memory")?;
    let index = database
        .add_reusing(name.as_bytes(), record)
        .map_err(|error| format!("the name \"{}\" cannot be used: {error}", name.escape_debug()))?;
    const PLACE: Place = Place { line: 0, column: 0 };
    let mut reads = Vec::new();
    for (name, text) in fields {
        reads.push(Read {
            name: name.as_bytes().to_vec(),
            name_place: PLACE,
            text: text.as_bytes().to_vec(),
            place: PLACE,
            json: text.starts_with(['[', '{']),
        });
    }
    let mut process = Vec::new();
    if let Err(fault) = assign_all(database, index, &reads, &mut process) {
        database.remove(index);
        return Err(fault.message);
    }
    for index in process {
        database.process_at_start(index);
    }
    Ok(index)
}
