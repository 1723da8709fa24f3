// SPDX-License-Identifier: BSD-2-Clause
//! Fields from their text in a .db file.

use super::error::{Fault, Place, Quoted, fault};
use super::rules::{self, Rule};
use crate::pv::access::{self, Content};
use crate::pv::field::{self, Field, FieldType, Put, Store, View};
use crate::pv::menu::Menu;
use crate::pv::record::{Record, Value, flag};
use crate::pv::{PutError, RecordType, put_value};
use crate::value::convert::ConversionError;
use crate::value::{Alarm, NativeType, Severity, Status, Text};
use alloc::vec::Vec;

/// What a field asked for beyond its own value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Nothing.
    Nothing,
    /// Process the record when all is loaded.
    ProcessAtStart,
}

/// The value of a field and where it stands.
pub(super) struct Assignment<'a> {
    pub(super) name: &'a [u8],
    pub(super) name_place: Place,
    pub(super) text: &'a [u8],
    pub(super) place: Place,
    /// The text is a JSON array or object.
    pub(super) json: bool,
}

/// Sets a field of a new record.
pub(super) fn assign(record: &mut Record, assignment: &Assignment<'_>) -> Result<Wish, Fault> {
    let type_ = record.type_;
    match rules::find(type_, assignment.name) {
        Some(Rule::Ignore) => Ok(Wish::Nothing),
        Some(Rule::Only(allowed, remedy)) => {
            let text = assignment.text.trim_ascii();
            if allowed.iter().any(|a| a.as_bytes() == text) {
                Ok(Wish::Nothing)
            } else {
                Err(fault!(
                    assignment.place,
                    "{} {} of {} is not supported: {remedy}",
                    assignment.name.escape_ascii(),
                    Quoted(text),
                    type_.name()
                ))
            }
        }
        Some(Rule::ProcessAtStart) => match assignment.text.trim_ascii() {
            b"" | b"NO" | b"0" => Ok(Wish::Nothing),
            b"YES" | b"RUN" | b"RUNNING" | b"1" | b"2" | b"3" => Ok(Wish::ProcessAtStart),
            text => Err(fault!(assignment.place, "PINI {} is not supported: use YES or NO", Quoted(text))),
        },
        Some(Rule::Initial) => initial(record, assignment).map(|()| Wish::Nothing),
        None => known(record, assignment).map(|()| Wish::Nothing),
    }
}

fn known(record: &mut Record, assignment: &Assignment<'_>) -> Result<(), Fault> {
    let (name, place, type_) = (assignment.name, assignment.place, record.type_);
    let loadable = |field: &Field| {
        field.put != Put::Never
            || matches!(field.store, Store::MaxElements | Store::ElementType | Store::TextSize)
    };
    let Some((_, field)) = field::find(type_, name).filter(|(_, field)| loadable(field)) else {
        return Err(unknown_field(type_, name, assignment.name_place, &loadable));
    };
    if assignment.json {
        return Err(fault!(place, "field {} takes no JSON; give a number or text", name.escape_ascii()));
    }
    if field.store == Store::Value {
        if matches!(record.value, Value::Array(_)) {
            return Err(fault!(
                place,
                "VAL of a waveform cannot be given; use INP with a constant array: [1, 2, 3]"
            ));
        }
        if matches!(record.value, Value::LongText(_)) {
            return Err(fault!(
                place,
                "VAL of {} cannot be given; use {} with a constant: {{const:\"text\"}}",
                type_.name(),
                if type_ == RecordType::Lsi { "INP" } else { "DOL" }
            ));
        }
        value(record, assignment.text, place)?;
        record.set_flag(flag::UNDEFINED, false);
        record.alarm = Alarm { status: Status::Undefined, severity: Severity::None };
        return Ok(());
    }
    let content = match field.type_ {
        FieldType::Text(most) => {
            if assignment.text.len() > usize::from(most) {
                return Err(fault!(
                    place,
                    "{} has {} characters; {most} is the most",
                    name.escape_ascii(),
                    assignment.text.len()
                ));
            }
            Content::Text(assignment.text)
        }
        FieldType::Menu(menu) => Content::Choice(choice(menu, assignment.text, place)?),
        _ => Content::Number(match field.native(type_, record.native()) {
            NativeType::Double
                if matches!(record.value, Value::Int64(_)) && field.type_ == FieldType::Number =>
            {
                integer(assignment.text, i64::MIN, i64::MAX, place)? as f64
            }
            NativeType::Double if field.type_ != FieldType::UnsignedLong => number(assignment.text, place)?,
            NativeType::Short => integer(assignment.text, i16::MIN.into(), i16::MAX.into(), place)? as f64,
            NativeType::Char => integer(assignment.text, 0, 255, place)? as f64,
            _ if field.type_ == FieldType::UnsignedShort => {
                integer(assignment.text, 0, u16::MAX.into(), place)? as f64
            }
            NativeType::Long => integer(assignment.text, i32::MIN.into(), i32::MAX.into(), place)? as f64,
            _ => integer(assignment.text, 0, u32::MAX.into(), place)? as f64,
        }),
    };
    access::set(record, field, content).map_err(|error| put_fault(error, name, place))
}

/// Names all fields that there are, for the one that was meant is among them, or there is none.
fn unknown_field(type_: RecordType, name: &[u8], place: Place, loadable: &dyn Fn(&Field) -> bool) -> Fault {
    let mut known: Vec<&str> =
        field::of(type_).filter(|field| loadable(field)).map(|field| field.name).collect();
    known.extend(rules::effective(type_));
    known.sort_unstable();
    fault!(
        place,
        "field {} of {} is not supported; remove it or use one of {}",
        Quoted(name),
        type_.name(),
        known.join(", ")
    )
}

fn put_fault(error: PutError, name: &[u8], place: Place) -> Fault {
    match error {
        PutError::Memory => {
            Fault { out_of_memory: true, ..fault!(place, "out of memory for {}", name.escape_ascii()) }
        }
        PutError::Conversion(ConversionError::Range) => {
            fault!(place, "{} is out of range", name.escape_ascii())
        }
        _ => fault!(place, "{} cannot be set", name.escape_ascii()),
    }
}

/// The text as VAL of a scalar.
fn value(record: &mut Record, text: &[u8], place: Place) -> Result<(), Fault> {
    match &mut record.value {
        Value::Double(value) => *value = number(text, place)?,
        Value::Long(value) => *value = integer(text, i32::MIN.into(), i32::MAX.into(), place)? as i32,
        Value::Int64(value) => *value = integer(text, i64::MIN, i64::MAX, place)?,
        Value::State(value, _) => *value = integer(text, 0, u16::MAX.into(), place)? as u16,
        Value::Text(value) => {
            let (new, whole) = Text::truncated(text);
            if !whole {
                return Err(fault!(place, "the text has {} characters; 39 is the most", text.len()));
            }
            **value = new;
        }
        // Never given as VAL.
        Value::LongText(_) | Value::Array(_) => {}
    }
    Ok(())
}

/// INP or DOL: a constant is the initial value, as in a real IOC it leaves the record undefined until it processes.
fn initial(record: &mut Record, assignment: &Assignment<'_>) -> Result<(), Fault> {
    let (text, place) = (assignment.text.trim_ascii(), assignment.place);
    if text.is_empty() {
        return Ok(());
    }
    let is_array = matches!(record.value, Value::Array(_));
    let is_text = matches!(record.value, Value::Text(_) | Value::LongText(_));
    if is_array && text.starts_with(b"[") {
        array(record, text, place)?;
    } else if let Some(constant) = constant_text(text).filter(|_| is_text) {
        match &mut record.value {
            Value::LongText(value) => drop(value.set(constant)),
            Value::Text(value) => **value = Text::truncated(constant).0,
            _ => {}
        }
    } else if assignment.json || text.starts_with(b"{") {
        return Err(fault!(place, "JSON links are not supported; give a constant"));
    } else if constant(text).is_none() {
        return Err(fault!(
            place,
            "{} {} is a link, and links are not followed here; give a constant or remove it",
            assignment.name.escape_ascii(),
            Quoted(text)
        ));
    } else if !is_array && !is_text {
        value(record, text, place)?;
    } else {
        // A number alone is no array, and a text takes no number: as in a real IOC, they stay as they are.
        return Ok(());
    }
    record.set_flag(flag::UNDEFINED, false);
    Ok(())
}

/// The text of a constant link: `{const:"text"}` or `["text"]`.
fn constant_text(json: &[u8]) -> Option<&[u8]> {
    let inside = match json {
        [b'[', inside @ .., b']'] => inside.trim_ascii(),
        [b'{', inside @ .., b'}'] => {
            let inside = inside.trim_ascii();
            let after = inside.strip_prefix(b"const").or_else(|| inside.strip_prefix(b"\"const\""))?;
            after.trim_ascii().strip_prefix(b":")?.trim_ascii()
        }
        _ => return None,
    };
    let text = inside.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    (!text.contains(&b'"')).then_some(text)
}

/// A constant array of numbers or texts.
fn array(record: &mut Record, json: &[u8], place: Place) -> Result<(), Fault> {
    let inside = json.strip_prefix(b"[").and_then(|j| j.strip_suffix(b"]")).map(<[u8]>::trim_ascii);
    let Some(inside) = inside.filter(|i| !i.contains(&b'[') && !i.contains(&b'{')) else {
        return Err(fault!(place, "only a plain array of numbers or texts can be given: [1, 2, 3]"));
    };
    let native = record.native();
    let mut bytes = Vec::new();
    let mut count = 0u32;
    let mut rest = inside;
    while !rest.is_empty() {
        let (element, after) = element(rest, place)?;
        let text = native == NativeType::String || element.starts_with(b"\"");
        let mut wire = [0u8; Text::SIZE];
        let width = if text {
            let content = element.strip_prefix(b"\"").and_then(|e| e.strip_suffix(b"\"")).unwrap_or(element);
            wire = *Text::truncated(content).0.wire();
            Text::SIZE
        } else {
            wire[..8].copy_from_slice(&number(element, place)?.to_be_bytes());
            8
        };
        if text != (native == NativeType::String) {
            return Err(fault!(place, "{} does not fit FTVL", element.escape_ascii()));
        }
        bytes.try_reserve(width).map_err(|_| Fault::out_of_memory(place))?;
        bytes.extend_from_slice(&wire[..width]);
        count += 1;
        rest = after;
    }
    let from = if native == NativeType::String { NativeType::String } else { NativeType::Double };
    let put = crate::value::WireElements { from, count, bytes: &bytes };
    put_value::put_value(record, &put, View::VALUE)
        .map(|_| ())
        .map_err(|error| put_fault(error, b"INP", place))
}

/// The first element of the inside of an array, and what follows its comma.
fn element(rest: &[u8], place: Place) -> Result<(&[u8], &[u8]), Fault> {
    let end = if rest.starts_with(b"\"") {
        match rest[1..].iter().position(|&b| b == b'"') {
            Some(quote) => quote + 2,
            None => return Err(fault!(place, "a quote is not closed")),
        }
    } else {
        rest.iter().position(|&b| b == b',').unwrap_or(rest.len())
    };
    let after = rest[end..].trim_ascii();
    match after {
        [] => Ok((rest[..end].trim_ascii(), after)),
        [b',', after @ ..] => Ok((rest[..end].trim_ascii(), after.trim_ascii())),
        _ => Err(fault!(place, "a comma is missing before {}", Quoted(after))),
    }
}

/// A number that is the whole text.
fn constant(text: &[u8]) -> Option<f64> {
    let text = core::str::from_utf8(text.trim_ascii()).ok()?;
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()? as f64,
        None if digits.starts_with(['+', '-']) => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn number(text: &[u8], place: Place) -> Result<f64, Fault> {
    if text.trim_ascii().is_empty() {
        return Ok(0.0);
    }
    constant(text).ok_or_else(|| fault!(place, "{} is not a number", Quoted(text)))
}

/// An integer as C's base 0 reads it: decimal, 0x hexadecimal, or octal with a leading 0.
fn integer(text: &[u8], least: i64, most: i64, place: Place) -> Result<i64, Fault> {
    let trimmed = text.trim_ascii();
    if trimmed.is_empty() {
        return Ok(0);
    }
    let parsed = core::str::from_utf8(trimmed).ok().and_then(|text| {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let magnitude = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => i64::from_str_radix(&digits[2..], 16),
            [b'0', _, ..] => i64::from_str_radix(&digits[1..], 8),
            [b'0'..=b'9', ..] => digits.parse(),
            _ => return None,
        };
        magnitude.ok().map(|m| if negative { -m } else { m })
    });
    match parsed {
        Some(value) if (least..=most).contains(&value) => Ok(value),
        Some(_) => Err(fault!(place, "{} is not between {least} and {most}", Quoted(text))),
        None => Err(fault!(place, "{} is not an integer", Quoted(text))),
    }
}

/// A choice by its name or number.
fn choice(menu: Menu, text: &[u8], place: Place) -> Result<u16, Fault> {
    if let Some(position) = menu.iter().position(|name| *name == text) {
        return Ok(position as u16);
    }
    if let Ok(number) = integer(text, 0, menu.len() as i64 - 1, place)
        && !text.trim_ascii().is_empty()
    {
        return Ok(number as u16);
    }
    let mut choices = alloc::string::String::new();
    for name in menu {
        choices.push_str(if choices.is_empty() { "" } else { ", " });
        choices.push_str(core::str::from_utf8(name).unwrap_or_default());
    }
    Err(fault!(place, "{} is none of {choices}", Quoted(text)))
}
