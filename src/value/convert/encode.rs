// SPDX-License-Identifier: BSD-2-Clause
//! Elements to network bytes: what a get asks for.

use super::super::{Elements, Metadata, NativeType, Text};
use super::{ConversionError, DEFAULT_PRECISION, format, parse};

/// Writes `out.len() / to.size()` elements converted to `to`, big-endian; zeros beyond the current length. On an error
/// `out` is all zero.
pub fn encode(
    elements: &Elements<'_>,
    metadata: &Metadata<'_>,
    to: NativeType,
    out: &mut [u8],
) -> Result<(), ConversionError> {
    let have = elements.len().min(out.len() / to.size());
    let (wanted, beyond) = out.split_at_mut(have * to.size());
    beyond.fill(0);
    let result = match *elements {
        Elements::Double(values) => numbers(&values[..have], metadata, to, wanted),
        Elements::Float(values) => numbers(&values[..have], metadata, to, wanted),
        Elements::Int64(values) => numbers(&values[..have], metadata, to, wanted),
        Elements::Long(values) => numbers(&values[..have], metadata, to, wanted),
        Elements::Short(values) => numbers(&values[..have], metadata, to, wanted),
        Elements::Char(values) => numbers(&values[..have], metadata, to, wanted),
        Elements::Enum(values) if to == NativeType::String => labels(&values[..have], metadata, wanted),
        Elements::Enum(values) => numbers(&values[..have], metadata, to, wanted),
        Elements::String(values) => strings(&values[..have], to, wanted),
    };
    if result.is_err() {
        out.fill(0);
    }
    result
}

/// A numeric source: integers narrow by their low bits; floating-point numbers become 32-bit integers first, saturating,
/// which is what C does with them in range, and what PowerPC does out of it.
trait Number: Copy {
    fn short(self) -> i16;
    fn float(self) -> f32;
    fn state(self) -> u16;
    fn char(self) -> u8;
    fn long(self) -> i32;
    fn double(self) -> f64;
    fn text(self, precision: u16, out: &mut [u8; 40]);
}

macro_rules! number {
    ($type:ty, $float:expr, $text:expr) => {
        impl Number for $type {
            fn short(self) -> i16 {
                self as i32 as i16
            }
            fn float(self) -> f32 {
                $float(self)
            }
            fn state(self) -> u16 {
                self as i32 as u16
            }
            fn char(self) -> u8 {
                self as i32 as u8
            }
            fn long(self) -> i32 {
                self as i32
            }
            fn double(self) -> f64 {
                self as f64
            }
            fn text(self, precision: u16, out: &mut [u8; 40]) {
                $text(self, precision, out)
            }
        }
    };
}

fn integer_text(value: impl Into<i64>, _precision: u16, out: &mut [u8; 40]) {
    format::integer(value.into(), out);
}

number!(i16, |v| v as f32, integer_text);
number!(u16, |v| v as f32, integer_text);
number!(u8, |v| v as f32, integer_text);
number!(i32, |v| v as f32, integer_text);
number!(i64, |v| v as f32, integer_text);
number!(f32, |v| v, format::float);
number!(f64, narrow, format::double);

/// Double to float as EPICS does it: what is too large or too small becomes the largest or smallest normal float.
pub fn narrow(value: f64) -> f32 {
    let magnitude = value.abs();
    if value == 0.0 || !value.is_finite() {
        value as f32
    } else if magnitude >= f64::from(f32::MAX) {
        f32::MAX.copysign(value as f32)
    } else if magnitude <= f64::from(f32::MIN_POSITIVE) {
        f32::MIN_POSITIVE.copysign(value as f32)
    } else {
        value as f32
    }
}

fn each<T: Copy, const SIZE: usize>(values: &[T], out: &mut [u8], bytes: impl Fn(T) -> [u8; SIZE]) {
    for (value, out) in values.iter().zip(out.as_chunks_mut::<SIZE>().0) {
        *out = bytes(*value);
    }
}

fn numbers<T: Number>(
    values: &[T],
    metadata: &Metadata<'_>,
    to: NativeType,
    out: &mut [u8],
) -> Result<(), ConversionError> {
    match to {
        NativeType::Double => each(values, out, |v| v.double().to_be_bytes()),
        NativeType::Float => each(values, out, |v| v.float().to_be_bytes()),
        NativeType::Long => each(values, out, |v| v.long().to_be_bytes()),
        NativeType::Short => each(values, out, |v| v.short().to_be_bytes()),
        NativeType::Enum => each(values, out, |v| v.state().to_be_bytes()),
        NativeType::Char => each(values, out, |v| [v.char()]),
        NativeType::String => {
            // A negative PREC is a large unsigned one, as in EPICS.
            let precision = metadata.precision.map_or(DEFAULT_PRECISION, |p| p as u16);
            for (value, out) in values.iter().zip(out.as_chunks_mut::<{ Text::SIZE }>().0) {
                value.text(precision, out);
            }
        }
    }
    Ok(())
}

fn labels(values: &[u16], metadata: &Metadata<'_>, out: &mut [u8]) -> Result<(), ConversionError> {
    if metadata.states.0.is_empty() {
        // Nobody named the states, as in a waveform: their numbers say more than nothing.
        return numbers(values, metadata, NativeType::String, out);
    }
    for (value, out) in values.iter().zip(out.as_chunks_mut::<{ Text::SIZE }>().0) {
        let label = match (metadata.states.0.get(usize::from(*value)), metadata.illegal_state) {
            (Some(label), _) => label,
            (None, Some(illegal)) if *value >= illegal.from => illegal.text,
            (None, _) => &[],
        };
        *out = *Text::truncated(label).0.wire();
    }
    Ok(())
}

fn strings(values: &[Text], to: NativeType, out: &mut [u8]) -> Result<(), ConversionError> {
    match to {
        NativeType::String => each(values, out, |v| *v.wire()),
        NativeType::Enum if values.is_empty() => {}
        NativeType::Enum => return Err(ConversionError::Unsupported),
        NativeType::Double => parsed(values, out, |t| parse::double(t).map(f64::to_be_bytes))?,
        NativeType::Float => parsed(values, out, |t| parse::float(t).map(f32::to_be_bytes))?,
        NativeType::Long => parsed(values, out, |t| ranged::<i32>(t).map(i32::to_be_bytes))?,
        NativeType::Short => parsed(values, out, |t| ranged::<i16>(t).map(i16::to_be_bytes))?,
        NativeType::Char => parsed(values, out, |t| char(t).map(u8::to_be_bytes))?,
    }
    Ok(())
}

/// An empty string reads as 0, whatever the type.
fn parsed<const SIZE: usize>(
    values: &[Text],
    out: &mut [u8],
    bytes: impl Fn(&[u8]) -> Result<[u8; SIZE], ConversionError>,
) -> Result<(), ConversionError> {
    for (value, out) in values.iter().zip(out.as_chunks_mut::<SIZE>().0) {
        let text = value.as_bytes();
        *out = if text.is_empty() { [0; SIZE] } else { bytes(text)? };
    }
    Ok(())
}

/// A decimal integer within the type's range.
pub(super) fn ranged<T: TryFrom<i64>>(text: &[u8]) -> Result<T, ConversionError> {
    T::try_from(parse::integer(text)?).map_err(|_| ConversionError::Range)
}

/// A decimal integer as an unsigned byte; `strtoul` wraps negative ones ("-7" is 249).
pub(super) fn char(text: &[u8]) -> Result<u8, ConversionError> {
    match parse::integer(text)? {
        value @ -255..=255 => Ok(value as u8),
        _ => Err(ConversionError::Range),
    }
}
