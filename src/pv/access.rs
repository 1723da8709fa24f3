// SPDX-License-Identifier: BSD-2-Clause
//! Reading and setting the fields of a record other than VAL.

use super::array::{Array, Post, native_of};
use super::boxed::{Boxed, made};
use super::field::{FIELDS, Field, FieldType, Number, Store, View};
use super::long_text::LongText;
use super::menu::Menu;
use super::record::{Record, STATE_NAME, Value, flag};
use super::{MAX_NAME, PutError, RecordType, ValueKind};
use crate::value::convert::{ConversionError, decode};
use crate::value::{Elements, Limits, Metadata, NativeType, Reading, Severity, States, Text, WireElements};

/// Room for the longest text of a field, with its terminator.
const LONGEST: usize = MAX_NAME + 7;

/// A field's content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content<'a> {
    Text(&'a [u8]),
    Number(f64),
    Choice(u16),
}

pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    &text[..text.iter().position(|&b| b == 0).unwrap_or(text.len())]
}

/// What a field of the record holds. VAL is not read this way: it reads as 0.
pub(super) fn get<'a>(record: &'a Record, name: &'a [u8], field: &Field) -> Content<'a> {
    let analog = record.analog.as_deref();
    let states = match &record.value {
        Value::State(_, Some(states)) => Some(&**states),
        _ => None,
    };
    let array = match &record.value {
        Value::Array(array) => Some(&**array),
        _ => None,
    };
    let text = match &record.value {
        Value::LongText(text) => Some(&**text),
        _ => None,
    };
    let choice = |severity: Severity| Content::Choice(severity as u16);
    match field.store {
        // The database gives the group's name in place of the record's.
        Store::Name | Store::AccessGroup => Content::Text(name),
        Store::TypeName => Content::Text(record.type_.name().as_bytes()),
        Store::Description => Content::Text(record.description.as_ref().map_or(&[], |d| d.as_bytes())),
        Store::Units => Content::Text(analog.map_or(&[], |a| trimmed(&a.units))),
        Store::Precision => Content::Number(analog.map_or(0.0, |a| f64::from(a.precision))),
        Store::Number(number) => Content::Number(match (analog, number) {
            (Some(analog), _) => analog.number(number),
            (None, Number::Lalm | Number::Mlst | Number::Alst) => record.number().unwrap_or_default(),
            (None, _) => 0.0,
        }),
        Store::LimitSeverity(limit) => {
            choice(analog.map_or(Severity::None, |a| a.severities[limit as usize]))
        }
        Store::StateName(state) => Content::Text(states.map_or(&[], |s| s.name(usize::from(state)))),
        Store::StateSeverity(state) => {
            choice(states.map_or(Severity::None, |s| s.severities[usize::from(state)]))
        }
        Store::StateRaw(state) => {
            Content::Number(states.map_or(0.0, |s| f64::from(s.raw[usize::from(state)])))
        }
        Store::UnknownSeverity => choice(states.map_or(Severity::None, |s| s.unknown)),
        Store::ChangeSeverity => choice(states.map_or(Severity::None, |s| s.change)),
        Store::Status => Content::Choice(record.alarm.status as u16),
        Store::Severity => choice(record.alarm.severity),
        Store::AckSeverity => choice(record.unacknowledged),
        Store::AckTransient => Content::Choice(u16::from(!record.has(flag::NO_TRANSIENT_ACK))),
        Store::AtStart => Content::Choice(u16::from(record.has(flag::PROCESSED_AT_START))),
        Store::Undefined => Content::Number(f64::from(u8::from(record.has(flag::UNDEFINED)))),
        Store::MaxElements => Content::Number(array.map_or(0.0, |a| f64::from(a.capacity()))),
        Store::Length => Content::Number(f64::from(
            array.map(Array::length).or(text.map(LongText::length)).unwrap_or_default(),
        )),
        Store::ElementType => Content::Choice(array.map_or(0, |a| u16::from(a.element_type))),
        Store::PostValue => Content::Choice(
            array.map_or(0, |a| a.post_value as u16) + text.map_or(0, |t| posts(t.post_value)),
        ),
        Store::PostLog => {
            Content::Choice(array.map_or(0, |a| a.post_log as u16) + text.map_or(0, |t| posts(t.post_log)))
        }
        Store::TextSize => Content::Number(text.map_or(0.0, |t| f64::from(t.size()))),
        Store::Value | Store::Process => Content::Number(0.0),
        Store::Constant(number) => match field.type_ {
            FieldType::Text(_) => Content::Text(&[]),
            FieldType::Menu(_) => Content::Choice(number as u16),
            _ => Content::Number(f64::from(number)),
        },
    }
}

/// Hands a field other than VAL to `visit`, in the field's own type or, for a long-text view, as an array of CHAR.
pub(super) fn read<R>(
    record: &Record,
    name: &[u8],
    field: &Field,
    view: View,
    visit: impl FnOnce(&Reading<'_>) -> R,
) -> R {
    let metadata = &metadata(record, field);
    let reading = |elements: Elements<'_>| {
        visit(&Reading { elements, alarm: record.alarm, stamp: record.stamp, metadata })
    };
    match (get(record, name, field), field.native(record.type_, record.native())) {
        (Content::Text(text), _) if view.long_text() => long(text, |chars| reading(Elements::Char(chars))),
        (Content::Text(text), _) => reading(Elements::String(&[Text::truncated(text).0])),
        (Content::Choice(choice), _) => reading(Elements::Enum(&[choice])),
        (Content::Number(number), NativeType::Long) => reading(Elements::Long(&[number as i32])),
        (Content::Number(number), NativeType::Short) => reading(Elements::Short(&[number as i16])),
        (Content::Number(number), NativeType::Char) => reading(Elements::Char(&[number as u8])),
        (Content::Number(number), _) if is_int64(record, field) => reading(Elements::Int64(&[number as i64])),
        (Content::Number(number), _) => reading(Elements::Double(&[number])),
    }
}

/// MPST and APST of a text say the same as those of an array in the other order.
fn posts(post: Post) -> u16 {
    u16::from(post == Post::Always)
}

/// A number of an int64in or int64out.
fn is_int64(record: &Record, field: &Field) -> bool {
    field.type_ == FieldType::Number && matches!(record.value, Value::Int64(_))
}

/// Text as characters with one terminator.
pub(super) fn long<R>(text: &[u8], visit: impl FnOnce(&[u8]) -> R) -> R {
    let mut chars = [0; LONGEST];
    let length = text.len().min(LONGEST - 1);
    chars[..length].copy_from_slice(&text[..length]);
    visit(&chars[..=length])
}

/// Numbers of an analogue record share the units and precision of its value, and limits like alarms its range, too;
/// other fields can be whatever their type holds.
fn metadata(record: &Record, field: &Field) -> Metadata<'static> {
    if let FieldType::Menu(menu) = field.type_ {
        return Metadata { states: States(menu), ..Metadata::NONE };
    }
    let of_value = record.plain_metadata();
    let whole = range(record, field);
    let (display, control) = match field.store {
        Store::Number(
            Number::Hihi
            | Number::High
            | Number::Low
            | Number::Lolo
            | Number::Lalm
            | Number::Mlst
            | Number::Alst,
        ) => (of_value.display, of_value.control),
        // A bo has limits for puts only, an mbbo or text none.
        _ => match record.type_ {
            RecordType::Bo => (Limits::default(), whole),
            RecordType::Bi
            | RecordType::Mbbo
            | RecordType::Mbbi
            | RecordType::Stringin
            | RecordType::Stringout
            | RecordType::Lsi
            | RecordType::Lso => Default::default(),
            _ => (whole, whole),
        },
    };
    match field.type_ {
        FieldType::Number => Metadata {
            units: of_value.units,
            precision: of_value.precision,
            display,
            control,
            ..Metadata::NONE
        },
        FieldType::UnsignedLong => Metadata { precision: Some(0), display, control, ..Metadata::NONE },
        FieldType::Short | FieldType::UnsignedShort | FieldType::Char => {
            Metadata { display, control, ..Metadata::NONE }
        }
        _ => Metadata::NONE,
    }
}

/// The limits of a field that has none of its own, as EPICS gives them.
fn range(record: &Record, field: &Field) -> Limits {
    let (lower, upper) = match (field.store, field.native(record.type_, record.native())) {
        (Store::Length, _) => (0.0, f64::from(max_count(record, &FIELDS[0], View::VALUE))),
        (Store::MaxElements, _) => (0.0, f64::from(u32::MAX)),
        _ if is_int64(record, field) => (i64::MIN as f64, i64::MAX as f64),
        (_, NativeType::Long) => (f64::from(i32::MIN), f64::from(i32::MAX)),
        (_, NativeType::Short) => (f64::from(i16::MIN), f64::from(i16::MAX)),
        (_, NativeType::Char) => (0.0, f64::from(u8::MAX)),
        _ => (-1e300, 1e300),
    };
    Limits { lower, upper }
}

/// The most elements of a field's view.
pub(super) fn max_count(record: &Record, field: &Field, view: View) -> u32 {
    match (field.type_, &record.value) {
        (FieldType::Value, Value::Array(array)) => array.capacity(),
        (FieldType::Value, Value::Text(_)) if view.long_text() => Text::SIZE as u32,
        (FieldType::Value, Value::LongText(text)) if view.long_text() => text.size(),
        (FieldType::Text(most), _) if view.long_text() => u32::from(most) + 1,
        _ => 1,
    }
}

/// Sets a field other than VAL from a put.
pub(super) fn put(record: &mut Record, field: &Field, put: &WireElements<'_>) -> Result<(), PutError> {
    match field.type_ {
        FieldType::Text(_) if put.from == NativeType::Char => {
            let chars = &put.bytes[..put.bytes.len().min(put.count as usize)];
            set(record, field, Content::Text(trimmed(chars)))
        }
        FieldType::Text(_) => set(record, field, Content::Text(one(put, Text::EMPTY)?.as_bytes())),
        FieldType::Menu(menu) => {
            let metadata = Metadata { states: States(menu), ..Metadata::NONE };
            let mut choice = [0u16];
            decode(put, &metadata, &mut choice)?;
            set(record, field, Content::Choice(choice[0]))
        }
        _ => {
            let number = match field.native(record.type_, record.native()) {
                NativeType::Long => f64::from(one(put, 0i32)?),
                NativeType::Short => f64::from(one(put, 0i16)?),
                NativeType::Char => f64::from(one(put, 0u8)?),
                _ if is_int64(record, field) => one(put, 0i64)? as f64,
                _ => one(put, 0f64)?,
            };
            set(record, field, Content::Number(number))
        }
    }
}

pub(super) fn one<T: crate::value::convert::Element>(
    put: &WireElements<'_>,
    zero: T,
) -> Result<T, ConversionError> {
    let mut element = [zero];
    decode(put, &Metadata::NONE, &mut element)?;
    Ok(element[0])
}

/// Copies text into a NUL-padded field, cutting what does not fit before the terminator.
fn fill(field: &mut [u8], text: &[u8]) {
    let length = text.len().min(field.len() - 1);
    field[..length].copy_from_slice(&text[..length]);
    field[length..].fill(0);
}

fn menu_choice(content: Content<'_>, menu: Menu) -> Result<u16, PutError> {
    match content {
        Content::Choice(choice) if usize::from(choice) < menu.len() => Ok(choice),
        _ => Err(PutError::Conversion(ConversionError::Range)),
    }
}

/// Sets a field other than VAL. Fields that are the record's own business, too: whoever asks decides.
pub(super) fn set(record: &mut Record, field: &Field, content: Content<'_>) -> Result<(), PutError> {
    const WRONG: PutError = PutError::Conversion(ConversionError::Unsupported);
    let text = || if let Content::Text(text) = content { Ok(text) } else { Err(WRONG) };
    let number = || if let Content::Number(number) = content { Ok(number) } else { Err(WRONG) };
    let choice =
        || if let FieldType::Menu(menu) = field.type_ { menu_choice(content, menu) } else { Err(WRONG) };
    match field.store {
        Store::Description => {
            let text = Text::truncated(text()?).0;
            *made(&mut record.description, || Text::EMPTY)? = text;
        }
        Store::Units => fill(&mut record.analog_mut()?.units, text()?),
        Store::Precision => record.analog_mut()?.precision = number()? as i16,
        Store::Number(which) => record.analog_mut()?.set_number(which, number()?),
        Store::LimitSeverity(limit) => {
            record.analog_mut()?.severities[limit as usize] = Severity::from_code(choice()?)
        }
        Store::StateName(state) => {
            let name = text()?;
            let states = record.states_mut().ok_or(WRONG)??;
            fill(&mut states.names[usize::from(state)][..STATE_NAME], name);
        }
        Store::StateSeverity(state) => {
            let severity = Severity::from_code(choice()?);
            record.states_mut().ok_or(WRONG)??.severities[usize::from(state)] = severity;
        }
        Store::StateRaw(state) => {
            let raw = number()? as u32;
            record.states_mut().ok_or(WRONG)??.raw[usize::from(state)] = raw;
        }
        Store::UnknownSeverity => record.states_mut().ok_or(WRONG)??.unknown = Severity::from_code(choice()?),
        Store::ChangeSeverity => record.states_mut().ok_or(WRONG)??.change = Severity::from_code(choice()?),
        Store::Undefined => record.set_flag(flag::UNDEFINED, number()? != 0.0),
        Store::PostValue => match &mut record.value {
            Value::LongText(text) => text.post_value = post(1 - choice()?),
            _ => array(record)?.post_value = post(choice()?),
        },
        Store::PostLog => match &mut record.value {
            Value::LongText(text) => text.post_log = post(1 - choice()?),
            _ => array(record)?.post_log = post(choice()?),
        },
        Store::TextSize => {
            record.value = Value::LongText(Boxed::new(LongText::with_size(number()? as u16)?)?)
        }
        Store::Process => {}
        Store::MaxElements => resize(record, None, Some(number()?))?,
        Store::ElementType => resize(record, Some(choice()?), None)?,
        Store::AckTransient => record.set_flag(flag::NO_TRANSIENT_ACK, choice()? == 0),
        Store::Value
        | Store::Name
        | Store::TypeName
        | Store::Status
        | Store::Severity
        | Store::AckSeverity
        | Store::Length
        | Store::AccessGroup
        | Store::AtStart
        | Store::Constant(_) => return Err(PutError::ReadOnly),
    }
    Ok(())
}

fn post(choice: u16) -> Post {
    if choice == 0 { Post::Always } else { Post::OnChange }
}

pub(super) fn array(record: &mut Record) -> Result<&mut Array, PutError> {
    match &mut record.value {
        Value::Array(array) => Ok(array),
        _ => Err(PutError::Conversion(ConversionError::Unsupported)),
    }
}

/// Makes the array anew with another FTVL or NELM.
fn resize(record: &mut Record, element_type: Option<u16>, capacity: Option<f64>) -> Result<(), PutError> {
    const RANGE: PutError = PutError::Conversion(ConversionError::Range);
    let old = array(record)?;
    let element_type = match element_type {
        Some(choice) => u8::try_from(choice).ok().filter(|c| native_of(*c).is_some()).ok_or(RANGE)?,
        None => old.element_type,
    };
    let capacity = match capacity {
        Some(count) if (1.0..=f64::from(u32::MAX)).contains(&count) => count as u32,
        Some(_) => return Err(RANGE),
        None => old.capacity(),
    };
    record.value = Value::Array(Boxed::new(Array::new(element_type, capacity)?)?);
    Ok(())
}

/// Whether the type has this field at all, as text that `$` can show.
pub(super) fn is_text(field: &Field, type_: RecordType) -> bool {
    match field.type_ {
        FieldType::Text(_) => true,
        FieldType::Value => matches!(type_.value(), ValueKind::Text | ValueKind::LongText),
        _ => false,
    }
}
