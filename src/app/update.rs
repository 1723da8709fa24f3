// SPDX-License-Identifier: BSD-2-Clause
//! New values in the application's types, and how they are laid into the words of a slot: as they travel.

use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::pv::Kind;
use crate::value::{Elements, NativeType, Text};

/// A new value. A number becomes what the record holds; text and arrays go where they fit only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum New<'a> {
    /// For any record with a number.
    Number(f64),
    /// For any record with a number or states.
    Integer(i64),
    /// For records with text, and waveforms of CHAR.
    Text(&'a [u8]),
    /// For waveforms of this type; CHAR for records with text, too.
    Elements(Elements<'a>),
}

macro_rules! from {
    ($($type:ty => $variant:ident $convert:expr),* $(,)?) => {
        $(impl<'a> From<$type> for New<'a> {
            #[inline]
            fn from(value: $type) -> Self {
                New::$variant($convert(value))
            }
        })*
    };
}

from! {
    f64 => Number |v| v,
    f32 => Number f64::from,
    i64 => Integer |v| v,
    i32 => Integer i64::from,
    u32 => Integer i64::from,
    i16 => Integer i64::from,
    u16 => Integer i64::from,
    u8 => Integer i64::from,
    bool => Integer i64::from,
    &'a str => Text str::as_bytes,
    Elements<'a> => Elements |v| v,
    &'a [f64] => Elements Elements::Double,
    &'a [f32] => Elements Elements::Float,
    &'a [i32] => Elements Elements::Long,
    &'a [i16] => Elements Elements::Short,
    &'a [u8] => Elements Elements::Char,
    &'a [Text] => Elements Elements::String,
}

/// Why a value was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetError {
    /// The record does not hold such a value.
    Type,
    /// More elements or characters than the record has room for.
    Size,
    /// More tasks are in the middle of a set than there are buffers; the value that one of them sets will be seen.
    Busy,
    /// The process variable was deleted.
    Deleted,
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetError::Type => "the record does not hold such a value",
            SetError::Size => "more than the record has room for",
            SetError::Busy => "too many tasks set it at the same time",
            SetError::Deleted => "it was deleted",
        })
    }
}

impl core::error::Error for SetError {}

/// A value checked against the record, ready to be laid down.
#[derive(Clone, Copy, Debug)]
pub(super) enum Laid<'a> {
    One(u32),
    Two(u64),
    Text(&'a [u8]),
    Elements(Elements<'a>),
}

impl<'a> Laid<'a> {
    /// Brings a value into the record's type; with it the length to remember.
    #[inline]
    pub(super) fn new(kind: Kind, new: New<'a>) -> Result<(Self, u32), SetError> {
        let laid = match (kind, new) {
            (Kind::Double, New::Number(v)) => Laid::Two(v.to_bits()),
            (Kind::Double, New::Integer(v)) => Laid::Two((v as f64).to_bits()),
            (Kind::Long, New::Number(v)) => Laid::One(v as i32 as u32),
            (Kind::Long, New::Integer(v)) => Laid::One(v as i32 as u32),
            (Kind::Int64, New::Number(v)) => Laid::Two(v as i64 as u64),
            (Kind::Int64, New::Integer(v)) => Laid::Two(v as u64),
            (Kind::State, New::Number(v)) => Laid::One(u32::from(v as u16) << 16),
            (Kind::State, New::Integer(v)) => Laid::One(u32::from(v as u16) << 16),
            (Kind::Text(size), New::Text(text)) => {
                return sized(Laid::Text(text), text.len(), size.saturating_sub(1));
            }
            // As a put's handler gets it: CHAR, with or without a NUL behind the text.
            (Kind::Text(size), New::Elements(Elements::Char(chars))) => {
                let text = chars.split(|&byte| byte == 0).next().unwrap_or_default();
                return sized(Laid::Text(text), text.len(), size.saturating_sub(1));
            }
            (Kind::Array(NativeType::Char, count), New::Text(text)) => {
                return sized(Laid::Text(text), text.len(), count);
            }
            (Kind::Array(native, count), New::Elements(elements)) if elements.native_type() == native => {
                return sized(Laid::Elements(elements), elements.len(), count);
            }
            _ => return Err(SetError::Type),
        };
        Ok((laid, 1))
    }

    /// Writes it into words, the first byte that travels uppermost.
    #[inline]
    pub(super) fn write(self, words: &[AtomicU32]) {
        match self {
            Laid::One(word) => store(words, 0, word),
            Laid::Two(both) => {
                store(words, 0, (both >> 32) as u32);
                store(words, 1, both as u32);
            }
            Laid::Text(text) => pack_bytes(words, text),
            Laid::Elements(Elements::Double(v)) => pack(words, v.iter().map(|v| v.to_be_bytes())),
            Laid::Elements(Elements::Int64(v)) => pack(words, v.iter().map(|v| (*v as f64).to_be_bytes())),
            Laid::Elements(Elements::Float(v)) => pack(words, v.iter().map(|v| v.to_be_bytes())),
            Laid::Elements(Elements::Long(v)) => pack(words, v.iter().map(|v| v.to_be_bytes())),
            Laid::Elements(Elements::Short(v)) => pack(words, v.iter().map(|v| v.to_be_bytes())),
            Laid::Elements(Elements::Enum(v)) => pack(words, v.iter().map(|v| v.to_be_bytes())),
            Laid::Elements(Elements::Char(v)) => pack_bytes(words, v),
            Laid::Elements(Elements::String(v)) => pack(words, v.iter().map(|v| *v.wire())),
        }
    }
}

fn sized(laid: Laid<'_>, length: usize, most: u32) -> Result<(Laid<'_>, u32), SetError> {
    match u32::try_from(length) {
        Ok(length) if length <= most => Ok((laid, length)),
        _ => Err(SetError::Size),
    }
}

#[inline]
fn store(words: &[AtomicU32], at: usize, word: u32) {
    if let Some(place) = words.get(at) {
        place.store(word, Ordering::Relaxed);
    }
}

/// Element after element, four bytes a word.
#[inline]
fn pack<const SIZE: usize>(words: &[AtomicU32], elements: impl Iterator<Item = [u8; SIZE]>) {
    if SIZE.is_multiple_of(4) {
        for (place, element) in words.chunks_exact((SIZE / 4).max(1)).zip(elements) {
            pack_bytes(place, &element);
        }
        return;
    }
    let (mut at, mut word, mut used) = (0, 0u32, 0);
    for byte in elements.flatten() {
        word = word << 8 | u32::from(byte);
        used += 1;
        if used == 4 {
            store(words, at, word);
            (at, word, used) = (at + 1, 0, 0);
        }
    }
    if used > 0 {
        store(words, at, word << (8 * (4 - used)));
    }
}

/// Bytes, four a word; the last word is filled up with zeros.
#[inline]
fn pack_bytes(words: &[AtomicU32], bytes: &[u8]) {
    let (whole, rest) = bytes.as_chunks::<4>();
    for (place, chunk) in words.iter().zip(whole) {
        place.store(u32::from_be_bytes(*chunk), Ordering::Relaxed);
    }
    if !rest.is_empty() {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        store(words, whole.len(), u32::from_be_bytes(last));
    }
}

/// The bytes of words, as many as `out` has.
pub(super) fn unpack(words: &[AtomicU32], out: &mut [u8]) {
    for (word, bytes) in words.iter().zip(out.chunks_mut(size_of::<u32>())) {
        let word = word.load(Ordering::Relaxed).to_be_bytes();
        bytes.copy_from_slice(&word[..bytes.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn bytes(kind: Kind, new: New<'_>) -> Result<(Vec<u8>, u32), SetError> {
        let words: Vec<AtomicU32> = (0..kind.bytes().div_ceil(4)).map(|_| AtomicU32::new(0)).collect();
        let (laid, length) = Laid::new(kind, new)?;
        laid.write(&words);
        let mut out = std::vec![0; kind.bytes()];
        unpack(&words, &mut out);
        Ok((out, length))
    }

    #[test]
    fn values_lie_as_they_travel() {
        assert_eq!(bytes(Kind::Double, 1.5.into()).unwrap().0, 1.5f64.to_be_bytes());
        assert_eq!(bytes(Kind::Double, 3i32.into()).unwrap().0, 3f64.to_be_bytes());
        assert_eq!(bytes(Kind::Long, (-2.9f64).into()).unwrap().0, (-2i32).to_be_bytes());
        assert_eq!(bytes(Kind::Int64, i64::MIN.into()).unwrap().0, i64::MIN.to_be_bytes());
        assert_eq!(bytes(Kind::State, true.into()).unwrap().0, [0, 1]);
        assert_eq!(bytes(Kind::Text(8), "abc".into()), Ok((b"abc\0\0\0\0\0".to_vec(), 3)));
        assert_eq!(bytes(Kind::Text(8), b"ab\0c"[..].into()), Ok((b"ab\0\0\0\0\0\0".to_vec(), 2)));
        let shorts = [1i16, -1, 3];
        let laid = bytes(Kind::Array(NativeType::Short, 4), (&shorts[..]).into());
        assert_eq!(laid, Ok((std::vec![0, 1, 0xff, 0xff, 0, 3, 0, 0], 3)));
        let doubles = bytes(Kind::Array(NativeType::Double, 1), (&[0.5f64][..]).into()).unwrap();
        assert_eq!(doubles.0, 0.5f64.to_be_bytes());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(bytes(Kind::Text(4), "four".into()), Err(SetError::Size));
        assert_eq!(bytes(Kind::Double, "1".into()), Err(SetError::Type));
        assert_eq!(bytes(Kind::Array(NativeType::Long, 1), (&[1i32, 2][..]).into()), Err(SetError::Size));
        assert_eq!(bytes(Kind::Array(NativeType::Long, 1), (&[1i16][..]).into()), Err(SetError::Type));
        assert_eq!(bytes(Kind::Array(NativeType::Long, 1), 1.into()), Err(SetError::Type));
    }
}
