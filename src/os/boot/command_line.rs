// SPDX-License-Identifier: BSD-2-Clause
//! The boot command line: words separated by blanks; quotes keep blanks in a word.

use alloc::string::String;

/// The value of `--name=value`: the last one, as on every command line. Words that only contain that text do not count.
pub fn option(line: &str, name: &str) -> Option<String> {
    last(line, name, None)
}

/// The same of a switch: `--name` alone and `--name=` say yes, as a program's command line would have it.
pub fn switch(line: &str, name: &str) -> Option<String> {
    last(line, name, Some(super::YES))
}

/// The last `--name=value`; `bare` is what `--name` and `--name=` stand for.
fn last(line: &str, name: &str, bare: Option<&str>) -> Option<String> {
    let mut found = None;
    let mut rest = line;
    while let Some((word, after)) = word(rest) {
        rest = after;
        let value = word.strip_prefix("--").and_then(|word| word.strip_prefix(name));
        match value {
            Some("") if bare.is_some() => found = bare.map(String::from),
            Some(value) => {
                if let Some(value) = value.strip_prefix('=') {
                    found = if value.is_empty() { bare } else { Some(value) }.map(String::from);
                }
            }
            None => {}
        }
    }
    found
}

/// The first word of a line without its quotes, and what follows it.
fn word(line: &str) -> Option<(String, &str)> {
    let line = line.trim_start();
    if line.is_empty() {
        return None;
    }
    let mut word = String::new();
    let mut quote = None;
    for (at, character) in line.char_indices() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => word.push(character),
            None if character == '"' || character == '\'' => quote = Some(character),
            None if character.is_whitespace() => return Some((word, &line[at..])),
            None => word.push(character),
        }
    }
    Some((word, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_a_whole_word() {
        let get = |line: &str| option(line, "ip");
        assert_eq!(get("--ip=10.0.0.1").as_deref(), Some("10.0.0.1"));
        assert_eq!(get("  boot\t--mask=255.0.0.0 --ip=10.0.0.1\r\n--x=1").as_deref(), Some("10.0.0.1"));
        for other in [
            "",
            "  ",
            "--ip",
            "--ip=",
            "ip=10.0.0.1",
            "-ip=10.0.0.1",
            "x--ip=10.0.0.1",
            "--skip=10.0.0.1",
            "--ipx=10.0.0.1",
            "--path=--ip=10.0.0.1",
            "\"--name=a --ip=10.0.0.1\"",
        ] {
            assert_eq!(get(other), None, "{other}");
        }
    }

    #[test]
    fn a_switch_alone_is_yes() {
        let get = |line: &str| switch(line, "read-only");
        for yes in ["--read-only", "--read-only=", "--ip=1 --read-only --x=2", "--read-only=no --read-only"] {
            assert_eq!(get(yes).as_deref(), Some("yes"), "{yes}");
        }
        assert_eq!(get("--read-only --read-only=no").as_deref(), Some("no"));
        for other in ["", "read-only", "--read-onlyx", "--not--read-only", "\"--x --read-only\""] {
            assert_eq!(get(other), None, "{other}");
        }
    }

    #[test]
    fn quotes_keep_blanks_and_the_last_one_counts() {
        let line = r#"--list="10.0.0.1 10.0.0.2:5065" --name='my ioc' --list=10.0.0.3"#;
        assert_eq!(option(line, "list").as_deref(), Some("10.0.0.3"));
        assert_eq!(option(line, "name").as_deref(), Some("my ioc"));
        assert_eq!(option(r#"--list="10.0.0.1 10.0.0.2""#, "list").as_deref(), Some("10.0.0.1 10.0.0.2"));
        assert_eq!(option(r#"--list="not closed --ip=1"#, "list").as_deref(), Some("not closed --ip=1"));
        assert_eq!(option("--list=10.0.0.1 --list=", "list"), None, "taken back");
    }
}
