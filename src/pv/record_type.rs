// SPDX-License-Identifier: BSD-2-Clause
//! The record types served, as a table: what a further one needs is a row here and rows in `field`.

/// What the VAL field of a record type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `f64`.
    Double,
    /// `i32`.
    Long,
    /// The number of a state.
    State,
    /// 39 bytes of text.
    Text,
    /// Text of SIZV bytes.
    LongText,
    /// `i64`, which travels as DOUBLE.
    Int64,
    /// As FTVL and NELM say.
    Array,
}

/// A record type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // the names are EPICS's own
pub enum RecordType {
    Ai,
    Ao,
    Longin,
    Longout,
    Bo,
    Mbbo,
    Stringin,
    Waveform,
    Bi,
    Mbbi,
    Stringout,
    Lsi,
    Lso,
    Int64in,
    Int64out,
}

/// One row: name, value, and whether puts are clamped to DRVL..DRVH.
struct Row(&'static str, ValueKind, bool);

/// In the order of [`RecordType`].
const TABLE: [Row; 15] = [
    Row("ai", ValueKind::Double, false),
    Row("ao", ValueKind::Double, true),
    Row("longin", ValueKind::Long, false),
    Row("longout", ValueKind::Long, true),
    Row("bo", ValueKind::State, false),
    Row("mbbo", ValueKind::State, false),
    Row("stringin", ValueKind::Text, false),
    Row("waveform", ValueKind::Array, false),
    Row("bi", ValueKind::State, false),
    Row("mbbi", ValueKind::State, false),
    Row("stringout", ValueKind::Text, false),
    Row("lsi", ValueKind::LongText, false),
    Row("lso", ValueKind::LongText, false),
    Row("int64in", ValueKind::Int64, false),
    Row("int64out", ValueKind::Int64, true),
];

impl RecordType {
    /// All of them.
    pub const ALL: [RecordType; 15] = [
        RecordType::Ai,
        RecordType::Ao,
        RecordType::Longin,
        RecordType::Longout,
        RecordType::Bo,
        RecordType::Mbbo,
        RecordType::Stringin,
        RecordType::Waveform,
        RecordType::Bi,
        RecordType::Mbbi,
        RecordType::Stringout,
        RecordType::Lsi,
        RecordType::Lso,
        RecordType::Int64in,
        RecordType::Int64out,
    ];

    /// By EPICS's name.
    pub fn from_name(name: &str) -> Option<RecordType> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// EPICS's name: what DBR_CLASS_NAME and RTYP answer.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].0
    }

    /// What its value is.
    pub const fn value(self) -> ValueKind {
        TABLE[self as usize].1
    }

    /// Whether puts to VAL are clamped to DRVL..DRVH.
    pub const fn clamps(self) -> bool {
        TABLE[self as usize].2
    }

    /// Whether it has two states.
    pub const fn is_binary(self) -> bool {
        matches!(self, RecordType::Bi | RecordType::Bo)
    }

    /// Its bit in a set of record types.
    pub const fn bit(self) -> u16 {
        1 << self as u16
    }
}
