// SPDX-License-Identifier: BSD-2-Clause
//! Units, precision, limits and state names: what GR and CTRL requests add to a value.

/// A lower and an upper limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Lower limit, in the value's units.
    pub lower: f64,
    /// Upper limit, in the value's units.
    pub upper: f64,
}

/// The names of an enumeration's states: at most 16 of at most 25 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct States<'a>(pub &'a [&'a [u8]]);

/// How a number that can be no state reads as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalState {
    /// The first such number.
    pub from: u16,
    /// The text.
    pub text: &'static [u8],
}

/// Everything about a value that seldom changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metadata<'a> {
    /// Engineering units, NUL-padded; the wire has room for 8 bytes and they may be unterminated.
    pub units: [u8; 8],
    /// Decimals to show; `None` where the type has no precision.
    pub precision: Option<i16>,
    /// Display range (LOPR, HOPR).
    pub display: Limits,
    /// Range for puts (DRVL, DRVH).
    pub control: Limits,
    /// Major alarm limits (LOLO, HIHI); `None` is sent as NaN in float types and 0 in integer types.
    pub alarm: Option<Limits>,
    /// Minor alarm limits (LOW, HIGH).
    pub warning: Option<Limits>,
    /// State names of an enumeration; empty otherwise.
    pub states: States<'a>,
    /// What the numbers beyond all states read as; without it, and below it, a state without a name reads as nothing.
    pub illegal_state: Option<&'static IllegalState>,
}

impl Metadata<'_> {
    /// Nothing known.
    pub const NONE: Metadata<'static> = Metadata {
        units: [0; 8],
        precision: None,
        display: Limits { lower: 0.0, upper: 0.0 },
        control: Limits { lower: 0.0, upper: 0.0 },
        alarm: None,
        warning: None,
        states: States(&[]),
        illegal_state: None,
    };
}
