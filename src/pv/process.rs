// SPDX-License-Identifier: BSD-2-Clause
//! What EPICS's records do when they process: alarms by limits and states, deadbands, and what to tell subscribers.

use super::field::{Limit, Number};
use super::record::{Analog, MAX_STATES, Record, States, Value, flag};
use super::{RecordType, array::Post};
use crate::value::{Alarm, EventMask, Severity, Stamp, Status};

/// What VAL was before.
#[derive(Clone, Copy, Debug)]
pub(super) enum Before {
    /// The number.
    Number(f64),
    /// The state.
    State(u16),
    /// Whether the text is another one.
    Text(bool),
    /// Arrays post by MPST and APST.
    Array,
}

impl Before {
    /// The value as it is, for processing without a put to VAL.
    pub(super) fn now(record: &Record) -> Before {
        match record.value {
            Value::Double(value) => Before::Number(value),
            Value::Long(value) => Before::Number(f64::from(value)),
            Value::Int64(value) => Before::Number(value as f64),
            Value::State(state, _) => Before::State(state),
            Value::Text(_) | Value::LongText(_) => Before::Text(false),
            Value::Array(_) => Before::Array,
        }
    }
}

/// What has changed, by field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effects {
    /// For subscribers to VAL.
    pub(super) value: EventMask,
    /// For subscribers to STAT.
    pub(super) status: EventMask,
    /// SEVR is another one.
    pub(super) severity: bool,
    /// ACKS was set, perhaps to what it was.
    pub(super) unacknowledged: bool,
}

/// Processes a record whose value has been set (or not): `before` says what it was.
/// `raised` is an alarm from elsewhere.
pub(super) fn process(record: &mut Record, before: Before, raised: Alarm, now: Stamp) -> Effects {
    record.stamp = now;
    drive(record);
    if let Value::Double(value) = record.value {
        record.set_flag(flag::UNDEFINED, value.is_nan());
    }
    let mut effects = Effects::default();
    let alarm = check(record, raised);
    raise(record, alarm, &mut effects);
    post(record, before, &mut effects.value);
    effects
}

/// Keeps an output between DRVL and DRVH, where DRVH is above.
fn drive(record: &mut Record) {
    let (true, Some(analog)) = (record.type_.clamps(), &record.analog) else { return };
    let (low, high) = (analog.number(Number::Drvl), analog.number(Number::Drvh));
    if high > low {
        match &mut record.value {
            Value::Double(value) if !value.is_nan() => *value = value.clamp(low, high),
            Value::Long(value) => *value = f64::from(*value).clamp(low, high) as i32,
            Value::Int64(value) if *value as f64 > high => *value = high as i64,
            Value::Int64(value) if (*value as f64) < low => *value = low as i64,
            _ => {}
        }
    }
}

/// The worst of several conditions; of equals the first.
struct Worst(Alarm);

impl Worst {
    fn set(&mut self, status: Status, severity: Severity) -> bool {
        let worse = severity > self.0.severity;
        if worse {
            self.0 = Alarm { status, severity };
        }
        worse
    }
}

fn check(record: &mut Record, raised: Alarm) -> Alarm {
    let mut worst = Worst(raised);
    let undefined = record.has(flag::UNDEFINED);
    if undefined {
        worst.set(Status::Undefined, Severity::Invalid);
    }
    match record.type_ {
        // An input does not look at its states before it is defined, and an lsi at nothing at all.
        RecordType::Bi | RecordType::Mbbi if undefined => return worst.0,
        RecordType::Lsi => return raised,
        _ => {}
    }
    let type_ = record.type_;
    match (&mut record.value, &mut record.analog) {
        (Value::Double(value), Some(analog)) if !undefined => limits(*value, analog, &mut worst),
        (Value::Long(value), Some(analog)) if !undefined => limits(f64::from(*value), analog, &mut worst),
        (Value::Int64(value), Some(analog)) if !undefined => limits(*value as f64, analog, &mut worst),
        (Value::State(state, Some(states)), _) => states_alarm(*state, states, type_, &mut worst),
        _ => {}
    }
    worst.0
}

/// The four limits with hysteresis: an alarm stays until the value is HYST inside the limit that raised it.
fn limits(value: f64, analog: &mut Analog, worst: &mut Worst) {
    let hysteresis = analog.number(Number::Hyst);
    let last = analog.number(Number::Lalm);
    let above = |level: f64| value >= level || (last == level && value >= level - hysteresis);
    let below = |level: f64| value <= level || (last == level && value <= level + hysteresis);
    let (hihi, high) = (analog.number(Number::Hihi), analog.number(Number::High));
    let (lolo, low) = (analog.number(Number::Lolo), analog.number(Number::Low));
    let severity = |limit: Limit| analog.severities[limit as usize];
    let armed = |limit: Limit| severity(limit) != Severity::None;
    let found = if armed(Limit::Hhsv) && above(hihi) {
        Some((Status::HiHi, severity(Limit::Hhsv), hihi))
    } else if armed(Limit::Llsv) && below(lolo) {
        Some((Status::LoLo, severity(Limit::Llsv), lolo))
    } else if armed(Limit::Hsv) && above(high) {
        Some((Status::High, severity(Limit::Hsv), high))
    } else if armed(Limit::Lsv) && below(low) {
        Some((Status::Low, severity(Limit::Lsv), low))
    } else {
        None
    };
    match found {
        Some((status, severity, level)) => {
            if worst.set(status, severity) {
                analog.set_number(Number::Lalm, level);
            }
        }
        None => analog.set_number(Number::Lalm, value),
    }
}

fn states_alarm(state: u16, states: &mut States, type_: RecordType, worst: &mut Worst) {
    let binary = type_.is_binary();
    if type_ == RecordType::Bi && state > 1 {
        return;
    }
    let number = usize::from(if binary { state.min(1) } else { state });
    if number < MAX_STATES {
        worst.set(Status::State, states.severities[number]);
    } else {
        if type_ == RecordType::Mbbo {
            // A number without a state cannot be driven.
            worst.set(Status::Soft, Severity::Invalid);
        }
        worst.set(Status::State, states.unknown);
    }
    // As EPICS's records do it: one of many states remembers the state only when the change itself raised no alarm.
    if state != states.last && (!worst.set(Status::ChangeOfState, states.change) || binary) {
        states.last = state;
    }
}

/// Takes over the new alarm.
fn raise(record: &mut Record, alarm: Alarm, effects: &mut Effects) {
    let old = core::mem::replace(&mut record.alarm, alarm);
    if old == alarm {
        return;
    }
    effects.value = EventMask::ALARM;
    effects.severity = old.severity != alarm.severity;
    if effects.severity {
        effects.status = EventMask::ALARM;
    }
    if old.status != alarm.status {
        effects.status = effects.status.union(EventMask::VALUE);
    }
    if record.has(flag::NO_TRANSIENT_ACK) || alarm.severity >= record.unacknowledged {
        effects.unacknowledged = true;
        record.unacknowledged = alarm.severity;
    }
}

const BOTH: EventMask = EventMask::VALUE.union(EventMask::LOG);

/// Whether the value changed enough.
fn post(record: &mut Record, before: Before, mask: &mut EventMask) {
    let number = record.number();
    match (before, &mut record.value, &mut record.analog) {
        (Before::Number(_), _, Some(analog)) => {
            let number = number.unwrap_or_default();
            for (last, deadband, event) in
                [(Number::Mlst, Number::Mdel, EventMask::VALUE), (Number::Alst, Number::Adel, EventMask::LOG)]
            {
                if beyond(analog.number(last), number, analog.number(deadband)) {
                    analog.set_number(last, number);
                    *mask = mask.union(event);
                }
            }
        }
        (Before::Number(before), _, None) if beyond(before, number.unwrap_or_default(), 0.0) => {
            *mask = mask.union(BOTH);
        }
        (Before::State(before), Value::State(state, _), _) if before != *state => *mask = mask.union(BOTH),
        (Before::Text(changed), Value::LongText(text), _) => {
            if changed || text.post_value == Post::Always {
                *mask = mask.union(EventMask::VALUE);
            }
            if changed || text.post_log == Post::Always {
                *mask = mask.union(EventMask::LOG);
            }
        }
        (Before::Text(true), ..) => *mask = mask.union(BOTH),
        (Before::Array, Value::Array(array), _) => {
            let changed = if array.post_value == Post::OnChange || array.post_log == Post::OnChange {
                let hash = array.hashed();
                core::mem::replace(&mut array.hash, hash) != hash
            } else {
                true
            };
            if changed || array.post_value == Post::Always {
                *mask = mask.union(EventMask::VALUE);
            }
            if changed || array.post_log == Post::Always {
                *mask = mask.union(EventMask::LOG);
            }
        }
        _ => {}
    }
}

/// Whether two numbers differ by more than the deadband; becoming or ceasing to be finite always does.
pub(super) fn beyond(last: f64, value: f64, deadband: f64) -> bool {
    let difference = if last.is_finite() && value.is_finite() {
        (last - value).abs()
    } else if last.is_nan() != value.is_nan()
        || last.is_infinite() != value.is_infinite()
        || (value.is_infinite() && value != last)
    {
        f64::INFINITY
    } else {
        0.0
    };
    difference > deadband
}
