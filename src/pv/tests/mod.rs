// SPDX-License-Identifier: BSD-2-Clause
//! Records as clients see them.

mod model;
mod processing;

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

pub(crate) fn put(database: &mut Database, name: &str, text: &str) -> Result<(), PutError> {
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
