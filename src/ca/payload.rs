// SPDX-License-Identifier: BSD-2-Clause
//! From a reading to the payload of a DBR type: alarm, stamp, units and limits in front, then the elements.

use super::circuits::Output;
use super::provider::Acknowledgement;
use super::wire::Header;
use super::wire::dbr::{Class, Dbr};
use crate::value::{Elements, Limits, Metadata, NativeType, Reading, Text, convert};

/// Bytes of one state name in DBR_GR_ENUM, and how many there are.
const STATE_SIZE: usize = 26;
const STATES: usize = 16;

/// What two rare types need besides the reading.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extra {
    /// Nothing.
    None,
    /// For DBR_STSACK_STRING.
    Acknowledgement(Acknowledgement),
    /// For DBR_CLASS_NAME.
    ClassName(Text),
}

/// Writes the whole of `out`, which is the padded payload of `count` elements: zero beyond what there is. An error
/// leaves `out` half written.
#[inline]
pub(super) fn encode(
    dbr: Dbr,
    count: u32,
    reading: &Reading<'_>,
    extra: &Extra,
    out: &mut [u8],
) -> Result<(), convert::ConversionError> {
    const BROKEN: convert::ConversionError = convert::ConversionError::Unsupported;
    let (front, rest) = out.split_at_mut_checked(usize::from(dbr.offset)).ok_or(BROKEN)?;
    let elements = count as usize * usize::from(dbr.element);
    let (elements, padding) = rest.split_at_mut_checked(elements).ok_or(BROKEN)?;
    if !padding.is_empty() {
        padding.fill(0);
    }
    match dbr.class {
        Class::Plain => {}
        Class::Status => put_alarm(reading, front),
        Class::Time => put_time(reading, front),
        Class::Graphic | Class::Control => put_metadata(dbr, reading, front),
        Class::StatusAck => put_acknowledgement(reading, extra, front),
        Class::ClassName => {
            elements.fill(0);
            if let (Extra::ClassName(name), Some(place)) = (extra, elements.get_mut(..Text::SIZE)) {
                place.copy_from_slice(name.wire());
            }
            return Ok(());
        }
        Class::PutAckTransient | Class::PutAckSeverity => return Err(BROKEN),
    }
    if reading.elements.is_empty() {
        // Nothing to convert, so that it cannot fail either.
        elements.fill(0);
        return Ok(());
    }
    convert::encode(&reading.elements, reading.metadata, dbr.native, elements)
}

/// What most reads are of: one number in its own type, plain or with time stamp. Queues the message of `header` with it,
/// for which there must be room; false if the reading is anything else.
#[inline]
pub(super) fn send_number(dbr: Dbr, reading: &Reading<'_>, header: Header, output: &mut Output) -> bool {
    // The number at the start of 8 bytes, and at the end of 4 for the types that pad in front of it.
    let (word, tail) = match (reading.elements, dbr.native) {
        (Elements::Double(&[v]), NativeType::Double) => (v.to_bits(), 0),
        (Elements::Float(&[v]), NativeType::Float) => (u64::from(v.to_bits()) << 32, v.to_bits()),
        (Elements::Long(&[v]), NativeType::Long) => (u64::from(v as u32) << 32, v as u32),
        (Elements::Short(&[v]), NativeType::Short) => (u64::from(v as u16) << 48, u32::from(v as u16)),
        (Elements::Enum(&[v]), NativeType::Enum) => (u64::from(v) << 48, u32::from(v)),
        (Elements::Char(&[v]), NativeType::Char) => (u64::from(v) << 56, u32::from(v)),
        _ => return false,
    };
    if dbr.class == Class::Plain {
        return output.fixed(header, &word.to_be_bytes());
    }
    if dbr.class != Class::Time {
        return false;
    }
    let mut time = [0; 24];
    time[..4].copy_from_slice(&alarm_bytes(reading));
    time[4..8].copy_from_slice(&reading.stamp.seconds.to_be_bytes());
    time[8..12].copy_from_slice(&reading.stamp.nanoseconds.to_be_bytes());
    time[12..16].copy_from_slice(&tail.to_be_bytes());
    time[16..].copy_from_slice(&word.to_be_bytes());
    match time.first_chunk::<16>() {
        Some(short) if dbr.native != NativeType::Double => output.fixed(header, short),
        _ => output.fixed(header, &time),
    }
}

#[inline]
fn alarm_bytes(reading: &Reading<'_>) -> [u8; 4] {
    [0, reading.alarm.status as u8, 0, reading.alarm.severity as u8]
}

#[inline]
fn put_alarm(reading: &Reading<'_>, front: &mut [u8]) {
    if let Some((alarm, padding)) = front.split_first_chunk_mut::<4>() {
        *alarm = alarm_bytes(reading);
        padding.fill(0);
    }
}

#[inline]
fn put_time(reading: &Reading<'_>, front: &mut [u8]) {
    if let Some((time, padding)) = front.split_first_chunk_mut::<12>() {
        time[..4].copy_from_slice(&alarm_bytes(reading));
        time[4..8].copy_from_slice(&reading.stamp.seconds.to_be_bytes());
        time[8..].copy_from_slice(&reading.stamp.nanoseconds.to_be_bytes());
        padding.fill(0);
    }
}

fn put_acknowledgement(reading: &Reading<'_>, extra: &Extra, front: &mut [u8]) {
    let (transient, severity) = match extra {
        Extra::Acknowledgement(a) => (u8::from(a.transient), a.severity),
        _ => (0, 0),
    };
    let [high, low] = severity.to_be_bytes();
    if let Some((place, _)) = front.split_first_chunk_mut::<8>() {
        place[..4].copy_from_slice(&alarm_bytes(reading));
        place[4..].copy_from_slice(&[0, transient, high, low]);
    }
}

/// Writes one field after another; what does not fit is left out.
struct Fields<'a> {
    rest: &'a mut [u8],
}

impl Fields<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let rest = core::mem::take(&mut self.rest);
        match rest.split_at_mut_checked(bytes.len()) {
            Some((place, rest)) => {
                place.copy_from_slice(bytes);
                self.rest = rest;
            }
            None => self.rest = &mut [],
        }
    }

    /// A limit in the width of the elements, narrowed as values are. `None` is NaN where there is one, else 0.
    fn limit(&mut self, native: NativeType, limit: Option<f64>) {
        let number = limit.unwrap_or(0.0);
        match native {
            NativeType::Short | NativeType::Enum => self.put(&(number as i32 as i16).to_be_bytes()),
            NativeType::Char => self.put(&[number as i32 as u8]),
            NativeType::Long => self.put(&(number as i32).to_be_bytes()),
            NativeType::Float => self.put(&limit.map_or(f32::NAN, convert::narrow).to_be_bytes()),
            NativeType::Double => self.put(&limit.unwrap_or(f64::NAN).to_be_bytes()),
            NativeType::String => {}
        }
    }
}

/// GR and CTRL.
fn put_metadata(dbr: Dbr, reading: &Reading<'_>, front: &mut [u8]) {
    let metadata = reading.metadata;
    let mut fields = Fields { rest: front };
    fields.put(&alarm_bytes(reading));
    match dbr.native {
        NativeType::String => {}
        NativeType::Enum => put_states(metadata, &mut fields),
        native => put_limits(native, metadata, dbr.class == Class::Control, &mut fields),
    }
    fields.rest.fill(0);
}

fn put_states(metadata: &Metadata<'_>, fields: &mut Fields<'_>) {
    let states = metadata.states.0;
    fields.put(&(states.len().min(STATES) as u16).to_be_bytes());
    for &state in states.iter().take(STATES) {
        let mut name = [0; STATE_SIZE];
        let kept = state.len().min(STATE_SIZE - 1);
        if let (Some(place), Some(kept)) = (name.get_mut(..kept), state.get(..kept)) {
            place.copy_from_slice(kept);
        }
        fields.put(&name);
    }
}

fn put_limits(native: NativeType, metadata: &Metadata<'_>, control: bool, fields: &mut Fields<'_>) {
    if matches!(native, NativeType::Float | NativeType::Double) {
        fields.put(&metadata.precision.unwrap_or(0).to_be_bytes());
        fields.put(&[0; 2]);
    }
    fields.put(&metadata.units);
    let upper = |l: Option<Limits>| l.map(|l| l.upper);
    let lower = |l: Option<Limits>| l.map(|l| l.lower);
    for limit in [
        Some(metadata.display.upper),
        Some(metadata.display.lower),
        upper(metadata.alarm),
        upper(metadata.warning),
        lower(metadata.warning),
        lower(metadata.alarm),
    ] {
        fields.limit(native, limit);
    }
    if control {
        fields.limit(native, Some(metadata.control.upper));
        fields.limit(native, Some(metadata.control.lower));
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::padded;
    use super::*;
    use crate::value::{Alarm, Severity, Stamp, States, Status};
    use std::vec::Vec;

    const ALARM: Alarm = Alarm { status: Status::High, severity: Severity::Minor };
    const STAMP: Stamp = Stamp { seconds: 0x0102_0304, nanoseconds: 5 };

    fn encoded(code: u16, count: u32, elements: Elements<'_>, metadata: &Metadata<'_>) -> Vec<u8> {
        let dbr = Dbr::from_code(code).unwrap();
        let reading = Reading { elements, alarm: ALARM, stamp: STAMP, metadata };
        let mut out = std::vec![0xaa; padded(dbr.size(count) as usize)];
        encode(dbr, count, &reading, &Extra::None, &mut out).unwrap();
        out
    }

    #[test]
    fn plain_double() {
        let out = encoded(6, 1, Elements::Double(&[1.0]), &Metadata::NONE);
        assert_eq!(out, [0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn status_types_pad_in_front_of_the_value() {
        let out = encoded(13, 1, Elements::Double(&[1.0]), &Metadata::NONE);
        assert_eq!(out, [0, 4, 0, 1, 0, 0, 0, 0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
        let out = encoded(11, 1, Elements::Char(&[9]), &Metadata::NONE);
        assert_eq!(out, [0, 4, 0, 1, 0, 9, 0, 0]);
    }

    #[test]
    fn time_types() {
        let out = encoded(15, 2, Elements::Short(&[1, -1, 3]), &Metadata::NONE);
        assert_eq!(out, [0, 4, 0, 1, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0, 0, 0]);
        let out = encoded(20, 0, Elements::Double(&[]), &Metadata::NONE);
        assert_eq!(out, [0, 4, 0, 1, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 0]);
    }

    #[test]
    fn fewer_elements_than_asked_for_are_followed_by_zeros() {
        let out = encoded(1, 4, Elements::Short(&[7]), &Metadata::NONE);
        assert_eq!(out, [0, 7, 0, 0, 0, 0, 0, 0]);
    }

    fn some_metadata() -> Metadata<'static> {
        Metadata {
            units: *b"mm\0\0\0\0\0\0",
            precision: Some(3),
            display: Limits { lower: -10.0, upper: 10.0 },
            control: Limits { lower: -5.0, upper: 5.0 },
            alarm: None,
            warning: Some(Limits { lower: -2.0, upper: 2.0 }),
            ..Metadata::NONE
        }
    }

    #[test]
    fn control_short_byte_by_byte() {
        let out = encoded(29, 1, Elements::Short(&[258]), &some_metadata());
        assert_eq!(
            out,
            [
                0, 4, 0, 1, b'm', b'm', 0, 0, 0, 0, 0, 0, // alarm, units
                0, 10, 0xff, 0xf6, 0, 0, 0, 2, 0xff, 0xfe, 0, 0, // display, alarm limits
                0, 5, 0xff, 0xfb, 1, 2, 0, 0, // control limits, value, padding
            ]
        );
    }

    #[test]
    fn graphic_double_has_precision_and_nan_for_limits_that_are_not_there() {
        let out = encoded(27, 1, Elements::Double(&[1.0]), &some_metadata());
        assert_eq!(out[..16], [0, 4, 0, 1, 0, 3, 0, 0, b'm', b'm', 0, 0, 0, 0, 0, 0]);
        let number = |n: usize| f64::from_be_bytes(out[16 + 8 * n..24 + 8 * n].try_into().unwrap());
        assert_eq!([number(0), number(1)], [10.0, -10.0]);
        assert!(number(2).is_nan() && number(5).is_nan());
        assert_eq!([number(3), number(4), number(6)], [2.0, -2.0, 1.0]);
    }

    #[test]
    fn control_char_pads_before_the_value() {
        let out = encoded(32, 1, Elements::Char(&[200]), &some_metadata());
        assert_eq!(out.len(), 24);
        // Negative limits keep their low bits, as values do.
        assert_eq!(out[12..], [10, 246, 0, 2, 254, 0, 5, 251, 0, 200, 0, 0]);
    }

    #[test]
    fn enumeration_with_its_states() {
        let long = [b'x'; 40];
        let states: [&[u8]; 2] = [b"off", &long];
        let metadata = Metadata { states: States(&states), ..Metadata::NONE };
        let out = encoded(24, 1, Elements::Enum(&[1]), &metadata);
        assert_eq!(out.len(), 424);
        assert_eq!(out[..10], [0, 4, 0, 1, 0, 2, b'o', b'f', b'f', 0]);
        assert_eq!(out[32..58], [&[b'x'; 25][..], &[0]].concat());
        assert!(out[58..422].iter().all(|&b| b == 0));
        assert_eq!(out[422..], [0, 1]);
    }

    #[test]
    fn acknowledgement_and_class_name() {
        let reading = Reading {
            elements: Elements::Long(&[42]),
            alarm: ALARM,
            stamp: STAMP,
            metadata: &Metadata::NONE,
        };
        let mut out = [0xaa; 48];
        let extra = Extra::Acknowledgement(Acknowledgement { transient: true, severity: 2 });
        encode(Dbr::from_code(37).unwrap(), 1, &reading, &extra, &mut out).unwrap();
        assert_eq!(out[..12], [0, 4, 0, 1, 0, 1, 0, 2, b'4', b'2', 0, 0]);
        let mut out = [0xaa; 40];
        encode(Dbr::from_code(38).unwrap(), 1, &reading, &Extra::ClassName("ai".into()), &mut out).unwrap();
        assert_eq!(out[..3], *b"ai\0");
    }
}
