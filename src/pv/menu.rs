// SPDX-License-Identifier: BSD-2-Clause
//! EPICS's menus: the choices of fields that clients see as ENUM.

/// The names of the choices, in order.
pub type Menu = &'static [&'static [u8]];

/// `menuAlarmSevr`.
pub const SEVERITY: Menu = &[b"NO_ALARM", b"MINOR", b"MAJOR", b"INVALID"];
/// `menuAlarmStat`; only the first 16 travel in DBR_GR_ENUM, but reads as text know all.
pub const STATUS: Menu = &[
    b"NO_ALARM",
    b"READ",
    b"WRITE",
    b"HIHI",
    b"HIGH",
    b"LOLO",
    b"LOW",
    b"STATE",
    b"COS",
    b"COMM",
    b"TIMEOUT",
    b"HWLIMIT",
    b"CALC",
    b"SCAN",
    b"LINK",
    b"SOFT",
    b"BAD_SUB",
    b"UDF",
    b"DISABLE",
    b"SIMM",
    b"READ_ACCESS",
    b"WRITE_ACCESS",
];
/// `menuYesNo`.
pub const YES_NO: Menu = &[b"NO", b"YES"];
/// `menuScan`; only Passive is served.
pub const SCAN: Menu = &[
    b"Passive",
    b"Event",
    b"I/O Intr",
    b"10 second",
    b"5 second",
    b"2 second",
    b"1 second",
    b".5 second",
    b".2 second",
    b".1 second",
];
/// `menuPini`.
pub const PINI: Menu = &[b"NO", b"YES", b"RUN", b"RUNNING", b"PAUSE", b"PAUSED"];
/// `menuPriority`.
pub const PRIORITY: Menu = &[b"LOW", b"MEDIUM", b"HIGH"];
/// The device types of DTYP: there is no hardware behind these records.
pub const DEVICE: Menu = &[b"Soft Channel"];
/// `menuFtype`.
pub const ELEMENT_TYPE: Menu = &[
    b"STRING", b"CHAR", b"UCHAR", b"SHORT", b"USHORT", b"LONG", b"ULONG", b"INT64", b"UINT64", b"FLOAT",
    b"DOUBLE", b"ENUM",
];
/// `menuPost`, `waveformPOST`.
pub const ARRAY_POST: Menu = &[b"Always", b"On Change"];
/// `stringinPOST`.
pub const TEXT_POST: Menu = &[b"On Change", b"Always"];
/// `menuOmsl`; only supervisory is served.
pub const OUTPUT_MODE: Menu = &[b"supervisory", b"closed_loop"];
