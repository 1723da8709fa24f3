// SPDX-License-Identifier: BSD-2-Clause
//! What is written in each test, and how wide it is on the wire.

use crate::ca::wire::padded;
use alloc::collections::TryReserveError;
use alloc::vec::Vec;

/// Bytes of one DBR_STRING.
const STRING: usize = 40;
/// Bytes of "0.dddddd" and its terminator, padded: what a single string takes when written.
const SHORT_STRING: usize = 16;

/// The data types of the tests, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    /// 32-bit floating point.
    Float,
    /// 64-bit floating point.
    Double,
    /// 40-byte text.
    String,
    /// 16-bit integer.
    Int,
}

impl DataType {
    /// DBR type number.
    pub const fn dbr(self) -> u16 {
        match self {
            DataType::String => 0,
            DataType::Int => 1,
            DataType::Float => 2,
            DataType::Double => 6,
        }
    }

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DataType::String => STRING,
            DataType::Int => 2,
            DataType::Float => 4,
            DataType::Double => 8,
        }
    }

    /// As the headings call it.
    pub const fn name(self) -> &'static str {
        match self {
            DataType::Float => "DBR_FLOAT",
            DataType::Double => "DBR_DOUBLE",
            DataType::String => "DBR_STRING",
            DataType::Int => "DBR_INT",
        }
    }

    /// Padded bytes of so many elements, as the original reckons them.
    pub const fn payload(self, count: u32) -> usize {
        padded(self.size() * count as usize)
    }
}

/// One element per channel, as it goes on the wire; made before the clock runs.
#[derive(Debug, Default)]
pub(super) struct Payloads {
    bytes: Vec<u8>,
    data_type: Option<DataType>,
}

impl Payloads {
    /// Prepares channel i of n with the value i / n.
    pub(super) fn prepare(&mut self, data_type: DataType, channels: u32) -> Result<(), TryReserveError> {
        self.data_type = Some(data_type);
        self.bytes.clear();
        self.bytes.try_reserve(channels as usize * SHORT_STRING)?;
        for channel in 0..channels {
            let value = f64::from(channel) / f64::from(channels);
            let mut element = [0; SHORT_STRING];
            match data_type {
                DataType::Float => element[..4].copy_from_slice(&(value as f32).to_be_bytes()),
                DataType::Double => element[..8].copy_from_slice(&value.to_be_bytes()),
                DataType::Int => element[..2].copy_from_slice(&(value as i16).to_be_bytes()),
                DataType::String => fixed(value, &mut element),
            }
            self.bytes.extend_from_slice(&element);
        }
        Ok(())
    }

    /// Bytes that a put of so many elements takes on the wire. A single string travels without its tail.
    pub(super) fn put_bytes(&self, count: u32) -> usize {
        match self.data_type {
            Some(DataType::String) if count == 1 => SHORT_STRING,
            Some(data_type) => data_type.payload(count),
            None => 0,
        }
    }

    /// Writes `count` elements of a channel to `out`, which holds [`Self::put_bytes`].
    pub(super) fn emit(&self, channel: u32, count: u32, out: &mut [u8]) {
        let start = channel as usize * SHORT_STRING;
        let (Some(data_type), Some(element)) = (self.data_type, self.bytes.get(start..start + SHORT_STRING))
        else {
            return;
        };
        if count == 1 {
            let bytes = out.len().min(SHORT_STRING);
            out[..bytes].copy_from_slice(&element[..bytes]);
            return;
        }
        let width = data_type.size();
        let filled = width.min(SHORT_STRING);
        for to in out.chunks_mut(width) {
            // The last piece is padding where elements do not fill the message.
            let filled = filled.min(to.len());
            to[..filled].copy_from_slice(&element[..filled]);
            to[filled..].fill(0);
        }
    }
}

/// "%f" of a value from 0 to 1.
fn fixed(value: f64, element: &mut [u8; SHORT_STRING]) {
    let millionths = (value * 1e6 + 0.5) as u32;
    element[0] = b'0' + (millionths / 1_000_000) as u8;
    element[1] = b'.';
    let mut rest = millionths % 1_000_000;
    for digit in element[2..8].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn elements_are_big_endian_fractions() {
        let mut payloads = Payloads::default();
        payloads.prepare(DataType::Double, 4).unwrap();
        let mut out = vec![0; payloads.put_bytes(1)];
        payloads.emit(3, 1, &mut out);
        assert_eq!(out, 0.75_f64.to_be_bytes());

        payloads.prepare(DataType::Float, 4).unwrap();
        let mut out = vec![0xff; payloads.put_bytes(3)];
        payloads.emit(1, 3, &mut out);
        assert_eq!(out.len(), 16);
        assert_eq!(out[8..12], 0.25_f32.to_be_bytes());
        assert_eq!(payloads.put_bytes(1), 8);
    }

    #[test]
    fn strings_are_fixed_point_and_short_when_single() {
        let mut payloads = Payloads::default();
        payloads.prepare(DataType::String, 8).unwrap();
        let mut out = vec![0xff; payloads.put_bytes(1)];
        payloads.emit(1, 1, &mut out);
        assert_eq!(out, b"0.125000\0\0\0\0\0\0\0\0");
        let mut out = vec![0xff; payloads.put_bytes(2)];
        payloads.emit(7, 2, &mut out);
        assert_eq!(out.len(), 80);
        assert!(out[40..].starts_with(b"0.875000\0"));
        let mut element = [0; SHORT_STRING];
        fixed(0.999_999_9, &mut element);
        assert!(element.starts_with(b"1.000000\0"));
    }
}
