// SPDX-License-Identifier: BSD-2-Clause
//! Setting VAL of a record from a put: what a value of each kind takes, and what it is refused.

use super::access::{array, one, trimmed};
use super::field::View;
use super::process::Before;
use super::record::{Record, Value, flag};
use super::{PutError, RecordType};
use crate::value::convert::{ConversionError, decode};
use crate::value::{Metadata, NativeType, Text, WireElements};

/// The text of a put; characters are text where the view shows text as characters.
pub(super) fn text(put: &WireElements<'_>, view: View) -> Result<Text, ConversionError> {
    if put.from == NativeType::Char && view.long_text() {
        return Ok(Text::truncated(&put.bytes[..put.bytes.len().min(put.count as usize)]).0);
    }
    one(put, Text::EMPTY)
}

/// The state of a put.
pub(super) fn state(record: &Record, put: &WireElements<'_>) -> Result<u16, ConversionError> {
    let mut new = [0];
    if put.from == NativeType::String && record.type_ != RecordType::Mbbo {
        only_a_state(record, put)?;
    }
    record.with_metadata(|metadata| decode(put, metadata, &mut new))?;
    Ok(new[0])
}

/// Sets VAL of a record from a put; tells what it was before.
pub(super) fn put_value(record: &mut Record, put: &WireElements<'_>, view: View) -> Result<Before, PutError> {
    let before = Before::now(record);
    match &mut record.value {
        Value::Double(value) => {
            let mut new = [*value];
            decode(put, &Metadata::NONE, &mut new)?;
            *value = new[0];
        }
        Value::Long(value) => {
            let mut new = [*value];
            decode(put, &Metadata::NONE, &mut new)?;
            *value = new[0];
        }
        Value::State(..) => {
            let new = state(record, put)?;
            if let Value::State(state, _) = &mut record.value {
                *state = new;
            }
        }
        Value::Int64(value) => {
            let mut new = [*value];
            decode(put, &Metadata::NONE, &mut new)?;
            *value = new[0];
        }
        Value::LongText(text) => {
            let changed = if put.from == NativeType::Char && view.long_text() {
                text.set(&put.bytes[..put.bytes.len().min(put.count as usize)])
            } else {
                text.set(one(put, Text::EMPTY)?.as_bytes())
            };
            record.set_flag(flag::UNDEFINED, false);
            return Ok(Before::Text(changed));
        }
        Value::Text(text) => {
            let new = self::text(put, view)?;
            let changed = **text != new;
            **text = new;
            record.set_flag(flag::UNDEFINED, false);
            return Ok(Before::Text(changed));
        }
        Value::Array(_) => {
            let precision = Some(record.analog.as_ref().map_or(0, |a| a.precision));
            array(record)?.put(put, &Metadata { precision, ..Metadata::NONE })?;
        }
    }
    record.set_flag(flag::UNDEFINED, false);
    Ok(before)
}

/// All but an mbbo take a state's name or number and nothing behind it.
fn only_a_state(record: &Record, put: &WireElements<'_>) -> Result<(), ConversionError> {
    let text = trimmed(put.bytes);
    let is_name = record.with_metadata(|metadata| metadata.states.0.contains(&text));
    let digits = text.trim_ascii();
    let digits = digits.strip_prefix(b"+").or(digits.strip_prefix(b"-")).unwrap_or(digits);
    if is_name || digits.iter().all(u8::is_ascii_digit) { Ok(()) } else { Err(ConversionError::NotANumber) }
}
