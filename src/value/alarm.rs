// SPDX-License-Identifier: BSD-2-Clause
//! Alarm status and severity, by EPICS's codes.

/// How bad it is (`epicsAlarmSeverity`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the field's own
pub enum Severity {
    #[default]
    None = 0,
    Minor = 1,
    Major = 2,
    Invalid = 3,
}

/// What is wrong (`epicsAlarmCondition`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the field's own
pub enum Status {
    #[default]
    None = 0,
    Read = 1,
    Write = 2,
    HiHi = 3,
    High = 4,
    LoLo = 5,
    Low = 6,
    State = 7,
    ChangeOfState = 8,
    Comm = 9,
    Timeout = 10,
    HwLimit = 11,
    Calc = 12,
    Scan = 13,
    Link = 14,
    Soft = 15,
    BadSub = 16,
    Undefined = 17,
    Disabled = 18,
    Simulated = 19,
    ReadAccess = 20,
    WriteAccess = 21,
}

impl Severity {
    /// By its code; what is none is INVALID.
    pub const fn from_code(code: u16) -> Severity {
        match code {
            0 => Severity::None,
            1 => Severity::Minor,
            2 => Severity::Major,
            _ => Severity::Invalid,
        }
    }
}

impl Status {
    /// All of them, by code.
    const ALL: [Status; 22] = [
        Status::None,
        Status::Read,
        Status::Write,
        Status::HiHi,
        Status::High,
        Status::LoLo,
        Status::Low,
        Status::State,
        Status::ChangeOfState,
        Status::Comm,
        Status::Timeout,
        Status::HwLimit,
        Status::Calc,
        Status::Scan,
        Status::Link,
        Status::Soft,
        Status::BadSub,
        Status::Undefined,
        Status::Disabled,
        Status::Simulated,
        Status::ReadAccess,
        Status::WriteAccess,
    ];

    /// By its code; what is none is UDF.
    pub const fn from_code(code: u16) -> Status {
        if (code as usize) < Self::ALL.len() { Self::ALL[code as usize] } else { Status::Undefined }
    }
}

/// Status and severity together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alarm {
    /// What is wrong.
    pub status: Status,
    /// How bad it is.
    pub severity: Severity,
}

impl Alarm {
    /// No alarm.
    pub const NONE: Alarm = Alarm { status: Status::None, severity: Severity::None };
    /// Never set: what a record shows before its first value.
    pub const UNDEFINED: Alarm = Alarm { status: Status::Undefined, severity: Severity::Invalid };
}
