// SPDX-License-Identifier: BSD-2-Clause
//! One record: its value, alarm, time stamp and, where it has any, its metadata.
//!
//! What every record has is 56 bytes (64-bit); limits, texts and states are separate and only there when set.

use super::array::{Array, native_of};
use super::boxed::{Boxed, made};
use super::field::{Limit, Number};
use super::long_text::LongText;
use super::{OutOfMemory, RecordType, ValueKind};
use crate::value::{
    Alarm, Elements, EventMask, IllegalState, Limits, Metadata, NativeType, Reading, Severity, Stamp,
    States as Labels, Text,
};

/// EPICS's own words for numbers that are no state.
const BINARY_ILLEGAL: IllegalState = IllegalState { from: 2, text: b"Illegal_Value" };
const MULTI_ILLEGAL: IllegalState = IllegalState { from: 16, text: b"Illegal Value" };

/// The most states a record can have.
pub(super) const MAX_STATES: usize = 16;
/// A state's name with its terminator.
pub(super) const STATE_NAME: usize = 26;

/// [`Record::status`] of a record whose values come from the application.
pub(super) const APPLICATION: u8 = u8::MAX;

/// Bits of [`Record::flags`].
pub(super) mod flag {
    /// VAL was never set.
    pub const UNDEFINED: u8 = 1;
    /// Somebody subscribes to VAL.
    pub const WATCHED: u8 = 2;
    /// Somebody subscribes to another view.
    pub const FIELDS_WATCHED: u8 = 4;
    /// The record waits in the queue of changes.
    pub const QUEUED: u8 = 8;
    /// ACKT is NO: an alarm that has passed needs no acknowledgement.
    pub const NO_TRANSIENT_ACK: u8 = 16;
    /// Clients may not write VAL.
    pub const READ_ONLY: u8 = 32;
    /// PINI is YES: the record processed at the start.
    pub const PROCESSED_AT_START: u8 = 64;
}

/// What VAL is.
#[derive(Debug)]
pub(super) enum Value {
    Double(f64),
    Long(i32),
    State(u16, Option<Boxed<States>>),
    Int64(i64),
    Text(Boxed<Text>),
    LongText(Boxed<LongText>),
    Array(Boxed<Array>),
}

/// The names and severities of the states of a bo or mbbo.
#[derive(Debug)]
pub(super) struct States {
    /// NUL-padded.
    pub(super) names: [[u8; STATE_NAME]; MAX_STATES],
    pub(super) severities: [Severity; MAX_STATES],
    /// What hardware would get (ZRVL and so on): kept for who asks.
    pub(super) raw: [u32; MAX_STATES],
    /// Of a state that has no number here (UNSV).
    pub(super) unknown: Severity,
    /// Of any change (COSV).
    pub(super) change: Severity,
    /// The state at the last alarm (LALM).
    pub(super) last: u16,
}

/// Limits, deadbands, units and precision.
#[derive(Debug)]
pub(super) struct Analog {
    numbers: [f64; Number::COUNT],
    pub(super) severities: [Severity; 4],
    pub(super) precision: i16,
    /// NUL-padded.
    pub(super) units: [u8; 16],
}

impl Analog {
    pub(super) const NONE: Analog = Analog {
        numbers: [0.0; Number::COUNT],
        severities: [Severity::None; 4],
        precision: 0,
        units: [0; 16],
    };

    pub(super) fn number(&self, number: Number) -> f64 {
        self.numbers[number as usize]
    }

    pub(super) fn set_number(&mut self, number: Number, value: f64) {
        self.numbers[number as usize] = value;
    }

    /// The limit, or NaN where its severity says that it is none.
    fn armed(&self, number: Number, limit: Limit) -> f64 {
        if self.severities[limit as usize] == Severity::None { f64::NAN } else { self.number(number) }
    }
}

impl States {
    const NONE: States = States {
        names: [[0; STATE_NAME]; MAX_STATES],
        severities: [Severity::None; MAX_STATES],
        raw: [0; MAX_STATES],
        unknown: Severity::None,
        change: Severity::None,
        last: 0,
    };

    pub(super) fn name(&self, state: usize) -> &[u8] {
        let name = &self.names[state];
        &name[..name.iter().position(|&b| b == 0).unwrap_or(STATE_NAME)]
    }

    /// Whether any state has a name or a raw value: an mbbo without is a mere number.
    pub(super) fn is_defined(&self) -> bool {
        self.count() > 0 || self.raw.iter().any(|raw| *raw != 0)
    }

    /// How many states there are: up to the last one with a name.
    fn count(&self) -> usize {
        self.names.iter().rposition(|name| name[0] != 0).map_or(0, |last| last + 1)
    }
}

/// One record.
#[derive(Debug)]
pub(super) struct Record {
    /// Where its name is.
    pub(super) name: u32,
    /// The next record in the queue of changes.
    pub(super) next: u32,
    pub(super) stamp: Stamp,
    pub(super) value: Value,
    pub(super) analog: Option<Boxed<Analog>>,
    pub(super) description: Option<Boxed<Text>>,
    pub(super) type_: RecordType,
    pub(super) alarm: Alarm,
    /// The highest severity not yet acknowledged (ACKS).
    pub(super) unacknowledged: Severity,
    /// What subscribers to VAL have not heard of.
    pub(super) pending: EventMask,
    pub(super) flags: u8,
    /// Which status it shows, plus one; 0 for a value of its own, [`APPLICATION`] for the application's.
    pub(super) status: u8,
    /// ASG: the number of its access group, 0 for none.
    pub(super) group: u8,
}

impl Record {
    /// A record that was never set.
    pub(super) fn new(type_: RecordType) -> Result<Self, OutOfMemory> {
        let value = match type_.value() {
            ValueKind::Double => Value::Double(0.0),
            ValueKind::Long => Value::Long(0),
            ValueKind::State => Value::State(0, None),
            ValueKind::Int64 => Value::Int64(0),
            ValueKind::Text => Value::Text(Boxed::new(Text::EMPTY)?),
            ValueKind::LongText => Value::LongText(Boxed::new(LongText::new()?)?),
            ValueKind::Array => Value::Array(Boxed::new(Array::new(0, 1)?)?),
        };
        Ok(Record {
            name: 0,
            next: 0,
            stamp: Stamp::UNSET,
            value,
            analog: None,
            description: None,
            type_,
            alarm: Alarm::UNDEFINED,
            unacknowledged: Severity::None,
            pending: EventMask(0),
            flags: flag::UNDEFINED,
            status: 0,
            group: 0,
        })
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn set_flag(&mut self, flag: u8, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }

    pub(super) fn analog_mut(&mut self) -> Result<&mut Analog, OutOfMemory> {
        let last = self.number().unwrap_or(0.0);
        made(&mut self.analog, || {
            let mut analog = Analog::NONE;
            for number in [Number::Lalm, Number::Mlst, Number::Alst] {
                analog.set_number(number, last);
            }
            analog
        })
    }

    /// `None` for a record without states.
    pub(super) fn states_mut(&mut self) -> Option<Result<&mut States, OutOfMemory>> {
        match &mut self.value {
            Value::State(state, states) => {
                let last = *state;
                Some(made(states, || States { last, ..States::NONE }))
            }
            _ => None,
        }
    }

    /// The value that a file gave is no change: alarms and deadbands begin with it (LALM, MLST, ALST).
    pub(super) fn remember_value(&mut self) {
        let number = self.number();
        match (&mut self.value, &mut self.analog) {
            (Value::State(state, Some(states)), _) => states.last = *state,
            (_, Some(analog)) => {
                for last in [Number::Lalm, Number::Mlst, Number::Alst] {
                    analog.set_number(last, number.unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// VAL of a numeric record.
    pub(super) fn number(&self) -> Option<f64> {
        match self.value {
            Value::Double(value) => Some(value),
            Value::Long(value) => Some(f64::from(value)),
            Value::Int64(value) => Some(value as f64),
            _ => None,
        }
    }

    /// Type of VAL on the wire.
    pub(super) fn native(&self) -> NativeType {
        match &self.value {
            Value::Double(_) | Value::Int64(_) => NativeType::Double,
            Value::Long(_) => NativeType::Long,
            Value::State(_, states)
                if self.type_ == RecordType::Mbbo && !states.as_ref().is_some_and(|s| s.is_defined()) =>
            {
                NativeType::Long
            }
            Value::State(..) => NativeType::Enum,
            Value::Text(_) | Value::LongText(_) => NativeType::String,
            Value::Array(array) => native_of(array.element_type).unwrap_or(NativeType::Double),
        }
    }

    /// The metadata of VAL of a record without states.
    pub(super) fn plain_metadata(&self) -> Metadata<'static> {
        match (&self.value, &self.analog) {
            (Value::Text(_) | Value::LongText(_) | Value::State(..), _) | (Value::Long(_), None) => {
                Metadata::NONE
            }
            (Value::Int64(_), None) => self.analog_metadata(&Analog::NONE),
            (_, Some(analog)) => self.analog_metadata(analog),
            (Value::Double(_) | Value::Array(_), None) => Metadata { precision: Some(0), ..Metadata::NONE },
        }
    }

    /// Hands the metadata of VAL to `visit`, with the states' names.
    pub(super) fn with_metadata<R>(&self, visit: impl FnOnce(&Metadata<'_>) -> R) -> R {
        let Value::State(_, states) = &self.value else { return visit(&self.plain_metadata()) };
        let mut labels: [&[u8]; MAX_STATES] = [&[]; MAX_STATES];
        let mut count = 0;
        if let Some(states) = states {
            for (state, label) in labels.iter_mut().enumerate() {
                *label = states.name(state);
            }
            count = states.count();
        }
        let bo = self.type_ == RecordType::Bo;
        let binary = self.type_.is_binary();
        // Without names it still has two states.
        let count = if binary && count == 0 { 2 } else { count };
        // As EPICS has it, a bo takes any number.
        let control = Limits { lower: 0.0, upper: if bo { f64::from(u16::MAX) } else { 0.0 } };
        let illegal_state = Some(if binary { &BINARY_ILLEGAL } else { &MULTI_ILLEGAL });
        visit(&Metadata { states: Labels(&labels[..count]), control, illegal_state, ..Metadata::NONE })
    }

    fn analog_metadata(&self, analog: &Analog) -> Metadata<'static> {
        let mut units = [0; 8];
        // The eighth byte stays the terminator: some clients need it.
        units[..7].copy_from_slice(&analog.units[..7]);
        let display = Limits { lower: analog.number(Number::Lopr), upper: analog.number(Number::Hopr) };
        let drive = Limits { lower: analog.number(Number::Drvl), upper: analog.number(Number::Drvh) };
        let drives = self.type_.clamps() && drive.upper > drive.lower;
        let limits = |lower, below, upper, above| match &self.value {
            Value::Array(_) => None,
            // As EPICS has it, these do not say which limits mean nothing.
            Value::Int64(_) => Some(Limits { lower: analog.number(lower), upper: analog.number(upper) }),
            _ => Some(Limits { lower: analog.armed(lower, below), upper: analog.armed(upper, above) }),
        };
        Metadata {
            units,
            precision: match &self.value {
                Value::Long(_) | Value::Int64(_) => None,
                Value::Array(array) if !array.is_floating() => Some(0),
                _ => Some(analog.precision),
            },
            display,
            control: if drives { drive } else { display },
            alarm: limits(Number::Lolo, Limit::Llsv, Number::Hihi, Limit::Hhsv),
            warning: limits(Number::Low, Limit::Lsv, Number::High, Limit::Hsv),
            ..Metadata::NONE
        }
    }

    /// Hands VAL to `visit`.
    #[inline]
    pub(super) fn read<R>(&self, visit: impl FnOnce(&Reading<'_>) -> R) -> R {
        let elements = match &self.value {
            Value::Double(value) => Elements::Double(core::slice::from_ref(value)),
            Value::Long(value) => Elements::Long(core::slice::from_ref(value)),
            Value::State(state, _) => return self.read_state(*state, visit),
            Value::Int64(value) => Elements::Int64(core::slice::from_ref(value)),
            Value::Text(text) => Elements::String(core::slice::from_ref(&**text)),
            Value::LongText(text) => return self.read_long_text(text, visit),
            Value::Array(array) => array.elements(),
        };
        let metadata = &self.plain_metadata();
        visit(&Reading { elements, alarm: self.alarm, stamp: self.stamp, metadata })
    }

    /// As a string it is cut to what a string holds.
    fn read_long_text<R>(&self, text: &LongText, visit: impl FnOnce(&Reading<'_>) -> R) -> R {
        let one = [Text::truncated(text.as_bytes()).0];
        // What was never set has no element.
        let elements = Elements::String(if text.length() == 0 { &[] } else { &one });
        visit(&Reading { elements, alarm: self.alarm, stamp: self.stamp, metadata: &Metadata::NONE })
    }

    fn read_state<R>(&self, state: u16, visit: impl FnOnce(&Reading<'_>) -> R) -> R {
        let number = i32::from(state);
        let elements = match self.native() {
            NativeType::Long => Elements::Long(core::slice::from_ref(&number)),
            _ => Elements::Enum(core::slice::from_ref(&state)),
        };
        self.with_metadata(|metadata| {
            visit(&Reading { elements, alarm: self.alarm, stamp: self.stamp, metadata })
        })
    }
}
