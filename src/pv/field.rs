// SPDX-License-Identifier: BSD-2-Clause
//! The fields of the record types, as a table: name, who has it, its type, where it is kept, what a put does.

use super::RecordType as R;
use super::menu::{self, Menu};
use crate::value::NativeType;

/// Numbers that analogue records keep, in units of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // the names are EPICS's own
pub enum Number {
    Hopr,
    Lopr,
    Drvh,
    Drvl,
    Hihi,
    High,
    Low,
    Lolo,
    Hyst,
    Mdel,
    Adel,
    Lalm,
    Mlst,
    Alst,
}

impl Number {
    /// How many there are.
    pub const COUNT: usize = Number::Alst as usize + 1;
}

/// Severities of the four limits of analogue records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // the names are EPICS's own
pub enum Limit {
    Hhsv,
    Hsv,
    Lsv,
    Llsv,
}

/// Where a field is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the names are the fields' own
pub enum Store {
    Value,
    Name,
    TypeName,
    Description,
    Units,
    Precision,
    Number(Number),
    LimitSeverity(Limit),
    StateName(u8),
    StateSeverity(u8),
    StateRaw(u8),
    UnknownSeverity,
    ChangeSeverity,
    Status,
    Severity,
    AckSeverity,
    AckTransient,
    Undefined,
    MaxElements,
    Length,
    ElementType,
    PostValue,
    PostLog,
    TextSize,
    AccessGroup,
    AtStart,
    /// Reads 0 and processes the record when written.
    Process,
    /// Always this: a number or the first choice of a menu, or the empty text.
    Constant(i16),
}

/// The type that clients see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldType {
    /// That of the record's value.
    Value,
    /// LONG in integer records, else DOUBLE.
    Number,
    /// Text of at most this many bytes.
    Text(u8),
    /// ENUM.
    Menu(Menu),
    /// SHORT.
    Short,
    /// CHAR.
    Char,
    /// An unsigned short, which travels as LONG.
    UnsignedShort,
    /// An unsigned long, which travels as DOUBLE.
    UnsignedLong,
}

/// What a put does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Refused: the field is the record's own business.
    Never,
    /// Sets the field.
    Sets,
    /// Sets the field and processes the record.
    Processes,
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// EPICS's name.
    pub name: &'static str,
    /// The record types that have it, as a set of [`R::bit`].
    pub of: u16,
    /// Type on the wire.
    pub type_: FieldType,
    /// Where it is kept.
    pub store: Store,
    /// What a put does.
    pub put: Put,
    /// Whether it is metadata: a put raises DBE_PROPERTY.
    pub property: bool,
}

const ALL: u16 = u16::MAX;
const DOUBLES: u16 = R::Ai.bit() | R::Ao.bit();
const LONGS: u16 = R::Longin.bit() | R::Longout.bit();
const INT64S: u16 = R::Int64in.bit() | R::Int64out.bit();
const ANALOG: u16 = DOUBLES | LONGS | INT64S;
const ARRAY: u16 = R::Waveform.bit();
const INPUT: u16 = R::Ai.bit()
    | R::Longin.bit()
    | R::Int64in.bit()
    | R::Stringin.bit()
    | R::Bi.bit()
    | R::Mbbi.bit()
    | R::Lsi.bit()
    | ARRAY;
/// Outputs with a range for what is put.
const DRIVEN: u16 = R::Ao.bit() | R::Longout.bit() | R::Int64out.bit();
const OUTPUT: u16 = DRIVEN | R::Bo.bit() | R::Mbbo.bit() | R::Stringout.bit() | R::Lso.bit();
const STATES: u16 = BINARY | MULTI;
const BINARY: u16 = R::Bo.bit() | R::Bi.bit();
const MULTI: u16 = R::Mbbo.bit() | R::Mbbi.bit();
const TEXTS: u16 = R::Stringin.bit() | R::Stringout.bit();
const LONG_TEXTS: u16 = R::Lsi.bit() | R::Lso.bit();

const fn row(name: &'static str, of: u16, type_: FieldType, store: Store, put: Put) -> Field {
    Field { name, of, type_, store, put, property: false }
}

/// Metadata.
const fn property(name: &'static str, of: u16, type_: FieldType, store: Store, put: Put) -> Field {
    Field { name, of, type_, store, put, property: true }
}

const fn number(name: &'static str, of: u16, number: Number, put: Put) -> Field {
    row(name, of, FieldType::Number, Store::Number(number), put)
}

const fn limit(name: &'static str, of: u16, number: Number, put: Put) -> Field {
    property(name, of, FieldType::Number, Store::Number(number), put)
}

const fn severity(name: &'static str, of: u16, store: Store) -> Field {
    row(name, of, FieldType::Menu(menu::SEVERITY), store, Put::Processes)
}

const fn limit_severity(name: &'static str, limit: Limit) -> Field {
    let type_ = FieldType::Menu(menu::SEVERITY);
    property(name, ANALOG, type_, Store::LimitSeverity(limit), Put::Processes)
}

const fn state(name: &'static str, number: u8) -> Field {
    property(name, MULTI, FieldType::Text(25), Store::StateName(number), Put::Processes)
}

const fn state_severity(name: &'static str, number: u8) -> Field {
    severity(name, MULTI, Store::StateSeverity(number))
}

const fn state_raw(name: &'static str, number: u8) -> Field {
    row(name, MULTI, FieldType::UnsignedLong, Store::StateRaw(number), Put::Processes)
}

/// All fields. The position is the field's number in a view; VAL is 0.
pub const FIELDS: &[Field] = &[
    row("VAL", ALL, FieldType::Value, Store::Value, Put::Processes),
    row("NAME", ALL, FieldType::Text(60), Store::Name, Put::Never),
    row("RTYP", ALL, FieldType::Text(39), Store::TypeName, Put::Never),
    row("DESC", ALL, FieldType::Text(40), Store::Description, Put::Sets),
    row("STAT", ALL, FieldType::Menu(menu::STATUS), Store::Status, Put::Never),
    row("SEVR", ALL, FieldType::Menu(menu::SEVERITY), Store::Severity, Put::Never),
    row("ACKS", ALL, FieldType::Menu(menu::SEVERITY), Store::AckSeverity, Put::Never),
    row("ACKT", ALL, FieldType::Menu(menu::YES_NO), Store::AckTransient, Put::Never),
    row("UDF", ALL, FieldType::Char, Store::Undefined, Put::Processes),
    row("PROC", ALL, FieldType::Char, Store::Process, Put::Processes),
    row("SCAN", ALL, FieldType::Menu(menu::SCAN), Store::Constant(0), Put::Never),
    row("PINI", ALL, FieldType::Menu(menu::PINI), Store::AtStart, Put::Never),
    row("PHAS", ALL, FieldType::Short, Store::Constant(0), Put::Never),
    row("PRIO", ALL, FieldType::Menu(menu::PRIORITY), Store::Constant(0), Put::Never),
    row("DTYP", ALL, FieldType::Menu(menu::DEVICE), Store::Constant(0), Put::Never),
    row("DISP", ALL, FieldType::Char, Store::Constant(0), Put::Never),
    row("DISA", ALL, FieldType::Short, Store::Constant(0), Put::Never),
    row("DISV", ALL, FieldType::Short, Store::Constant(1), Put::Never),
    row("PACT", ALL, FieldType::Char, Store::Constant(0), Put::Never),
    row("TPRO", ALL, FieldType::Char, Store::Constant(0), Put::Never),
    row("TSE", ALL, FieldType::Short, Store::Constant(0), Put::Never),
    row("LCNT", ALL, FieldType::Char, Store::Constant(0), Put::Never),
    row("PUTF", ALL, FieldType::Char, Store::Constant(0), Put::Never),
    row("RPRO", ALL, FieldType::Char, Store::Constant(0), Put::Never),
    row("UDFS", ALL, FieldType::Menu(menu::SEVERITY), Store::Constant(3), Put::Never),
    row("AMSG", ALL, FieldType::Text(39), Store::Constant(0), Put::Never),
    row("TSEL", ALL, FieldType::Text(39), Store::Constant(0), Put::Never),
    row("SDIS", ALL, FieldType::Text(39), Store::Constant(0), Put::Never),
    row("INP", INPUT, FieldType::Text(39), Store::Constant(0), Put::Never),
    row("OUT", OUTPUT, FieldType::Text(39), Store::Constant(0), Put::Never),
    row("DOL", OUTPUT, FieldType::Text(39), Store::Constant(0), Put::Never),
    row("ASG", ALL, FieldType::Text(28), Store::AccessGroup, Put::Sets),
    row("FLNK", ALL, FieldType::Text(39), Store::Constant(0), Put::Never),
    row("OMSL", OUTPUT, FieldType::Menu(menu::OUTPUT_MODE), Store::Constant(0), Put::Never),
    property("EGU", ANALOG | ARRAY, FieldType::Text(15), Store::Units, Put::Sets),
    property("PREC", DOUBLES | ARRAY, FieldType::Short, Store::Precision, Put::Sets),
    limit("HOPR", ANALOG | ARRAY, Number::Hopr, Put::Sets),
    limit("LOPR", ANALOG | ARRAY, Number::Lopr, Put::Sets),
    limit("DRVH", DRIVEN, Number::Drvh, Put::Processes),
    limit("DRVL", DRIVEN, Number::Drvl, Put::Processes),
    limit("HIHI", ANALOG, Number::Hihi, Put::Processes),
    limit("HIGH", ANALOG, Number::High, Put::Processes),
    limit("LOW", ANALOG, Number::Low, Put::Processes),
    limit("LOLO", ANALOG, Number::Lolo, Put::Processes),
    limit_severity("HHSV", Limit::Hhsv),
    limit_severity("HSV", Limit::Hsv),
    limit_severity("LSV", Limit::Lsv),
    limit_severity("LLSV", Limit::Llsv),
    number("HYST", ANALOG, Number::Hyst, Put::Sets),
    number("MDEL", ANALOG, Number::Mdel, Put::Sets),
    number("ADEL", ANALOG, Number::Adel, Put::Sets),
    number("LALM", ANALOG, Number::Lalm, Put::Never),
    number("MLST", ANALOG, Number::Mlst, Put::Never),
    number("ALST", ANALOG, Number::Alst, Put::Never),
    property("ZNAM", BINARY, FieldType::Text(25), Store::StateName(0), Put::Processes),
    property("ONAM", BINARY, FieldType::Text(25), Store::StateName(1), Put::Processes),
    severity("ZSV", BINARY, Store::StateSeverity(0)),
    severity("OSV", BINARY, Store::StateSeverity(1)),
    severity("COSV", STATES, Store::ChangeSeverity),
    severity("UNSV", MULTI, Store::UnknownSeverity),
    state("ZRST", 0),
    state("ONST", 1),
    state("TWST", 2),
    state("THST", 3),
    state("FRST", 4),
    state("FVST", 5),
    state("SXST", 6),
    state("SVST", 7),
    state("EIST", 8),
    state("NIST", 9),
    state("TEST", 10),
    state("ELST", 11),
    state("TVST", 12),
    state("TTST", 13),
    state("FTST", 14),
    state("FFST", 15),
    state_severity("ZRSV", 0),
    state_severity("ONSV", 1),
    state_severity("TWSV", 2),
    state_severity("THSV", 3),
    state_severity("FRSV", 4),
    state_severity("FVSV", 5),
    state_severity("SXSV", 6),
    state_severity("SVSV", 7),
    state_severity("EISV", 8),
    state_severity("NISV", 9),
    state_severity("TESV", 10),
    state_severity("ELSV", 11),
    state_severity("TVSV", 12),
    state_severity("TTSV", 13),
    state_severity("FTSV", 14),
    state_severity("FFSV", 15),
    state_raw("ZRVL", 0),
    state_raw("ONVL", 1),
    state_raw("TWVL", 2),
    state_raw("THVL", 3),
    state_raw("FRVL", 4),
    state_raw("FVVL", 5),
    state_raw("SXVL", 6),
    state_raw("SVVL", 7),
    state_raw("EIVL", 8),
    state_raw("NIVL", 9),
    state_raw("TEVL", 10),
    state_raw("ELVL", 11),
    state_raw("TVVL", 12),
    state_raw("TTVL", 13),
    state_raw("FTVL", 14),
    state_raw("FFVL", 15),
    row("NELM", ARRAY, FieldType::UnsignedLong, Store::MaxElements, Put::Never),
    row("NORD", ARRAY, FieldType::UnsignedLong, Store::Length, Put::Never),
    row("FTVL", ARRAY, FieldType::Menu(menu::ELEMENT_TYPE), Store::ElementType, Put::Never),
    row("MPST", ARRAY, FieldType::Menu(menu::ARRAY_POST), Store::PostValue, Put::Sets),
    row("APST", ARRAY, FieldType::Menu(menu::ARRAY_POST), Store::PostLog, Put::Sets),
    row("MPST", TEXTS, FieldType::Menu(menu::TEXT_POST), Store::Constant(0), Put::Never),
    row("APST", TEXTS, FieldType::Menu(menu::TEXT_POST), Store::Constant(0), Put::Never),
    row("MPST", LONG_TEXTS, FieldType::Menu(menu::TEXT_POST), Store::PostValue, Put::Sets),
    row("APST", LONG_TEXTS, FieldType::Menu(menu::TEXT_POST), Store::PostLog, Put::Sets),
    row("SIZV", LONG_TEXTS, FieldType::UnsignedShort, Store::TextSize, Put::Never),
    row("LEN", LONG_TEXTS, FieldType::UnsignedLong, Store::Length, Put::Never),
];

/// A view's number must leave a bit for the long-string form.
const _: () = assert!(FIELDS.len() <= 128);

/// The field of this name that the record type has, with its number.
pub fn find(of: R, name: &[u8]) -> Option<(u8, &'static Field)> {
    FIELDS
        .iter()
        .enumerate()
        .find(|(_, field)| field.of & of.bit() != 0 && field.name.as_bytes() == name)
        .map(|(number, field)| (number as u8, field))
}

/// All fields of a record type.
pub fn of(of: R) -> impl Iterator<Item = &'static Field> {
    FIELDS.iter().filter(move |field| field.of & of.bit() != 0)
}

impl Field {
    /// Type on the wire; `value` is that of the record's VAL.
    pub fn native(&self, of: R, value: NativeType) -> NativeType {
        match self.type_ {
            FieldType::Value => value,
            FieldType::Number if LONGS & of.bit() != 0 => NativeType::Long,
            FieldType::UnsignedShort => NativeType::Long,
            FieldType::Number | FieldType::UnsignedLong => NativeType::Double,
            FieldType::Text(_) => NativeType::String,
            FieldType::Menu(_) => NativeType::Enum,
            FieldType::Short => NativeType::Short,
            FieldType::Char => NativeType::Char,
        }
    }
}

/// Which view of a record: a field, and whether text is shown as an array of CHAR (the `$` modifier).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View(pub u8);

impl View {
    /// VAL as it is.
    pub const VALUE: View = View(0);
    const LONG_TEXT: u8 = 0x80;

    /// Of a field's number.
    pub const fn new(field: u8, long_text: bool) -> View {
        View(field | if long_text { Self::LONG_TEXT } else { 0 })
    }

    /// The field; `None` if the number is none.
    pub fn field(self) -> Option<&'static Field> {
        FIELDS.get(usize::from(self.number()))
    }

    /// The field's number.
    pub const fn number(self) -> u8 {
        self.0 & !Self::LONG_TEXT
    }

    /// Whether text is shown as an array of CHAR.
    pub const fn long_text(self) -> bool {
        self.0 & Self::LONG_TEXT != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_view_zero() {
        for record_type in R::ALL {
            assert_eq!(find(record_type, b"VAL").unwrap().0, View::VALUE.number());
        }
    }

    #[test]
    fn no_record_type_has_a_name_twice() {
        for record_type in R::ALL {
            for (number, field) in FIELDS.iter().enumerate() {
                if field.of & record_type.bit() != 0 {
                    assert_eq!(
                        find(record_type, field.name.as_bytes()).unwrap().0 as usize,
                        number,
                        "{}",
                        field.name
                    );
                }
            }
        }
    }

    #[test]
    fn native_types_are_a_real_iocs() {
        let native = |of, name: &str| find(of, name.as_bytes()).unwrap().1.native(of, NativeType::Double);
        assert_eq!(native(R::Ai, "HIHI"), NativeType::Double);
        assert_eq!(native(R::Longin, "HIHI"), NativeType::Long);
        assert_eq!(native(R::Waveform, "NELM"), NativeType::Double);
        assert_eq!(native(R::Ai, "HHSV"), NativeType::Enum);
        assert_eq!(native(R::Ai, "PREC"), NativeType::Short);
        assert!(find(R::Longin, b"PREC").is_none());
        assert!(find(R::Ai, b"DRVH").is_none());
    }
}
