// SPDX-License-Identifier: BSD-2-Clause
//! What .db files bring, and what their errors say.

use super::load;
use crate::pv::Database;
use crate::pv::tests::{alarm, get};
use crate::value::{Alarm, Severity, Status};
use proptest::prelude::*;

fn loaded(text: &str) -> Database {
    let mut database = Database::new();
    load(&mut database, "test.db", text.as_bytes(), &[("P", "x:"), ("NESTED", "$(P)n")])
        .unwrap_or_else(|error| panic!("{error}"));
    database
}

fn error(text: &str) -> String {
    let mut database = Database::new();
    let error = load(&mut database, "test.db", text.as_bytes(), &[("LOOP", "$(LOOP)")]).unwrap_err();
    assert!(database.is_empty() && database.find(b"r").is_none(), "something was loaded");
    error.to_string()
}

#[test]
fn a_file_as_people_write_them() {
    let text = r#"
# A comment with "quotes" and $(UNDEFINED)
record(ao, "$(P)setpoint") {    # and one behind
    field(DESC, "Set \"point\"")
    field(EGU, "mm") field(PREC, 3)
    field(DRVH, "10.5") field(DRVL, -1e1)
    field(HOPR, "${MAX=0x10}")
    field(VAL, "$(START=$(P=0)2.5)")
    field(DTYP, "Soft Channel") field(SCAN, "Passive") field(FLNK, "")
    info(autosaveFields, "VAL")
    info(Q:group, {"x": [1, "]"]})
    alias("$(NESTED)ick")
}
record("*", "$(P)setpoint") { field(HIHI, "9") field(HHSV, "MAJOR") }
grecord(mbbo, $(P)mode) {
    field(ZRST, "off") field(ZRVL, "0") field(ONST, "on") field(ONVL, 1) field(ONSV, MINOR)
    field(VAL, "1") field(PINI, "YES")
}
record(longin, "$(P)mask") { field(VAL, "0x1F") field(PHAS, "1") }
record(longout, "$(P)octal") { field(DOL, "010") }
record(stringin, "$(P)text") { field(VAL, "a\tb") }
record(waveform, "$(P)wave") { field(INP, [1, 2.5, -3]) field(NELM, "4") field(FTVL, "SHORT") }
record(waveform, "$(P)texts") { field(FTVL, STRING) field(NELM, 3) field(INP, ["one", "two, too"]) }
record(waveform, "$(P)empty")
alias("$(P)mask", "$(P)also")
"#;
    let text = text.replace("$(START=$(P=0)2.5)", "$(START=2.5)");
    let mut database = loaded(&text);
    for (name, value) in [
        ("x:setpoint", "2.500"),
        ("x:nick", "2.500"),
        ("x:setpoint.DESC", "Set \"point\""),
        ("x:setpoint.EGU", "mm"),
        ("x:setpoint.PREC", "3"),
        ("x:setpoint.HOPR", "16.000"),
        ("x:setpoint.DRVL", "-10.000"),
        ("x:setpoint.HHSV", "MAJOR"),
        ("x:mode", "on"),
        ("x:mask", "31"),
        ("x:also", "31"),
        ("x:octal", "8"),
        ("x:text", "a\tb"),
        ("x:wave", "1 2 -3"),
        ("x:wave.NELM", "4"),
        ("x:wave.FTVL", "SHORT"),
        ("x:texts", "one two, too"),
        ("x:empty.NELM", "1"),
    ] {
        assert_eq!(get(&mut database, name), value, "{name}");
    }
    // As a real IOC starts: a given value is defined but in status UDF, a constant link leaves it INVALID, PINI processes.
    let undefined = |severity| Alarm { status: Status::Undefined, severity };
    assert_eq!(alarm(&mut database, "x:setpoint"), undefined(Severity::None));
    assert_eq!(alarm(&mut database, "x:octal"), undefined(Severity::Invalid));
    assert_eq!(alarm(&mut database, "x:mode"), Alarm { status: Status::State, severity: Severity::Minor });
}

#[test]
fn a_value_from_the_file_is_no_change_of_state() {
    let text = "record(bi, b) { field(COSV, MAJOR) field(VAL, 1) field(PINI, YES) }\n\
                record(ai, a) { field(MDEL, 1) field(VAL, 7) }";
    let mut database = loaded(text);
    assert_eq!(alarm(&mut database, "b"), Alarm::NONE);
    assert_eq!((get(&mut database, "a.MLST"), get(&mut database, "a.LALM")), ("7".into(), "7".into()));
}

#[test]
fn notes_say_what_was_ignored() {
    let mut database = Database::new();
    let loaded = load(&mut database, "n.db", b"record(ai, a) { info(x, \"1\") info(y, z) }", &[]).unwrap();
    assert_eq!(loaded.records, 1);
    assert_eq!(loaded.notes, ["2 info items were ignored: nothing here uses them"]);
}

/// What a stringin can be given in a file.
const TEXTS_FIELDS: &str = "ASG, DESC, INP, PINI, PROC, UDF, VAL";

#[test]
fn errors_name_place_and_remedy() {
    let types = "ai, ao, longin, longout, bo, mbbo, stringin, waveform, bi, mbbi, stringout, lsi, lso, int64in, \
                 int64out";
    for (text, message) in [
        ("record(calc, \"c\") {}", format!("1:8: record type \"calc\" is not supported; these are: {types}")),
        (
            "record(ai, \"r\") {\n  field(SCAN, \"1 second\")\n}",
            "2:15: SCAN \"1 second\" of ai is not supported: nothing is scanned here; a record processes when it is \
             written: use Passive"
                .into(),
        ),
        (
            "record(ai, \"r\") { field(INP, \"other CP\") }",
            "1:30: INP \"other CP\" is a link, and links are not followed here; give a constant or remove it".into(),
        ),
        (
            "record(ao, \"r\") { field(OUT, \"@asyn(X)\") }",
            "1:30: OUT \"@asyn(X)\" of ao is not supported: links are not followed here; leave it empty".into(),
        ),
        (
            "record(ao, \"r\") { field(DTYP, \"asynFloat64\") }",
            "1:31: DTYP \"asynFloat64\" of ao is not supported: there is no device support here; use \"Soft Channel\""
                .into(),
        ),
        (
            "record(stringin, \"r\") { field(FOO, \"1\") }",
            format!("1:31: field \"FOO\" of stringin is not supported; remove it or use one of {TEXTS_FIELDS}"),
        ),
        (
            "record(stringin, \"r\") { field(NAME, \"n\") }",
            format!("1:31: field \"NAME\" of stringin is not supported; remove it or use one of {TEXTS_FIELDS}"),
        ),
        ("record(ao, \"r\") { field(VAL, \"1 mm\") }", "1:30: \"1 mm\" is not a number".into()),
        ("record(longout, \"r\") { field(VAL, \"1.5\") }", "1:35: \"1.5\" is not an integer".into()),
        (
            "record(longout, \"r\") { field(VAL, \"3000000000\") }",
            "1:35: \"3000000000\" is not between -2147483648 and 2147483647".into(),
        ),
        (
            "record(ao, \"r\") { field(HHSV, \"BAD\") }",
            "1:31: \"BAD\" is none of NO_ALARM, MINOR, MAJOR, INVALID".into(),
        ),
        (
            "record(ao, \"r\") { field(EGU, \"sixteen letters.\") }",
            "1:30: EGU has 16 characters; 15 is the most".into(),
        ),
        (
            "record(ao, \"$(P)r\") {}",
            "1:12: macro \"P\" is not defined; give it a value when loading the file, or a default: $(P=...)".into(),
        ),
        (
            "record(ao, \"$(LOOP)\") {}",
            "1:12: macros refer to each other more than 16 deep: \"LOOP\"".into(),
        ),
        ("record(ao, \"$(P\") {}", "1:12: a macro is not closed: \"$(P\"".into()),
        ("record(ao, \"r) {}", "1:12: a quote is not closed on its line".into()),
        ("record(ao, \"r\") {\n field(VAL, 1)\n", "1:17: this '{' is not closed".into()),
        ("record(ao \"r\") {}", "1:11: ',' expected, not \"r\"".into()),
        ("record(ao, \"r\") field(VAL, 1)", "1:17: \"field\" is no statement; record, alias and comments are".into()),
        ("record(ao, \"r\") { field(VAL) }", "1:28: ',' expected, not ')'".into()),
        (
            "record(ao, \"a b\") {}",
            "1:12: the name \"a b\" cannot be used: names have 1 to 60 characters, without blanks, quotes, '.' or '$'"
                .into(),
        ),
        (
            "record(ao, \"r\") {}\nrecord(ai, \"r\") {}",
            "2:12: record \"r\" is a ao already; use \"*\" to add fields to it".into(),
        ),
        ("record(ao, \"r\") {}\nalias(\"r\", \"r\")", "2:12: the name \"r\" cannot be used: the name is taken".into()),
        ("alias(\"r\", \"s\")", "1:7: there is no record \"r\" to alias".into()),
        ("include \"other.db\"", "1:1: include is not supported; load the files one by one".into()),
        (
            "recordtype(x) {}",
            "1:1: recordtype belongs into a .dbd file; remove it: record types are built in".into(),
        ),
        ("recrod(ao, r) {}", "1:1: \"recrod\" is no statement; record, alias and comments are".into()),
        ("record(ao, r) { filed(VAL, 1) }", "1:17: \"filed\" is none of field, alias, info".into()),
        ("record(ao, r) { field(VAL, @1) }", "1:28: \"@1)\" is no part of a .db file here; quote it".into()),
        (
            "record(waveform, r) { field(VAL, 1) }",
            "1:34: VAL of a waveform cannot be given; use INP with a constant array: [1, 2, 3]".into(),
        ),
        ("record(waveform, r) { field(NELM, 0) }", "1:35: NELM is out of range".into()),
        ("record(waveform, r) { field(NELM, 4000000000) }", "1:35: out of memory for NELM".into()),
        ("record(waveform, r) { field(FTVL, LONG) field(INP, [\"a\"]) }", "1:52: \\\"a\\\" does not fit FTVL".into()),
        ("record(ai, r) { field(INP, {pva: \"x\"}) }", "1:28: JSON links are not supported; give a constant".into()),
        (
            "record(ai, r) { field(ASG, \"a name of more than 28 letters\") }",
            "1:28: ASG \"a name of more than 28 letters\" cannot be used: it has up to 28 characters".into(),
        ),
        (
            "record(lsi, r) { field(VAL, \"text\") }",
            "1:29: VAL of lsi cannot be given; use INP with a constant: {const:\"text\"}".into(),
        ),
    ] {
        assert_eq!(error(text), format!("test.db:{message}"), "{text}");
    }
}

#[test]
fn what_was_there_stays_after_an_error() {
    let mut database = Database::new();
    load(&mut database, "a.db", b"record(ao, a) { field(VAL, 1) }", &[]).unwrap();
    let bad = b"record(ao, b) { alias(c) }\nrecord(ao, a) {}";
    let error = load(&mut database, "b.db", bad, &[]).unwrap_err();
    assert_eq!(error.to_string(), "b.db:2:12: record \"a\" exists already; give it another name");
    assert_eq!(database.len(), 1);
    assert_eq!((database.find(b"b"), database.find(b"c")), (None, None));
    load(&mut database, "b.db", b"record(ao, b) { alias(c) field(VAL, 2) }", &[]).unwrap();
    assert_eq!((get(&mut database, "a"), get(&mut database, "c")), ("1".into(), "2".into()));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = load(&mut Database::new(), "f.db", &bytes, &[("P", "v")]);
    }

    #[test]
    fn no_tokens_make_it_panic(tokens in prop::collection::vec(prop::sample::select(vec![
        "record", "(", ")", "{", "}", ",", "field", "alias", "info", "ao", "waveform", "mbbo", "\"r\"", "VAL", "INP",
        "NELM", "FTVL", "ZRST", "[1,2", "]", "$(P)", "$(", "${P=", "1", "-0x7", "\"\\", "\"\\x4", "#", "\n", "STRING",
        "9999999999999999999", "*", "\"*\"", "record(waveform,w){field(NELM,2)field(FTVL,", "})", "\u{b0}",
    ]), 0..40)) {
        let text = tokens.concat();
        let _ = load(&mut Database::new(), "f.db", text.as_bytes(), &[("P", "v")]);
    }
}
