// SPDX-License-Identifier: BSD-2-Clause
//! Native types and borrowed arrays of them.

use super::Text;

/// The seven native types of Channel Access (`DBF_*`), by their wire codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the field's own
pub enum NativeType {
    String = 0,
    Short = 1,
    Float = 2,
    Enum = 3,
    Char = 4,
    Long = 5,
    Double = 6,
}

impl NativeType {
    /// By wire code order.
    pub const ALL: [NativeType; 7] = [
        NativeType::String,
        NativeType::Short,
        NativeType::Float,
        NativeType::Enum,
        NativeType::Char,
        NativeType::Long,
        NativeType::Double,
    ];

    /// The type of a wire code 0..=6.
    pub const fn from_code(code: u16) -> Option<NativeType> {
        if code < 7 { Some(Self::ALL[code as usize]) } else { None }
    }

    /// Bytes of one element on the wire.
    pub const fn size(self) -> usize {
        match self {
            NativeType::String => 40,
            NativeType::Short | NativeType::Enum => 2,
            NativeType::Float | NativeType::Long => 4,
            NativeType::Char => 1,
            NativeType::Double => 8,
        }
    }
}

/// The elements of a value, in the host's byte order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the names are the field's own
pub enum Elements<'a> {
    String(&'a [Text]),
    Short(&'a [i16]),
    Float(&'a [f32]),
    Enum(&'a [u16]),
    Char(&'a [u8]),
    Long(&'a [i32]),
    Double(&'a [f64]),
    /// Integers beyond 32 bits, which the protocol has no type for: they travel as doubles, and as text in full.
    Int64(&'a [i64]),
}

impl Elements<'_> {
    /// The native type.
    pub const fn native_type(&self) -> NativeType {
        match self {
            Elements::String(_) => NativeType::String,
            Elements::Short(_) => NativeType::Short,
            Elements::Float(_) => NativeType::Float,
            Elements::Enum(_) => NativeType::Enum,
            Elements::Char(_) => NativeType::Char,
            Elements::Long(_) => NativeType::Long,
            Elements::Double(_) | Elements::Int64(_) => NativeType::Double,
        }
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        match self {
            Elements::String(e) => e.len(),
            Elements::Short(e) => e.len(),
            Elements::Float(e) => e.len(),
            Elements::Enum(e) => e.len(),
            Elements::Char(e) => e.len(),
            Elements::Long(e) => e.len(),
            Elements::Double(e) => e.len(),
            Elements::Int64(e) => e.len(),
        }
    }

    /// No elements at all.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
