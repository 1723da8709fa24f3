// SPDX-License-Identifier: BSD-2-Clause
//! Records as clients see them.

use super::status::Item;
use super::{Database, PutError, RecordType, StatusSource, View};
use crate::value::{Alarm, Elements, EventMask, NativeType, Severity, Stamp, Status, Text, WireElements};

pub(crate) struct Machine(f64);

impl StatusSource for Machine {
    fn number(&self, item: Item) -> Option<f64> {
        match item {
            Item::MemoryFree => Some(self.0),
            Item::Heartbeat => Some(90_061.0),
            Item::DescriptorsMax => Some(64.0),
            Item::Descriptors => Some(10.0),
            _ => None,
        }
    }

    fn text(&self, item: Item) -> Option<Text> {
        (item == Item::Host).then(|| Text::from("crate7"))
    }
}

pub(crate) const MACHINE: Machine = Machine(1000.0);
const BOTH: EventMask = EventMask::VALUE.union(EventMask::LOG);

pub(crate) fn get(database: &mut Database, name: &str) -> String {
    let (index, view) = database.find(name.as_bytes()).unwrap_or_else(|| panic!("{name} not found"));
    database
        .read(index, view, &MACHINE, |reading| match reading.elements {
            Elements::Char(chars) => String::from_utf8_lossy(chars).into_owned(),
            elements => {
                let mut out = vec![0; 40 * elements.len()];
                crate::value::convert::encode(&elements, reading.metadata, NativeType::String, &mut out)
                    .unwrap();
                let texts = out
                    .chunks(40)
                    .map(|t| String::from_utf8_lossy(Text::truncated(t).0.as_bytes()).into_owned());
                texts.collect::<Vec<_>>().join(" ")
            }
        })
        .unwrap()
}

pub(super) fn put(database: &mut Database, name: &str, text: &str) -> Result<(), PutError> {
    let (index, view) = database.find(name.as_bytes()).unwrap_or_else(|| panic!("{name} not found"));
    database.put(index, view, &WireElements { from: NativeType::String, count: 1, bytes: text.as_bytes() })
}

fn put_doubles(database: &mut Database, name: &str, values: &[f64]) -> Result<(), PutError> {
    let (index, view) = database.find(name.as_bytes()).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    database.put(
        index,
        view,
        &WireElements { from: NativeType::Double, count: values.len() as u32, bytes: &bytes },
    )
}

pub(crate) fn alarm(database: &mut Database, name: &str) -> Alarm {
    let (index, view) = database.find(name.as_bytes()).unwrap();
    database.read(index, view, &MACHINE, |reading| reading.alarm).unwrap()
}

fn watch(database: &mut Database, name: &str) -> (u32, View) {
    let (index, view) = database.find(name.as_bytes()).unwrap();
    database.watched(index, view, true);
    (index, view)
}

fn changes(database: &mut Database) -> Vec<(u32, View, EventMask)> {
    core::iter::from_fn(|| database.next_change().map(|c| (c.index, c.view, c.mask))).collect()
}

fn with(type_: RecordType) -> Database {
    let mut database = Database::new();
    database.add(b"r", super::record::Record::new(type_).unwrap()).unwrap();
    database
}

#[test]
fn names_lead_to_fields() {
    let mut database = with(RecordType::Ai);
    let find = |name: &[u8]| database.find(name);
    assert_eq!(find(b"r"), Some((0, View::VALUE)));
    assert_eq!(find(b"r.VAL"), Some((0, View::VALUE)));
    assert_eq!(find(b"r."), Some((0, View::VALUE)));
    assert!(find(b"r.DESC").is_some() && find(b"r.DESC$").unwrap().1.long_text());
    for unknown in
        [&b""[..], b".", b"r.NOPE", b"r.val", b"r.VAL$", b"r$", b"R", b"r.DESC$$", b"r.DESC x", b"x.VAL"]
    {
        assert_eq!(find(unknown), None, "{}", unknown.escape_ascii());
    }
    database.add_alias(b"alias", 0).unwrap();
    assert_eq!(get(&mut database, "alias.NAME"), "r");
    assert_eq!(get(&mut database, "r.RTYP"), "ai");
    assert_eq!(get(&mut database, "r.NAME$"), "r\0");
    assert_eq!(database.add_alias(b"r", 0), Err(super::AddError::NameTaken));
    assert_eq!(database.add_alias(b"a.b", 0), Err(super::AddError::BadName));
}

#[test]
fn a_family_has_numbered_members_between_other_records() {
    let mut database = with(RecordType::Ai);
    database.add_family(b"x:catime", 10_000).unwrap();
    let after = database.add_double(b"x:catime").unwrap();
    assert_eq!((after, database.len()), (10_001, 10_002));
    assert_eq!(database.find(b"x:catime000000"), Some((1, View::VALUE)));
    assert_eq!(database.find(b"x:catime009999.VAL"), Some((10_000, View::VALUE)));
    for unknown in
        [&b"x:catime010000"[..], b"x:catime00000", b"x:catime0000000", b"x:catime00000x", b"x:catime-00001"]
    {
        assert_eq!(database.find(unknown), None, "{}", unknown.escape_ascii());
    }
    put(&mut database, "x:catime000042", "0.25").unwrap();
    put(&mut database, "x:catime", "7").unwrap();
    assert_eq!(database.name(43, <[u8]>::to_vec).unwrap(), b"x:catime000042");
    assert_eq!(get(&mut database, "x:catime000042.NAME"), "x:catime000042");
    assert_eq!(get(&mut database, "x:catime000042.RTYP"), "ao");
    let value = |database: &mut Database, index| {
        database.read(index, View::VALUE, &MACHINE, |r| match r.elements {
            Elements::Double(v) => v[0],
            _ => f64::NAN,
        })
    };
    assert_eq!(value(&mut database, 43), Some(0.25));
    assert_eq!(value(&mut database, after), Some(7.0));
    assert_eq!(value(&mut database, 10_002), None);
    assert_eq!(put(&mut database, "x:catime000042.DESC", "no"), Err(PutError::ReadOnly));
    assert_eq!(database.add_double(b"x:catime000001"), Err(super::AddError::NameTaken));
}

#[test]
fn changes_coalesce_and_come_in_order() {
    let mut database = with(RecordType::Ao);
    database.add_family(b"f", 3).unwrap();
    let r = watch(&mut database, "r");
    let m = watch(&mut database, "f000001");
    put(&mut database, "r", "1").unwrap();
    put(&mut database, "f000001", "1").unwrap();
    put(&mut database, "f000000", "1").unwrap();
    put(&mut database, "r", "2").unwrap();
    let first = BOTH.union(EventMask::ALARM);
    assert_eq!(changes(&mut database), [(r.0, r.1, first), (m.0, m.1, BOTH)]);
    // The same value is no change, another one is.
    put(&mut database, "r", "2").unwrap();
    put(&mut database, "f000001", "1").unwrap();
    assert_eq!(changes(&mut database), []);
    put(&mut database, "f000001", "3").unwrap();
    put(&mut database, "r", "3").unwrap();
    database.watched(m.0, m.1, false);
    assert_eq!(changes(&mut database), [(r.0, r.1, BOTH)]);
}

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
fn fields_can_be_watched() {
    let mut database = with(RecordType::Ao);
    let severity = watch(&mut database, "r.SEVR");
    let description = watch(&mut database, "r.DESC$");
    put(&mut database, "r", "1").unwrap();
    assert_eq!(changes(&mut database), [(severity.0, severity.1, EventMask::VALUE)]);
    put(&mut database, "r.DESC", "pump").unwrap();
    assert_eq!(get(&mut database, "r.DESC$"), "pump\0");
    assert_eq!(changes(&mut database), [(description.0, description.1, BOTH)]);
    database.watched(description.0, description.1, false);
    put(&mut database, "r.DESC", "valve").unwrap();
    put(&mut database, "r", "2").unwrap();
    assert_eq!(changes(&mut database), []);
    assert_eq!(put(&mut database, "r.SEVR", "MAJOR"), Err(PutError::ReadOnly));
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
fn texts_and_stamps() {
    let mut database = with(RecordType::Stringin);
    let stamp = Stamp { seconds: 7, nanoseconds: 8 };
    database.set_time(stamp);
    let (index, view) = watch(&mut database, "r");
    put(&mut database, "r", "hello").unwrap();
    assert_eq!(get(&mut database, "r.VAL$"), "hello\0");
    assert_eq!(database.read(index, view, &MACHINE, |r| r.stamp), Some(stamp));
    assert_eq!(changes(&mut database).len(), 1);
    put(&mut database, "r", "hello").unwrap();
    assert_eq!(changes(&mut database), []);
    let (_, long) = database.find(b"r.VAL$").unwrap();
    assert_eq!(database.info(index, long), super::Info { native: NativeType::Char, max_count: 40 });
    let put = WireElements { from: NativeType::Char, count: 4, bytes: b"bye\0" };
    database.put(index, long, &put).unwrap();
    assert_eq!(get(&mut database, "r"), "bye");
}

#[test]
fn arrays_have_a_length_and_post_always() {
    let mut record = super::record::Record::new(RecordType::Waveform).unwrap();
    for (name, content) in
        [("FTVL", super::access::Content::Choice(10)), ("NELM", super::access::Content::Number(4.0))]
    {
        let (_, field) = super::field::find(RecordType::Waveform, name.as_bytes()).unwrap();
        super::access::set(&mut record, field, content).unwrap();
    }
    let mut database = Database::new();
    database.add(b"r", record).unwrap();
    assert_eq!(database.info(0, View::VALUE), super::Info { native: NativeType::Double, max_count: 4 });
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

#[test]
fn status_is_computed_when_read_and_sampled_while_watched() {
    let mut database = Database::new();
    database.add_status(b"x", &MACHINE).unwrap();
    assert_eq!(get(&mut database, "x:MEM_FREE"), "1000");
    assert_eq!(get(&mut database, "x:MEM_FREE.EGU"), "byte");
    assert_eq!(get(&mut database, "x:FD_FREE"), "54");
    assert_eq!(get(&mut database, "x:UPTIME"), "1 day, 01:01:01");
    assert_eq!(get(&mut database, "x:TOD"), "clock not set");
    assert_eq!(get(&mut database, "x:HOSTNAME"), "crate7");
    assert_eq!(database.find(b"x:SYS_CPU_LOAD"), None, "what is not known is not served");
    assert_eq!(put(&mut database, "x:MEM_FREE", "1"), Err(PutError::ReadOnly));
    assert_eq!(alarm(&mut database, "x:MEM_FREE"), Alarm::NONE);

    let (index, view) = watch(&mut database, "x:MEM_FREE");
    database.tick(&MACHINE);
    assert_eq!(changes(&mut database), []);
    database.tick(&Machine(999.0));
    assert_eq!(changes(&mut database), [(index, view, BOTH)]);
    database.watched(index, view, false);
    database.tick(&Machine(998.0));
    assert_eq!(changes(&mut database), []);
}

#[test]
fn a_plain_double_takes_about_a_hundred_bytes() {
    let mut database = Database::new();
    const COUNT: u32 = 10_000;
    for number in 0..COUNT {
        database.add_double(format!("ioc7:channel{number:06}").as_bytes()).unwrap();
    }
    database.shrink();
    let bytes = database.heap_bytes() / COUNT as usize;
    println!("{bytes} bytes per plain double of an 18-character name, without the allocator's overhead");
    assert!(bytes <= 100, "{bytes} bytes per record of an 18-character name");
    let mut database = Database::new();
    database.add_family(b"ioc7:catime", COUNT).unwrap();
    assert!(database.heap_bytes() / COUNT as usize <= 24);
}

mod model {
    //! Any puts, subscriptions and reads: nothing panics, and subscribers end with the value that is.

    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const NAMES: [&str; 14] = [
        "ao", "li", "bo", "mb", "si", "wf", "f000001", "ao.SEVR", "ao.HIHI", "ao.HHSV", "bo.ZNAM", "wf.NORD",
        "si.VAL$", "ao.DESC$",
    ];

    #[derive(Clone, Debug)]
    enum Step {
        Put(usize, u16, u32, Vec<u8>),
        Number(usize, i8),
        Watch(usize, bool),
        Hear(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let name = 0..NAMES.len();
        prop_oneof![
            (name.clone(), 0u16..7, 0u32..4, prop::collection::vec(any::<u8>(), 0..130))
                .prop_map(|(n, t, c, b)| Step::Put(n, t, c, b)),
            (name.clone(), any::<i8>()).prop_map(|(n, v)| Step::Number(n, v)),
            (name, any::<bool>()).prop_map(|(n, w)| Step::Watch(n, w)),
            (0usize..4).prop_map(Step::Hear),
        ]
    }

    fn database() -> Database {
        let mut database = Database::new();
        let text = b"record(ao, ao) { field(DRVH, 90) field(DRVL, -90) } record(longin, li)\
            record(bo, bo) { field(ZNAM, off) field(ONAM, on) } record(mbbo, mb) { field(ZRST, a) field(ONST, b) }\
            record(stringin, si) record(waveform, wf) { field(FTVL, SHORT) field(NELM, 3) }";
        crate::pv::db::load(&mut database, "model", text, &[]).unwrap();
        database.add_family(b"f", 4).unwrap();
        database
    }

    /// What a subscriber of the view would see, as bytes.
    fn seen(database: &mut Database, index: u32, view: View) -> Vec<u8> {
        database
            .read(index, view, &MACHINE, |reading| {
                if let Elements::Double(&[number]) = reading.elements {
                    // All that is not a number is the same, and so are both zeros: no change between them.
                    let number = if number.is_nan() { f64::NAN } else { number + 0.0 };
                    return number.to_be_bytes().to_vec();
                }
                let native = reading.elements.native_type();
                let mut out = vec![0; reading.elements.len() * native.size()];
                crate::value::convert::encode(&reading.elements, reading.metadata, native, &mut out).unwrap();
                out
            })
            .unwrap()
    }

    proptest! {
        #[test]
        fn subscribers_end_with_the_last_value(steps in prop::collection::vec(step(), 0..60)) {
            let mut database = database();
            let mut heard: BTreeMap<(u32, View), Vec<u8>> = BTreeMap::new();
            let hear = |database: &mut Database, heard: &mut BTreeMap<(u32, View), Vec<u8>>| {
                let change = database.next_change()?;
                let known = heard.contains_key(&(change.index, change.view));
                heard.insert((change.index, change.view), seen(database, change.index, change.view));
                Some(known)
            };
            for step in steps {
                match step {
                    Step::Put(name, type_, count, bytes) => {
                        let (index, view) = database.find(NAMES[name].as_bytes()).unwrap();
                        let from = NativeType::from_code(type_).unwrap();
                        let whole = (bytes.len() / from.size()) as u32;
                        let count = if from == NativeType::String && count == 1 { 1 } else { count.min(whole) };
                        let _ = database.put(index, view, &WireElements { from, count, bytes: &bytes });
                    }
                    Step::Number(name, number) => {
                        let _ = put(&mut database, NAMES[name], &number.to_string());
                    }
                    Step::Watch(name, on) => {
                        let (index, view) = database.find(NAMES[name].as_bytes()).unwrap();
                        if on != heard.contains_key(&(index, view)) {
                            database.watched(index, view, on);
                            if on {
                                heard.insert((index, view), seen(&mut database, index, view));
                            } else {
                                heard.remove(&(index, view));
                            }
                        }
                    }
                    Step::Hear(times) => {
                        for _ in 0..times {
                            if let Some(known) = hear(&mut database, &mut heard) {
                                prop_assert!(known, "a change of what nobody watches");
                            }
                        }
                    }
                }
            }
            let mut rest = 0;
            while let Some(known) = hear(&mut database, &mut heard) {
                prop_assert!(known, "a change of what nobody watches");
                rest += 1;
                prop_assert!(rest <= NAMES.len(), "each view is queued at most once");
            }
            for ((index, view), last) in heard {
                prop_assert_eq!(last, seen(&mut database, index, view), "{} {:?}", index, view);
            }
        }
    }
}
