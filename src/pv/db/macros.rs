// SPDX-License-Identifier: BSD-2-Clause
//! `$(NAME)`, `${NAME}` and `$(NAME=default)` in the words of a .db file.

use super::error::{Fault, Place, Quoted, fault};
use alloc::vec::Vec;

/// How deep values and defaults may refer to other macros.
const MAX_DEPTH: u32 = 16;
/// The most bytes of one word.
pub(super) const MAX_WORD: usize = 1 << 16;

/// Appends a byte, or says that there is no room.
pub(super) fn push(out: &mut Vec<u8>, byte: u8, place: Place) -> Result<(), Fault> {
    if out.len() >= MAX_WORD {
        return Err(fault!(place, "a word is longer than {MAX_WORD} bytes"));
    }
    out.try_reserve(1).map_err(|_| Fault::out_of_memory(place))?;
    out.push(byte);
    Ok(())
}

/// Copies `text` to `out` with all macros replaced.
pub(super) fn expand(
    text: &[u8],
    macros: &[(&str, &str)],
    out: &mut Vec<u8>,
    place: Place,
) -> Result<(), Fault> {
    expand_within(text, macros, out, place, 0)
}

fn expand_within(
    text: &[u8],
    macros: &[(&str, &str)],
    out: &mut Vec<u8>,
    place: Place,
    depth: u32,
) -> Result<(), Fault> {
    if depth > MAX_DEPTH {
        return Err(fault!(place, "macros refer to each other more than {MAX_DEPTH} deep: {}", Quoted(text)));
    }
    let mut at = 0;
    while at < text.len() {
        let Some(length) = reference(&text[at..]) else {
            if starts(&text[at..]) {
                return Err(fault!(place, "a macro is not closed: {}", Quoted(&text[at..])));
            }
            push(out, text[at], place)?;
            at += 1;
            continue;
        };
        let inside = &text[at + 2..at + length - 1];
        let equals = top_level_equals(inside);
        let mut name = Vec::new();
        expand_within(&inside[..equals.unwrap_or(inside.len())], macros, &mut name, place, depth + 1)?;
        if name.contains(&b',') {
            return Err(fault!(
                place,
                "macros with values of their own are not supported: {}; give them when loading the file",
                Quoted(&text[at..at + length])
            ));
        }
        let value = macros
            .iter()
            .rev()
            .find(|(known, _)| known.as_bytes() == name)
            .map(|(_, value)| value.as_bytes());
        match (value, equals) {
            (Some(value), _) => expand_within(value, macros, out, place, depth + 1)?,
            (None, Some(equals)) => expand_within(&inside[equals + 1..], macros, out, place, depth + 1)?,
            (None, None) => {
                return Err(fault!(
                    place,
                    "macro {} is not defined; give it a value when loading the file, or a default: $({}=...)",
                    Quoted(&name),
                    name.escape_ascii()
                ));
            }
        }
        at += length;
    }
    Ok(())
}

/// Whether a reference starts here.
pub(super) fn starts(text: &[u8]) -> bool {
    matches!(text, [b'$', b'(' | b'{', ..])
}

/// The length of the reference that starts here, with its brackets; `None` if there is none or it does not end.
pub(super) fn reference(text: &[u8]) -> Option<usize> {
    if !starts(text) {
        return None;
    }
    let (open, close) = if text[1] == b'(' { (b'(', b')') } else { (b'{', b'}') };
    let mut depth = 0u32;
    for (at, &byte) in text.iter().enumerate().skip(1) {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        } else if matches!(byte, b'\n' | b'"') {
            return None;
        }
    }
    None
}

/// The `=` that separates a name from its default, not one inside another reference.
fn top_level_equals(inside: &[u8]) -> Option<usize> {
    let mut depth = 0u32;
    for (at, &byte) in inside.iter().enumerate() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b'=' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}
