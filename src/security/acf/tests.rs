// SPDX-License-Identifier: BSD-2-Clause
//! What access security files grant, and what their errors say.

use super::parse;
use crate::security::{Level, Permission, Rules, Subject};
use proptest::prelude::*;

const FILE: &str = r#"
# who
UAG(operators) { ann, "bob" }
UAG(nobody)
HAG(control) { Console1, 10.0.0.7 }
ASG(DEFAULT) {
    RULE(1, READ)
    RULE(1, WRITE, TRAPWRITE) { UAG(operators) HAG(control) }
}
ASG(value) {
    RULE(0, WRITE) { UAG(operators, nobody) }
    RULE(1, READ, NOTRAPWRITE) {}
}
ASG("closed") {}
ASG(first) { RULE(1, WRITE) RULE(1, WRITE, TRAPWRITE) }
"#;

fn rules() -> Rules {
    parse("test.acf", FILE.as_bytes(), None).unwrap_or_else(|error| panic!("{error}"))
}

fn who(user: &'static str, host: &'static str, address: u32) -> Subject<'static> {
    Subject { user: user.as_bytes(), host: host.as_bytes(), address }
}

#[test]
fn rules_grant_the_most_that_applies() {
    let rules = rules();
    assert_eq!(rules.counts(), (2, 1, 4, 6));
    use Permission::{None, Read, Write};
    for (group, level, who, permission, logged) in [
        ("DEFAULT", Level::Value, who("ann", "console1", 1), Write, true),
        ("unheard-of", Level::Field, who("bob", "CONSOLE1", 1), Write, true),
        ("DEFAULT", Level::Value, who("bob", "elsewhere", 0x0a00_0007), Write, true),
        ("DEFAULT", Level::Value, who("ann", "10.0.0.7", 1), Read, false),
        ("DEFAULT", Level::Value, who("Ann", "console1", 1), Read, false),
        ("value", Level::Value, who("ann", "", 0), Write, false),
        ("value", Level::Field, who("ann", "", 0), Read, false),
        ("value", Level::Value, who("eve", "", 0), Read, false),
        ("closed", Level::Value, who("ann", "console1", 1), None, false),
        ("first", Level::Value, who("", "", 0), Write, false),
    ] {
        assert_eq!(rules.permission(group.as_bytes(), level, &who), (permission, logged), "{group} {who:?}");
    }
}

#[test]
fn without_a_default_there_is_no_access() {
    let rules = parse("x", b"ASG(other) { RULE(1, WRITE) }", None).unwrap();
    let granted = rules.permission(b"DEFAULT", Level::Value, &who("ann", "h", 1));
    assert_eq!(granted, (Permission::None, false));
}

#[test]
fn names_become_addresses_where_those_count() {
    let resolve = |name: &str| (name == "console1").then_some(5);
    let text = b"HAG(h) { console1, console2 } ASG(DEFAULT) { RULE(1, WRITE) { HAG(h) } }";
    let rules = parse("x", text, Some(&resolve)).unwrap();
    let permission = |who| rules.permission(b"", Level::Value, &who).0;
    assert_eq!(permission(who("", "whatever", 5)), Permission::Write);
    assert_eq!(permission(who("", "console1", 6)), Permission::None);
    assert_eq!(permission(who("", "console2", 6)), Permission::None);
    assert_eq!(rules.unresolved().collect::<std::vec::Vec<_>>(), [b"console2"]);
}

#[test]
fn errors_name_the_line_and_what_is_not_supported() {
    for (text, message) in [
        (
            "ASG(a) {\n  INPA(temp)\n}",
            "2: INPA is not supported: rules do not depend on the values of records here",
        ),
        (
            "ASG(a) {\n RULE(1, WRITE) {\n CALC(\"A=1\") } }",
            "3: CALC is not supported in a rule; UAG and HAG are",
        ),
        (
            "ASG(a) { RULE(1, WRITE) { METHOD(\"x\") } }",
            "1: METHOD is not supported in a rule; UAG and HAG are",
        ),
        ("ASG(a) { RULE(1, WRITE) { UAG(ops) } }", "1: there is no UAG \"ops\"; define it first"),
        ("ASG(a) { RULE(1, WRITE) { HAG(hs) } }", "1: there is no HAG \"hs\"; define it first"),
        ("ASG(a) { RULE(1, WRITE) { UAG() } }", "1: UAG names no group"),
        ("ASG(a) { RULE(1, WRITE) {\n HAG(,) } }", "2: HAG names no group"),
        ("ASG(a) { RULE(2, WRITE) }", "1: level \"2\" is none: give 0 or 1"),
        ("ASG(a) { RULE(1, PUT) }", "1: permission \"PUT\" is none of NONE, READ, WRITE"),
        ("ASG(a) { RULE(1, WRITE, TRAP) }", "1: \"TRAP\" is neither TRAPWRITE nor NOTRAPWRITE"),
        ("UAG(a)\nUAG(a)", "2: UAG \"a\" is there already"),
        ("HAG(a) HAG(a)", "1: HAG \"a\" is there already"),
        ("ASG(a) ASG(a)", "1: ASG \"a\" is there already"),
        ("GROUP(a)", "1: \"GROUP\" is out of place; UAG, HAG and ASG are known"),
        ("ASG(a) {", "1: RULE or '}' expected, not the end of the file"),
        ("UAG(a) { b ", "1: a name or '}' expected, not the end of the file"),
        ("UAG(\"a", "1: a quote is not closed on its line"),
        ("UAG(a) { b = c }", "1: \"=\" cannot be used here; quote it"),
        ("UAG a", "1: '(' expected, not \"a\""),
    ] {
        assert_eq!(
            parse("f", text.as_bytes(), None).unwrap_err().to_string(),
            std::format!("f:{message}"),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse("f", &bytes, None);
    }

    #[test]
    fn no_tokens_make_it_panic(tokens in prop::collection::vec(prop::sample::select(std::vec![
        "UAG", "HAG", "ASG", "RULE", "(", ")", "{", "}", ",", "1", "WRITE", "READ", "TRAPWRITE", "a", "\"b c\"", "CALC",
        "INPA", "#", "\n", "10.0.0.1", "\"", "UAG(a){b}", "ASG(d){RULE(0,READ){UAG(a)}}",
    ]), 0..40)) {
        let _ = parse("f", tokens.concat().as_bytes(), None);
    }
}
