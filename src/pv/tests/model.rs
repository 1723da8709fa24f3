// SPDX-License-Identifier: BSD-2-Clause
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
