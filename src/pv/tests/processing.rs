// SPDX-License-Identifier: BSD-2-Clause
//! What a put does to a record: limits, alarms, deadbands, states, acknowledgement, lengths.

use super::*;

#[test]
fn alarms_follow_the_limits() {
    let mut database = with(RecordType::Ai);
    assert_eq!(alarm(&mut database, "r"), Alarm::UNDEFINED);
    for (field, text) in
        [("HIHI", "10"), ("HIGH", "8"), ("LOW", "2"), ("LOLO", "1"), ("HHSV", "MAJOR"), ("HSV", "MINOR")]
    {
        put(&mut database, &format!("r.{field}"), text).unwrap();
    }
    for (field, text) in [("LSV", "1"), ("LLSV", "MAJOR"), ("HYST", "0.5")] {
        put(&mut database, &format!("r.{field}"), text).unwrap();
    }
    let (minor, major) = (Severity::Minor, Severity::Major);
    for (value, status, severity) in [
        ("5", Status::None, Severity::None),
        ("8", Status::High, minor),
        ("7.6", Status::High, minor),
        ("7.4", Status::None, Severity::None),
        ("11", Status::HiHi, major),
        ("9.6", Status::HiHi, major),
        ("9.4", Status::High, minor),
        ("1.5", Status::Low, minor),
        ("0", Status::LoLo, major),
        ("nan", Status::Undefined, Severity::Invalid),
    ] {
        put(&mut database, "r", value).unwrap();
        assert_eq!(alarm(&mut database, "r"), Alarm { status, severity }, "{value}");
        assert_eq!(
            get(&mut database, "r.SEVR"),
            ["NO_ALARM", "MINOR", "MAJOR", "INVALID"][severity as usize]
        );
    }
    assert_eq!(get(&mut database, "r.STAT"), "UDF");
    assert_eq!(get(&mut database, "r.ACKS"), "INVALID");
}

#[test]
fn deadbands_hold_events_back() {
    let mut database = with(RecordType::Longin);
    put(&mut database, "r.MDEL", "2").unwrap();
    put(&mut database, "r.ADEL", "5").unwrap();
    put(&mut database, "r", "0").unwrap();
    let (index, view) = watch(&mut database, "r");
    changes(&mut database);
    let mut heard = Vec::new();
    for value in ["1", "2", "3", "5", "6"] {
        put(&mut database, "r", value).unwrap();
        heard.push(changes(&mut database).first().map_or(0, |c| c.2.0));
    }
    assert_eq!(heard, [0, 0, EventMask::VALUE.0, 0, BOTH.0]);
    put(&mut database, "r.HOPR", "100").unwrap();
    assert_eq!(changes(&mut database), [(index, view, EventMask::PROPERTY)]);
}

#[test]
fn drive_limits_clamp_outputs_only() {
    let mut database = with(RecordType::Longout);
    put(&mut database, "r.DRVL", "5").unwrap();
    put(&mut database, "r", "100").unwrap();
    assert_eq!(get(&mut database, "r"), "100", "no limits while DRVH is not above DRVL");
    put(&mut database, "r.DRVL", "-5").unwrap();
    put(&mut database, "r.DRVH", "10").unwrap();
    put(&mut database, "r", "100").unwrap();
    assert_eq!(get(&mut database, "r"), "10");
    put(&mut database, "r", "-100").unwrap();
    assert_eq!(get(&mut database, "r"), "-5");
}

#[test]
fn states_have_names_and_severities() {
    let mut database = with(RecordType::Mbbo);
    assert_eq!(database.info(0, View::VALUE).native, NativeType::Long, "an mbbo without states is a number");
    put(&mut database, "r.ZRST", "off").unwrap();
    put(&mut database, "r.TWST", "fast").unwrap();
    put(&mut database, "r.TWSV", "MINOR").unwrap();
    assert_eq!(database.info(0, View::VALUE).native, NativeType::Enum);
    put(&mut database, "r", "fast").unwrap();
    assert_eq!(get(&mut database, "r"), "fast");
    assert_eq!(alarm(&mut database, "r"), Alarm { status: Status::State, severity: Severity::Minor });
    put(&mut database, "r", "1").unwrap();
    assert_eq!(get(&mut database, "r"), "");
    put(&mut database, "r.ONVL", "8").unwrap();
    assert_eq!(get(&mut database, "r.ONVL"), "8");
    let (index, view) = database.find(b"r").unwrap();
    database.put(index, view, &WireElements { from: NativeType::Enum, count: 1, bytes: &[0, 20] }).unwrap();
    assert_eq!(get(&mut database, "r"), "Illegal Value");
    assert!(put(&mut database, "r", "3").is_err() && put(&mut database, "r", "slow").is_err());

    let mut database = with(RecordType::Bo);
    put(&mut database, "r", "1").unwrap();
    put(&mut database, "r.ZNAM", "closed").unwrap();
    put(&mut database, "r.ONAM", "open").unwrap();
    put(&mut database, "r.COSV", "MAJOR").unwrap();
    assert_eq!(get(&mut database, "r"), "open");
    put(&mut database, "r", "closed").unwrap();
    assert_eq!(alarm(&mut database, "r"), Alarm { status: Status::ChangeOfState, severity: Severity::Major });
    put(&mut database, "r", "closed").unwrap();
    assert_eq!(alarm(&mut database, "r"), Alarm::NONE);
    put(&mut database, "r", " 1 ").unwrap();
    for refused in ["0.5", "1e0", "0x1", "2", "ope"] {
        assert!(put(&mut database, "r", refused).is_err(), "{refused}");
    }
    assert_eq!(get(&mut database, "r"), "open");
}

#[test]
fn alarms_are_acknowledged() {
    let mut database = with(RecordType::Bo);
    put(&mut database, "r.OSV", "MAJOR").unwrap();
    put(&mut database, "r.ZNAM", "off").unwrap();
    put(&mut database, "r.ONAM", "on").unwrap();
    put(&mut database, "r", "on").unwrap();
    database.acknowledge(0, Severity::Invalid as u16).unwrap();
    put(&mut database, "r", "off").unwrap();
    put(&mut database, "r", "on").unwrap();
    put(&mut database, "r", "off").unwrap();
    assert_eq!(database.acknowledgement(0), (true, Severity::Major), "it has passed, but nobody has seen it");
    let (index, view) = watch(&mut database, "r");
    let acks = watch(&mut database, "r.ACKS");
    database.acknowledge(0, Severity::Minor as u16).unwrap();
    assert_eq!(changes(&mut database), []);
    database.acknowledge(0, Severity::Major as u16).unwrap();
    let told = EventMask::VALUE.union(EventMask::ALARM);
    assert_eq!(changes(&mut database), [(index, view, EventMask::ALARM), (acks.0, acks.1, told)]);
    assert_eq!(get(&mut database, "r.ACKS"), "NO_ALARM");
    put(&mut database, "r", "on").unwrap();
    put(&mut database, "r", "off").unwrap();
    database.set_acknowledge_transient(0, false).unwrap();
    assert_eq!(database.acknowledgement(0), (false, Severity::None));
    assert_eq!(get(&mut database, "r.ACKT"), "NO");
}

#[test]
fn arrays_have_a_length_and_post_always() {
    let mut record = crate::pv::record::Record::new(RecordType::Waveform).unwrap();
    for (name, content) in
        [("FTVL", crate::pv::access::Content::Choice(10)), ("NELM", crate::pv::access::Content::Number(4.0))]
    {
        let (_, field) = crate::pv::field::find(RecordType::Waveform, name.as_bytes()).unwrap();
        crate::pv::access::set(&mut record, field, content).unwrap();
    }
    let mut database = Database::new();
    database.add(b"r", record).unwrap();
    assert_eq!(database.info(0, View::VALUE), crate::pv::Info { native: NativeType::Double, max_count: 4 });
    let (index, view) = watch(&mut database, "r");
    let length = watch(&mut database, "r.NORD");
    put_doubles(&mut database, "r", &[1.0, 2.0]).unwrap();
    assert_eq!(get(&mut database, "r"), "1 2");
    assert_eq!(get(&mut database, "r.NORD"), "2");
    let first = BOTH.union(EventMask::ALARM);
    assert_eq!(changes(&mut database), [(index, view, first), (length.0, length.1, BOTH)]);
    put_doubles(&mut database, "r", &[1.0, 2.0]).unwrap();
    assert_eq!(changes(&mut database), [(index, view, BOTH)]);
    put(&mut database, "r.MPST", "On Change").unwrap();
    put(&mut database, "r.APST", "1").unwrap();
    put_doubles(&mut database, "r", &[1.0, 2.0]).unwrap();
    changes(&mut database);
    put_doubles(&mut database, "r", &[1.0, 2.0]).unwrap();
    assert_eq!(changes(&mut database), []);
    put_doubles(&mut database, "r", &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(get(&mut database, "r.NORD"), "4");
    put_doubles(&mut database, "r", &[]).unwrap();
    assert_eq!(get(&mut database, "r"), "");
}
