// SPDX-License-Identifier: BSD-2-Clause
//! The data types of requests (`DBR_*`): what goes in front of the elements and how large it all is.

use crate::value::NativeType;

/// What goes in front of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing.
    Plain,
    /// Alarm.
    Status,
    /// Alarm and time stamp.
    Time,
    /// Alarm, units, display and alarm limits (or state names).
    Graphic,
    /// The same and control limits.
    Control,
    /// Put only: acknowledge transient alarms (DBR_PUT_ACKT).
    PutAckTransient,
    /// Put only: acknowledge an alarm (DBR_PUT_ACKS).
    PutAckSeverity,
    /// Alarm and acknowledgement, and the value as string.
    StatusAck,
    /// Name of the record type.
    ClassName,
}

/// One data type: its class, the type of its elements and where they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dbr {
    /// What goes in front.
    pub class: Class,
    /// Type of the elements.
    pub native: NativeType,
    /// Offset of the first element in bytes.
    pub offset: u16,
    /// Size of one element in bytes.
    pub element: u8,
}

/// Code of DBR_PUT_ACKT.
pub const PUT_ACKT: u16 = 35;
/// Code of DBR_PUT_ACKS.
pub const PUT_ACKS: u16 = 36;
/// Number of codes.
const CODES: usize = 39;

/// Offsets of the first element, by class (plain, status, time, graphic, control) and native type.
const OFFSETS: [[u16; 7]; 5] = [
    [0, 0, 0, 0, 0, 0, 0],
    [4, 4, 4, 4, 5, 4, 8],
    [12, 14, 12, 14, 15, 12, 16],
    [4, 24, 40, 422, 19, 36, 64],
    [4, 28, 48, 422, 21, 44, 80],
];

static TABLE: [Dbr; CODES] = table();

const fn table() -> [Dbr; CODES] {
    let classes = [Class::Plain, Class::Status, Class::Time, Class::Graphic, Class::Control];
    let mut table =
        [Dbr { class: Class::ClassName, native: NativeType::String, offset: 0, element: 40 }; CODES];
    let mut code = 0;
    while code < 35 {
        let native = NativeType::ALL[code % 7];
        table[code] = Dbr {
            class: classes[code / 7],
            native,
            offset: OFFSETS[code / 7][code % 7],
            element: native.size() as u8,
        };
        code += 1;
    }
    let put = Dbr { class: Class::PutAckTransient, native: NativeType::Short, offset: 0, element: 2 };
    table[35] = put;
    table[36] = Dbr { class: Class::PutAckSeverity, ..put };
    table[37] = Dbr { class: Class::StatusAck, native: NativeType::String, offset: 8, element: 40 };
    table
}

impl Dbr {
    /// The type of a code 0..=38.
    #[inline]
    pub fn from_code(code: u16) -> Option<Dbr> {
        TABLE.get(usize::from(code)).copied()
    }

    /// Bytes of `count` elements with what goes in front of them, padding apart. Saturates: no limit lets that pass.
    #[inline]
    pub const fn size(self, count: u32) -> u32 {
        match count.checked_mul(self.element as u32) {
            Some(elements) => elements.saturating_add(self.offset as u32),
            None => u32::MAX,
        }
    }

    /// May be read and subscribed to.
    #[inline]
    pub const fn is_readable(self) -> bool {
        !matches!(self.class, Class::PutAckTransient | Class::PutAckSeverity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes for one element, by code, as libca has them (`dbr_size[]`).
    const DBR_SIZE: [u32; 39] = [
        40, 2, 4, 2, 1, 4, 8, // plain
        44, 6, 8, 6, 6, 8, 16, // status
        52, 16, 16, 16, 16, 16, 24, // time
        44, 26, 44, 424, 20, 40, 72, // graphic
        44, 30, 52, 424, 22, 48, 88, // control
        2, 2, 48, 40,
    ];

    #[test]
    fn sizes_are_those_of_libca() {
        for (code, &size) in DBR_SIZE.iter().enumerate() {
            assert_eq!(Dbr::from_code(code as u16).unwrap().size(1), size, "code {code}");
        }
        assert_eq!(Dbr::from_code(39), None);
    }

    #[test]
    fn sizes_grow_by_the_element_and_saturate() {
        let time_double = Dbr::from_code(20).unwrap();
        assert_eq!(time_double.size(0), 16);
        assert_eq!(time_double.size(3), 40);
        assert_eq!(time_double.size(u32::MAX), u32::MAX);
    }
}
