// SPDX-License-Identifier: BSD-2-Clause
//! The value of a waveform.

use super::OutOfMemory;
use crate::value::convert::{ConversionError, decode};
use crate::value::{Elements, Metadata, NativeType, Text, WireElements};
use alloc::vec::Vec;
use core::hash::Hasher;

/// The most bytes one array may take.
pub const MAX_ARRAY_BYTES: usize = 64 << 20;

/// The elements, all NELM of them, by native type.
#[derive(Debug)]
enum Storage {
    String(Vec<Text>),
    Short(Vec<i16>),
    Float(Vec<f32>),
    Enum(Vec<u16>),
    Char(Vec<u8>),
    Long(Vec<i32>),
    Double(Vec<f64>),
}

/// When a put counts as a change (MPST, APST).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Post {
    /// With every put.
    #[default]
    Always,
    /// When the elements differ.
    OnChange,
}

/// An array of fixed capacity.
#[derive(Debug)]
pub(super) struct Array {
    storage: Storage,
    /// NORD: how many elements are set.
    length: u32,
    /// FTVL as menuFtype's number. What CA does not carry is kept as the type that it travels as.
    pub(super) element_type: u8,
    /// MPST.
    pub(super) post_value: Post,
    /// APST.
    pub(super) post_log: Post,
    /// Of the elements when they were last posted; only kept while something posts on change.
    pub(super) hash: u64,
}

/// What an element of menuFtype's number travels as.
pub(super) fn native_of(element_type: u8) -> Option<NativeType> {
    Some(match element_type {
        0 => NativeType::String,
        1 | 2 => NativeType::Char,
        3 => NativeType::Short,
        4 | 5 => NativeType::Long,
        6..=8 | 10 => NativeType::Double,
        9 => NativeType::Float,
        11 => NativeType::Enum,
        _ => return None,
    })
}

fn filled<T: Clone>(element: T, count: u32) -> Result<Vec<T>, OutOfMemory> {
    let count = count as usize;
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > MAX_ARRAY_BYTES) {
        return Err(OutOfMemory);
    }
    let mut elements = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
    elements.resize(count, element);
    Ok(elements)
}

/// The same expression for the vector of whatever type.
macro_rules! each {
    ($storage:expr, $vector:ident => $result:expr) => {
        match $storage {
            Storage::String($vector) => $result,
            Storage::Short($vector) => $result,
            Storage::Float($vector) => $result,
            Storage::Enum($vector) => $result,
            Storage::Char($vector) => $result,
            Storage::Long($vector) => $result,
            Storage::Double($vector) => $result,
        }
    };
}

impl Array {
    /// `capacity` zero elements of menuFtype's number, none of them set.
    pub(super) fn new(element_type: u8, capacity: u32) -> Result<Self, OutOfMemory> {
        let native = native_of(element_type).unwrap_or(NativeType::Double);
        let storage = match native {
            NativeType::String => Storage::String(filled(Text::EMPTY, capacity)?),
            NativeType::Short => Storage::Short(filled(0, capacity)?),
            NativeType::Float => Storage::Float(filled(0.0, capacity)?),
            NativeType::Enum => Storage::Enum(filled(0, capacity)?),
            NativeType::Char => Storage::Char(filled(0, capacity)?),
            NativeType::Long => Storage::Long(filled(0, capacity)?),
            NativeType::Double => Storage::Double(filled(0.0, capacity)?),
        };
        Ok(Array {
            storage,
            length: 0,
            element_type,
            post_value: Post::Always,
            post_log: Post::Always,
            hash: 0,
        })
    }

    /// Whether PREC means anything.
    pub(super) fn is_floating(&self) -> bool {
        matches!(self.element_type, 9 | 10)
    }

    /// NELM.
    pub(super) fn capacity(&self) -> u32 {
        each!(&self.storage, v => v.len() as u32)
    }

    /// NORD.
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    /// The elements that are set.
    pub(super) fn elements(&self) -> Elements<'_> {
        let length = self.length as usize;
        match &self.storage {
            Storage::String(v) => Elements::String(&v[..length]),
            Storage::Short(v) => Elements::Short(&v[..length]),
            Storage::Float(v) => Elements::Float(&v[..length]),
            Storage::Enum(v) => Elements::Enum(&v[..length]),
            Storage::Char(v) => Elements::Char(&v[..length]),
            Storage::Long(v) => Elements::Long(&v[..length]),
            Storage::Double(v) => Elements::Double(&v[..length]),
        }
    }

    /// Replaces the elements by those of the put, at most the capacity.
    pub(super) fn put(
        &mut self,
        put: &WireElements<'_>,
        metadata: &Metadata<'_>,
    ) -> Result<(), ConversionError> {
        self.length = each!(&mut self.storage, v => decode(put, metadata, v))? as u32;
        Ok(())
    }

    /// A number that differs when the elements differ, as good as certainly.
    pub(super) fn hashed(&self) -> u64 {
        let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
        match self.elements() {
            Elements::String(v) => v.iter().for_each(|e| hasher.write(e.wire())),
            Elements::Short(v) => v.iter().for_each(|e| hasher.write(&e.to_ne_bytes())),
            Elements::Float(v) => v.iter().for_each(|e| hasher.write(&e.to_ne_bytes())),
            Elements::Enum(v) => v.iter().for_each(|e| hasher.write(&e.to_ne_bytes())),
            Elements::Char(v) => hasher.write(v),
            Elements::Long(v) => v.iter().for_each(|e| hasher.write(&e.to_ne_bytes())),
            Elements::Double(v) => v.iter().for_each(|e| hasher.write(&e.to_ne_bytes())),
            Elements::Int64(v) => v.iter().for_each(|e| hasher.write(&e.to_ne_bytes())),
        }
        hasher.write_u32(self.length);
        hasher.finish()
    }
}

/// Fowler, Noll and Vo's hash: the same on every target and run.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
