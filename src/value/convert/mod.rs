// SPDX-License-Identifier: BSD-2-Clause
//! Conversions between the native types, by the rules of EPICS's own server.
//!
//! `encode` serves gets (elements to network bytes), `decode` serves puts (network bytes to elements). Neither
//! allocates; a same-type array is one tight loop. What they do not copy from EPICS on x86:
//!
//! - a floating-point number beyond 32 bits saturates when it becomes an integer (C leaves it undefined: x86 yields
//!   INT_MIN, PowerPC saturates); within 32 bits it narrows by its low bits, as on both;
//! - a put is all or nothing: a bad string in an array leaves the array as it was;
//! - a number as text for a state may have something after it, as EPICS allows for `mbbo` (for `bo`, `pv` sees to it);
//! - states without names read as numbers, where EPICS fails;
//! - the number of a state, or of a CHAR, that a text wraps around (`-65535`) is refused for states, and allowed from
//!   -255 to 255 for CHAR in gets too, where EPICS takes some types of CHAR as signed.
//!
//! `recorded.txt` holds what a softIoc answers; the tests compare each line.

mod decode;
mod encode;
pub mod format;
pub mod parse;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;

pub use decode::{Element, decode};
pub use encode::{encode, narrow};

/// Decimals where a type has no precision of its own (`printf`'s default).
pub const DEFAULT_PRECISION: u16 = 6;

/// Why a conversion is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionError {
    /// There is no conversion between these types.
    Unsupported,
    /// The text does not start with a number, or names no state.
    NotANumber,
    /// The number in the text does not fit the type.
    Range,
}

impl core::fmt::Display for ConversionError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            ConversionError::Unsupported => "no conversion between these types",
            ConversionError::NotANumber => "not a number and not a state's name",
            ConversionError::Range => "the number is out of range",
        })
    }
}

impl core::error::Error for ConversionError {}
