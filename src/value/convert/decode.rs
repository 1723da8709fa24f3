// SPDX-License-Identifier: BSD-2-Clause
//! Network bytes to elements: what a put brings.

use super::super::{Metadata, NativeType, Text, WireElements};
use super::encode::{char, narrow, ranged};
use super::{ConversionError, DEFAULT_PRECISION, format, parse};

mod sealed {
    pub trait Sealed {}
}

/// A type that elements of a process variable have: `f64`, `f32`, `i64`, `i32`, `i16`, `u16` (a state), `u8` or [`Text`].
pub trait Element: sealed::Sealed + Copy {
    /// From a string put. `metadata` knows the states' names.
    fn from_text(text: &[u8], metadata: &Metadata<'_>) -> Result<Self, ConversionError>;
    /// From a float or double.
    fn from_double(value: f64, metadata: &Metadata<'_>) -> Self;
    /// From a float.
    fn from_float(value: f32, metadata: &Metadata<'_>) -> Self;
    /// From an integer or state.
    fn from_long(value: i32) -> Self;
    /// What an empty string means in a put to a scalar; `None` where it means nothing.
    const EMPTY: Option<Self>;
}

macro_rules! numeric_element {
    ($type:ty, $text:expr, $double:expr, $float:expr) => {
        impl sealed::Sealed for $type {}
        impl Element for $type {
            fn from_text(text: &[u8], _metadata: &Metadata<'_>) -> Result<Self, ConversionError> {
                $text(text)
            }
            fn from_double(value: f64, _metadata: &Metadata<'_>) -> Self {
                $double(value)
            }
            fn from_float(value: f32, _metadata: &Metadata<'_>) -> Self {
                $float(value)
            }
            fn from_long(value: i32) -> Self {
                value as $type
            }
            const EMPTY: Option<Self> = Some(0 as $type);
        }
    };
}

// Floating-point numbers become 32-bit integers first, saturating: see `encode`.
numeric_element!(f64, parse::double, |v| v, f64::from);
numeric_element!(f32, parse::float, narrow, |v| v);
numeric_element!(i64, parse::integer, |v| v as i64, |v| v as i64);
numeric_element!(i32, ranged::<i32>, |v| v as i32, |v| v as i32);
numeric_element!(i16, ranged::<i16>, |v| v as i32 as i16, |v| v as i32 as i16);
numeric_element!(u8, char, |v| v as i32 as u8, |v| v as i32 as u8);

impl sealed::Sealed for u16 {}
impl Element for u16 {
    /// A state's name, or else the number of a state that has one.
    fn from_text(text: &[u8], metadata: &Metadata<'_>) -> Result<Self, ConversionError> {
        let states = metadata.states.0;
        if let Some(state) = states.iter().position(|name| *name == text) {
            return Ok(state as u16);
        }
        match parse::integer(text)? {
            value if (0..states.len() as i64).contains(&value) => Ok(value as u16),
            _ => Err(ConversionError::Range),
        }
    }
    fn from_double(value: f64, _metadata: &Metadata<'_>) -> Self {
        value as i32 as u16
    }
    fn from_float(value: f32, _metadata: &Metadata<'_>) -> Self {
        value as i32 as u16
    }
    fn from_long(value: i32) -> Self {
        value as u16
    }
    const EMPTY: Option<Self> = None;
}

impl sealed::Sealed for Text {}
impl Element for Text {
    fn from_text(text: &[u8], _metadata: &Metadata<'_>) -> Result<Self, ConversionError> {
        Ok(Text::truncated(text).0)
    }
    fn from_double(value: f64, metadata: &Metadata<'_>) -> Self {
        Text::written(|out| format::double(value, precision(metadata), out))
    }
    fn from_float(value: f32, metadata: &Metadata<'_>) -> Self {
        Text::written(|out| format::float(value, precision(metadata), out))
    }
    fn from_long(value: i32) -> Self {
        Text::written(|out| format::integer(i64::from(value), out))
    }
    const EMPTY: Option<Self> = Some(Text::EMPTY);
}

fn precision(metadata: &Metadata<'_>) -> u16 {
    metadata.precision.map_or(DEFAULT_PRECISION, |p| p as u16)
}

/// Converts as many elements as both sides have into `dst`; returns their number. On an error `dst` is unchanged.
pub fn decode<T: Element>(
    put: &WireElements<'_>,
    metadata: &Metadata<'_>,
    dst: &mut [T],
) -> Result<usize, ConversionError> {
    let scalar = dst.len() == 1;
    let wanted = dst.len().min(put.count as usize);
    let dst = &mut dst[..wanted];
    Ok(match put.from {
        NativeType::Double => each(put.bytes, dst, |b| T::from_double(f64::from_be_bytes(b), metadata)),
        NativeType::Float => each(put.bytes, dst, |b| T::from_float(f32::from_be_bytes(b), metadata)),
        NativeType::Long => each(put.bytes, dst, |b| T::from_long(i32::from_be_bytes(b))),
        NativeType::Short => each(put.bytes, dst, |b| T::from_long(i32::from(i16::from_be_bytes(b)))),
        NativeType::Enum => each(put.bytes, dst, |b| T::from_long(i32::from(u16::from_be_bytes(b)))),
        NativeType::Char => each(put.bytes, dst, |[b]| T::from_long(i32::from(b))),
        NativeType::String if put.count == 1 => match dst {
            [] => 0,
            [first, ..] => {
                *first = match (terminated(put.bytes), T::EMPTY) {
                    ([], Some(empty)) if scalar => empty,
                    (text, _) => T::from_text(text, metadata)?,
                };
                1
            }
        },
        NativeType::String => {
            let texts = put.bytes.as_chunks::<{ Text::SIZE }>().0;
            // Look before writing: a bad one anywhere must leave everything as it was.
            for text in texts.iter().take(wanted) {
                T::from_text(terminated(text), metadata)?;
            }
            let mut done = 0;
            for (text, to) in texts.iter().zip(dst) {
                *to = T::from_text(terminated(text), metadata)?;
                done += 1;
            }
            done
        }
    })
}

/// The bytes up to the first NUL, at most 39.
fn terminated(bytes: &[u8]) -> &[u8] {
    let bytes = &bytes[..bytes.len().min(Text::SIZE - 1)];
    &bytes[..bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len())]
}

fn each<T: Copy, const SIZE: usize>(bytes: &[u8], dst: &mut [T], value: impl Fn([u8; SIZE]) -> T) -> usize {
    let mut done = 0;
    for (bytes, to) in bytes.as_chunks::<SIZE>().0.iter().zip(dst) {
        *to = value(*bytes);
        done += 1;
    }
    done
}
