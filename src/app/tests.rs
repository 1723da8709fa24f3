// SPDX-License-Identifier: BSD-2-Clause
//! The application's process variables from both sides.

use super::*;
use crate::pv::{Change, Database, PutError, View};
use crate::value::{Alarm, Elements, EventMask, NativeType, Severity, Stamp, Status, WireElements};
use alloc::boxed::Box;
use alloc::sync::Arc;
use std::string::{String, ToString};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::vec::Vec;

const NOW: Stamp = Stamp { seconds: 1000, nanoseconds: 0 };

/// Counts how often the server is called.
#[derive(Default)]
struct Rings(AtomicU32);

impl Ring for Rings {
    fn ring(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Side {
    application: Application,
    database: Database,
    rings: Arc<Rings>,
    now_ms: u64,
}

impl Side {
    fn new() -> Self {
        let side = Side {
            application: Application::new(),
            database: Database::new(),
            rings: Arc::new(Rings::default()),
            now_ms: 0,
        };
        side.application.set_bell(side.rings.clone());
        side
    }

    fn create(&mut self, type_: &str, name: &str, fields: &[(&str, &str)]) -> Pv {
        self.application.create(&mut self.database, type_, name, fields, None).unwrap()
    }

    fn with_handler(&mut self, type_: &str, name: &str, handler: impl PutHandler + 'static) -> Pv {
        let handler = Some(Box::new(handler) as Box<dyn PutHandler>);
        self.application.create(&mut self.database, type_, name, &[], handler).unwrap()
    }

    fn turn(&mut self) {
        self.now_ms += 10;
        self.database.set_time(NOW);
        self.application.begin_turn(&mut self.database, self.now_ms);
    }

    fn get(&mut self, name: &str) -> String {
        crate::pv::tests::get(&mut self.database, name)
    }

    fn alarm(&mut self, name: &str) -> (Status, Severity) {
        let alarm = crate::pv::tests::alarm(&mut self.database, name);
        (alarm.status, alarm.severity)
    }

    fn put(&mut self, name: &str, value: f64, waits: bool) -> Result<PutResult, PutError> {
        let (index, view) = self.database.find(name.as_bytes()).unwrap();
        let put = WireElements { from: NativeType::Double, count: 1, bytes: &value.to_be_bytes() };
        self.application.put(&mut self.database, index, view, &put, (b"ann", b"console1", 7), waits)
    }

    fn changes(&mut self) -> Vec<Change> {
        core::iter::from_fn(|| self.database.next_change()).collect()
    }
}

#[test]
fn every_type_of_record_can_be_set() {
    let mut side = Side::new();
    let array = [("FTVL", "SHORT"), ("NELM", "4")];
    let chars = [("FTVL", "CHAR"), ("NELM", "20")];
    let states = [("ZRST", "off"), ("ONST", "on")];
    let long = [("SIZV", "60")];
    for (type_, fields, value, shown) in [
        ("ai", &[("PREC", "2")][..], New::from(1.5), "1.50"),
        ("longin", &[], (-7i32).into(), "-7"),
        ("int64in", &[], 9_007_199_254_740_993i64.into(), "9007199254740993"),
        ("bi", &[("ZNAM", "no"), ("ONAM", "yes")], true.into(), "yes"),
        ("mbbi", &states, 1i32.into(), "on"),
        ("stringin", &[], "hello".into(), "hello"),
        (
            "lsi",
            &long,
            "a text of more than thirty-nine characters in all".into(),
            "a text of more than thirty-nine charact",
        ),
        ("waveform", &array, (&[3i16, 2, 1][..]).into(), "3 2 1"),
        ("waveform", &chars, "abc".into(), "abc"),
    ] {
        let pv = side.create(type_, "x", fields);
        pv.set(value).unwrap();
        side.turn();
        assert_eq!(side.get("x"), shown, "{type_}");
        assert_eq!(side.application.delete(&mut side.database, &pv), Some(0));
    }
}

#[test]
fn the_newest_value_is_taken_and_subscribers_hear_once() {
    let mut side = Side::new();
    let pv = side.create("ai", "x", &[("HIGH", "10"), ("HSV", "MINOR")]);
    let (index, view) = side.database.find(b"x").unwrap();
    side.database.watched(index, view, true);
    for value in 0..1000 {
        pv.set(value).unwrap();
    }
    assert_eq!(side.rings.0.load(Ordering::Relaxed), 1, "called once for all of them");
    side.turn();
    assert_eq!(side.get("x"), "999");
    assert_eq!(side.alarm("x"), (Status::High, Severity::Minor));
    assert_eq!(side.changes().len(), 1);
    // While values keep coming the server looks by itself; after a quiet period it has to be called again.
    pv.set(5).unwrap();
    assert!(side.application.deadline().is_some());
    side.turn();
    assert_eq!((side.get("x"), side.alarm("x")), ("5".into(), (Status::None, Severity::None)));
    side.turn();
    assert_eq!((side.application.deadline(), side.rings.0.load(Ordering::Relaxed)), (None, 1));
    pv.set(6).unwrap();
    assert_eq!(side.rings.0.load(Ordering::Relaxed), 2);
}

#[test]
fn a_value_that_comes_as_the_server_goes_to_sleep_is_not_lost() {
    let mut side = Side::new();
    let pv = side.create("longin", "x", &[]);
    for round in 0..200 {
        pv.set(round).unwrap();
        let mut turns = 0;
        // Whoever has not been called may wait for ever, unless it has a deadline.
        while side.rings.0.swap(0, Ordering::Relaxed) > 0 || side.application.deadline().is_some() {
            side.turn();
            turns += 1;
        }
        assert!((1..5).contains(&turns));
        assert_eq!(side.get("x"), round.to_string());
    }
}

#[test]
fn a_read_sees_what_was_set_before_it() {
    let mut side = Side::new();
    let pv = side.create("ai", "x", &[]);
    pv.set(4.0).unwrap();
    side.application.refresh(0, &mut side.database);
    assert_eq!(side.get("x"), "4");
}

#[test]
fn alarms_and_stamps_come_along() {
    let mut side = Side::new();
    let pv = side.create("ai", "x", &[("HIHI", "10"), ("HHSV", "MAJOR")]);
    let stamp = Stamp { seconds: 5, nanoseconds: 6 };
    let comm = Alarm { status: Status::Comm, severity: Severity::Invalid };
    pv.set_with(20, comm, Some(stamp)).unwrap();
    side.turn();
    assert_eq!(side.alarm("x"), (Status::Comm, Severity::Invalid));
    let read = |side: &mut Side| {
        side.database.read(0, View::VALUE, &crate::pv::tests::MACHINE, |r| r.stamp).unwrap()
    };
    assert_eq!(read(&mut side), stamp);
    pv.set(20).unwrap();
    side.turn();
    assert_eq!(side.alarm("x"), (Status::HiHi, Severity::Major));
    assert_eq!(read(&mut side), NOW);
}

#[test]
fn a_handler_decides_about_puts() {
    let mut side = Side::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    side.with_handler("ao", "x", move |request: &PutRequest<'_>| {
        let Elements::Double(&[value]) = request.value else { return Answer::Refuse };
        log.lock().unwrap().push((value, request.user.to_vec(), request.address, request.waits));
        if value < 0.0 { Answer::Refuse } else { Answer::Accept }
    });
    assert!(matches!(side.put("x", 2.0, true), Ok(PutResult::Done)));
    assert!(matches!(side.put("x", -1.0, false), Err(PutError::Refused)));
    assert_eq!(side.get("x"), "2");
    let ann = b"ann".to_vec();
    assert_eq!(*seen.lock().unwrap(), [(2.0, ann.clone(), 7, true), (-1.0, ann, 7, false)]);
    // Its other fields are the record's own business.
    assert!(matches!(side.put("x.HIHI", -3.0, false), Ok(PutResult::Done)));
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[test]
fn a_put_may_end_later() {
    let mut side = Side::new();
    let tokens = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&tokens);
    let pv = side.with_handler("ao", "x", move |request: &PutRequest<'_>| {
        log.lock().unwrap().push(request.token);
        Answer::Later
    });
    let Ok(PutResult::Later(first)) = side.put("x", 1.0, true) else { panic!("no token") };
    let Ok(PutResult::Later(second)) = side.put("x", 2.0, true) else { panic!("no token") };
    let Ok(PutResult::Later(third)) = side.put("x", 3.0, false) else { panic!("no token") };
    let tokens = tokens.lock().unwrap().clone();
    let ended = |token, succeeded, waits| Some(Ended { token, succeeded, waits });
    assert_eq!((tokens[0].0, tokens[1].0), (first, second));
    assert!(pv.complete(tokens[1], true) && pv.complete(tokens[0], false) && !pv.complete(tokens[0], true));
    side.turn();
    assert_eq!(side.get("x"), "2");
    assert_eq!(side.application.next_completion(), ended(first, false, true));
    assert_eq!(side.application.next_completion(), ended(second, true, true));
    assert_eq!(side.application.next_completion(), None);
    assert!(pv.complete(tokens[2], true));
    side.turn();
    assert_eq!(side.get("x"), "3");
    assert_eq!(side.application.next_completion(), ended(third, true, false));
    assert_eq!(side.application.next_completion(), None);
    // So many at one time and no more; a deleted variable ends those that wait.
    let Ok(PutResult::Later(last)) = side.put("x", 4.0, true) else { panic!("no token") };
    while side.put("x", 5.0, false).is_ok() {}
    assert!(matches!(side.put("x", 5.0, false), Err(PutError::Busy)));
    side.application.delete(&mut side.database, &pv);
    assert_eq!(side.application.next_completion(), ended(last, false, true));
    while let Some(end) = side.application.next_completion() {
        assert!(!end.succeeded && !end.waits, "{end:?}");
    }
}

#[test]
fn deleted_variables_leave_nothing_behind() {
    let mut side = Side::new();
    side.database.add_double(b"stays").unwrap();
    let mut heap = 0;
    for round in 0..100 {
        let one = side.create("ai", "one", &[("DESC", "first")]);
        let two = side.create("waveform", "two", &[("FTVL", "DOUBLE"), ("NELM", "100")]);
        side.database.add_alias(b"second", side.database.find(b"two").unwrap().0).unwrap();
        side.database.watched(1, View::VALUE, true);
        one.set(1).unwrap();
        side.turn();
        assert!(side.application.delete(&mut side.database, &one).is_some());
        assert!(side.application.delete(&mut side.database, &two).is_some());
        assert_eq!(side.application.delete(&mut side.database, &one), None);
        assert_eq!(one.set(2), Err(SetError::Deleted));
        assert!(one.is_deleted());
        side.turn();
        assert_eq!(side.changes(), []);
        for name in [&b"one"[..], b"two", b"second"] {
            assert_eq!(side.database.find(name), None);
        }
        assert_eq!((side.database.len(), side.application.size().0), (3, 0));
        assert_eq!(side.get("stays.NAME"), "stays");
        if round == 10 {
            heap = side.database.heap_bytes();
        }
    }
    assert_eq!(side.database.heap_bytes(), heap);
}

#[test]
fn a_change_in_the_queue_survives_the_deletion_of_its_neighbour() {
    let mut side = Side::new();
    let pvs: Vec<Pv> = ["a", "b", "c"].iter().map(|name| side.create("ai", name, &[])).collect();
    for index in 0..3 {
        side.database.watched(index, View::VALUE, true);
        pvs[index as usize].set(1).unwrap();
    }
    side.turn();
    side.application.delete(&mut side.database, &pvs[1]);
    let again = side.create("ai", "d", &[]);
    let told: Vec<u32> = side.changes().iter().map(|change| change.index).collect();
    assert_eq!(told, [0, 2]);
    side.database.watched(1, View::VALUE, true);
    again.set(2).unwrap();
    side.turn();
    let told = side.changes();
    assert_eq!(told.len(), 1);
    assert!(told[0].index == 1 && told[0].mask.intersects(EventMask::VALUE));
}

#[test]
fn what_cannot_be_created_says_why() {
    let mut side = Side::new();
    let text = |result: Result<Pv, CreateError>| result.unwrap_err().to_string();
    let mut create =
        |type_, name, fields| side.application.create(&mut side.database, type_, name, fields, None);
    create("ai", "taken", &[]).unwrap();
    assert_eq!(text(create("calc", "x", &[])), "record type \"calc\" is not supported");
    assert_eq!(text(create("ai", "taken", &[])), "the name \"taken\" cannot be used: the name is taken");
    assert_eq!(
        text(create("ai", "x", &[("HHSV", "BAD")])),
        "\"BAD\" is none of NO_ALARM, MINOR, MAJOR, INVALID"
    );
    let unknown = text(create("ai", "x", &[("NOPE", "1")]));
    assert!(unknown.starts_with("field \"NOPE\" of ai is not supported; remove it"), "{unknown}");
    assert_eq!(side.database.find(b"x"), None);
    let mut open = |name| side.application.open(&mut side.database, name, None);
    assert_eq!(text(open("x")), "there is no such record");
    assert_eq!(text(open("taken")), "it is the application's already");
    side.database.add_double(b"plain").unwrap();
    let pv = side.application.open(&mut side.database, "plain", None).unwrap();
    pv.set(3).unwrap();
    side.turn();
    assert_eq!(side.get("plain"), "3");
}
