// SPDX-License-Identifier: BSD-2-Clause
//! The conversions of a real softIoc, recorded, against ours.

use super::super::{Elements, Metadata, NativeType, States, Text, WireElements};
use super::{decode, encode};

fn bytes(hex: &str) -> Vec<u8> {
    if hex == "-" {
        return Vec::new();
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn as_elements<R>(native: NativeType, raw: &[u8], visit: impl FnOnce(Elements<'_>) -> R) -> R {
    match native {
        NativeType::Double => visit(Elements::Double(&[f64::from_be_bytes(raw.try_into().unwrap())])),
        NativeType::Float => visit(Elements::Float(&[f32::from_be_bytes(raw.try_into().unwrap())])),
        NativeType::Long => visit(Elements::Long(&[i32::from_be_bytes(raw.try_into().unwrap())])),
        NativeType::Short => visit(Elements::Short(&[i16::from_be_bytes(raw.try_into().unwrap())])),
        NativeType::Enum => visit(Elements::Enum(&[u16::from_be_bytes(raw.try_into().unwrap())])),
        NativeType::Char => visit(Elements::Char(&[raw[0]])),
        NativeType::String => visit(Elements::String(&[Text::truncated(raw).0])),
    }
}

fn native(code: &str) -> NativeType {
    NativeType::from_code(code.parse().unwrap()).unwrap()
}

fn get(
    native_type: NativeType,
    precision: i16,
    raw: &[u8],
    to: NativeType,
) -> Result<Vec<u8>, super::ConversionError> {
    let metadata = Metadata { precision: Some(precision), ..Metadata::NONE };
    let mut out = vec![0; to.size()];
    as_elements(native_type, raw, |elements| encode(&elements, &metadata, to, &mut out))?;
    if to == NativeType::String {
        out = Text::truncated(&out).0.as_bytes().to_vec();
    }
    Ok(out)
}

fn put(kind: &str, to: NativeType, from: NativeType, raw: &[u8]) -> Result<Vec<u8>, super::ConversionError> {
    let states: &[&[u8]] = if kind == "mbbo" {
        &[b"no", b"yes", b"may be"]
    } else if kind == "bo" {
        &[b"no", b"yes"]
    } else {
        &[]
    };
    let precision = (kind == "array").then_some(3);
    let metadata = Metadata { precision, states: States(states), ..Metadata::NONE };
    let put = WireElements { from, count: 1, bytes: raw };
    let room = if kind == "array" { 3 } else { 1 };
    macro_rules! through {
        ($zero:expr, $bytes:expr) => {{
            let mut values = vec![$zero; room];
            decode(&put, &metadata, &mut values)?;
            $bytes(values[0])
        }};
    }
    Ok(match to {
        NativeType::Double => through!(0f64, |v: f64| v.to_be_bytes().to_vec()),
        NativeType::Float => through!(0f32, |v: f32| v.to_be_bytes().to_vec()),
        NativeType::Long => through!(0i32, |v: i32| v.to_be_bytes().to_vec()),
        NativeType::Short => through!(0i16, |v: i16| v.to_be_bytes().to_vec()),
        NativeType::Enum => through!(0u16, |v: u16| v.to_be_bytes().to_vec()),
        NativeType::Char => through!(0u8, |v: u8| vec![v]),
        NativeType::String => through!(Text::EMPTY, |v: Text| v.as_bytes().to_vec()),
    })
}

/// What is meant to differ: the beginning of the line up to the value, the value, and how ours is.
fn is_meant(words: &[&str], ours: &Result<Vec<u8>, super::ConversionError>) -> bool {
    let (operation, from, to, value) = if words[0] == "get" {
        (words[0], words[1], words[4], words[3])
    } else {
        (words[1], words[3], words[2], words[4])
    };
    let number = match from {
        "6" => f64::from_be_bytes(bytes(value).try_into().unwrap()),
        "2" => f64::from(f32::from_be_bytes(bytes(value).try_into().unwrap())),
        _ => 0.0,
    };
    let text = if from == "0" { bytes(value) } else { Vec::new() };
    let beyond_32_bits = !(-2_147_483_649.0..2_147_483_648.0).contains(&number);
    match (operation, from, to) {
        // Saturated here.
        (_, "6" | "2", "1" | "3" | "4" | "5") => beyond_32_bits && ours.is_ok(),
        // Not refused here: a CHAR read from text is -255 to 255, whatever the type's sign.
        ("get", "0", "4") => ours.is_ok() && matches!(&text[..], b"-255" | b"255" | b"128" | b"-129"),
        // Numbers here, no conversion there.
        ("get", "3", "0") => ours.is_ok(),
        // Something after the number, or no number.
        ("bo", "0", "3") => {
            text == b"-65535"
                || (ours.is_ok() && text.starts_with(b"0"))
                || text.starts_with(b"1")
                || text.starts_with(b"-0")
        }
        // The first unnamed state there, no state here.
        ("mbbo", "0", "3") => ours.is_err() && text.is_empty(),
        _ => false,
    }
}

#[test]
fn conversions_are_a_softiocs() {
    let (mut compared, mut meant, mut wrong) = (0, 0, Vec::new());
    for line in include_str!("recorded.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let ours = if words[0] == "get" {
            get(native(words[1]), words[2].parse().unwrap(), &bytes(words[3]), native(words[4]))
        } else {
            put(words[1], native(words[2]), native(words[3]), &bytes(words[4]))
        };
        let (status, theirs) = (words[5], bytes(words[6]));
        compared += 1;
        let same = ours.as_ref().map_or(status != "1", |ours| status == "1" && *ours == theirs);
        if same {
            continue;
        }
        if is_meant(&words, &ours) {
            meant += 1;
        } else {
            wrong.push(format!("{line}\n  ours {ours:02x?}"));
        }
    }
    println!("{compared} conversions compared, {meant} meant to differ, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 4000 && meant < compared / 10, "{compared} compared, {meant} meant to differ");
}
