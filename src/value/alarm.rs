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
