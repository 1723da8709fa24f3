// SPDX-License-Identifier: BSD-2-Clause
//! What an IOC serves and who may write, from settings and the files that they name. Pure: settings and files are functions,
//! so that a board takes them from its boot command line, firmware, image and file systems.
//!
//! | setting | meaning |
//! |---|---|
//! | `db` | .db files, separated by commas |
//! | `macros` | their macros: `A=1,B=2` |
//! | `acf` | access security file |
//! | `check-client-ip` | `yes`: host names in it stand for addresses |
//! | `read-only` | `yes`: nobody may write |
//! | `put-log` | `yes`: every put is logged |
//!
//! An IOC far away should come up with what is right: a .db file with an error is left out, and the log says so. With
//! the access security file it is the other way round: while that cannot be taken, nobody may write.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::provider::Served;
use crate::pv::{StatusSource, db};
use crate::security::acf;

/// The value of a setting.
pub type Get<'a> = &'a dyn Fn(&str) -> Option<String>;
/// The content of a file, or why there is none.
pub type Read<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Puts the settings into effect; how many of them could not be.
pub fn apply<S: StatusSource>(
    served: &mut Served<S>,
    get: Get<'_>,
    read: Read<'_>,
    resolve: acf::Resolve<'_>,
) -> u32 {
    let mut failures = databases(served, get, read);
    // What is neither yes nor no is yes: all that these switches do is to be careful.
    let yes = |name: &str| get(name).is_some_and(|value| is_yes(&value));
    served.security.set_log_all(yes("put-log"));
    served.security.set_read_only(yes("read-only"));
    let Some(path) = get("acf") else { return failures };
    let by_address = yes("check-client-ip").then_some(resolve);
    let rules = read(&path)
        .map_err(|why| alloc::format!("{path}: {why}"))
        .and_then(|text| acf::parse(&path, &text, by_address).map_err(|error| alloc::format!("{error}")));
    match rules {
        Ok(rules) => {
            for host in rules.unresolved() {
                log::warn!("{path}: host {} could not be resolved", host.escape_ascii());
            }
            served.security.set_rules(Some(rules));
        }
        Err(why) => {
            log::error!("{why}; until `access load FILE` nobody may write");
            served.security.lock();
            failures += 1;
        }
    }
    failures
}

fn databases<S: StatusSource>(served: &mut Served<S>, get: Get<'_>, read: Read<'_>) -> u32 {
    let given = get("macros").unwrap_or_default();
    let mut failures = 0;
    let mut macros = Vec::new();
    for definition in db::definitions(&given) {
        match definition {
            Ok(pair) if macros.try_reserve(1).is_ok() => macros.push(pair),
            Ok((name, _)) => log::error!("no memory for macro {name}"),
            Err(text) => {
                log::error!("macros: {text} is not of the form NAME=VALUE");
                failures += 1;
            }
        }
    }
    let files = get("db").unwrap_or_default();
    for path in files.split(',').map(str::trim).filter(|path| !path.is_empty()) {
        let text = match read(path) {
            Ok(text) => text,
            Err(why) => {
                log::error!("{path}: {why}; it is left out");
                failures += 1;
                continue;
            }
        };
        match db::load(&mut served.database, path, &text, &macros) {
            Ok(loaded) => {
                log::info!("{path}: {} records", loaded.records);
                loaded.notes.iter().for_each(|note| log::warn!("{path}: {note}"));
            }
            Err(error) => {
                log::error!("{error}; the file is left out");
                failures += 1;
            }
        }
    }
    served.database.shrink();
    failures
}

/// Anything but `no`, `off`, `false` and `0`, whatever the case: a switch without a value is on.
pub fn is_yes(value: &str) -> bool {
    !["no", "off", "false", "0"].iter().any(|no| value.trim().eq_ignore_ascii_case(no))
}

/// The settings in a file of lines `NAME=VALUE`; `#` begins a comment, and other lines mean nothing.
pub fn settings_in(text: &[u8]) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        let line = core::str::from_utf8(line).unwrap_or_default();
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some((name, value)) = line.split_once('=')
            && settings.try_reserve(1).is_ok()
        {
            settings.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pv::Database;
    use crate::pv::tests::{MACHINE, Machine, get};
    use crate::security::{Level, Subject};

    fn served() -> Served<Machine> {
        Served::new(Database::new(), MACHINE, 0)
    }

    fn read(path: &str) -> Result<Vec<u8>, String> {
        Ok(match path {
            "/a.db" => b"record(ao, \"$(P)a\") { field(VAL, $(V=1)) }".to_vec(),
            "/b.db" => b"record(ao, \"$(P)b\") {}\nrecord(oops".to_vec(),
            "/c.db" => b"record(ao, \"$(P)c\") {}".to_vec(),
            "/x.acf" => {
                b"HAG(h) { console1 } ASG(DEFAULT) { RULE(1, READ) RULE(1, WRITE) { HAG(h) } }".to_vec()
            }
            "/bad.acf" => b"ASG(DEFAULT) { RULE(1, WRITE) { CALC(\"1\") } }".to_vec(),
            _ => return Err("no such file".into()),
        })
    }

    fn applied(settings: &[(&str, &str)]) -> (Served<Machine>, u32) {
        let mut served = served();
        let get =
            |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        let failures = apply(&mut served, &get, &read, &|name| (name == "console1").then_some(7));
        (served, failures)
    }

    fn may_write(served: &Served<Machine>, host: &str, address: u32) -> bool {
        let who = Subject { user: b"u", host: host.as_bytes(), address };
        served.security.granted(b"", Level::Value, &who).write
    }

    #[test]
    fn what_is_right_is_served_and_what_is_wrong_is_left_out() {
        let (mut served, failures) =
            applied(&[("db", "/a.db, /b.db,/none.db,/c.db"), ("macros", "P=x:,V=7,oops")]);
        assert_eq!(failures, 3);
        assert_eq!(get(&mut served.database, "x:a"), "7");
        assert!(served.database.find(b"x:b").is_none() && served.database.find(b"x:c").is_some());
        assert!(may_write(&served, "", 0));
    }

    #[test]
    fn without_its_rules_nobody_writes() {
        for path in ["/bad.acf", "/none.acf"] {
            let (served, failures) = applied(&[("acf", path)]);
            assert!(failures == 1 && !may_write(&served, "console1", 7));
            // What the log asks for, `access load FILE`.
            let (mut served, rules) = (served, acf::parse("/x.acf", &read("/x.acf").unwrap(), None).unwrap());
            served.security.set_rules(Some(rules));
            assert!(may_write(&served, "console1", 8) && !may_write(&served, "elsewhere", 7));
        }
        let (served, failures) = applied(&[("acf", "/x.acf")]);
        assert!(failures == 0 && may_write(&served, "console1", 8) && !may_write(&served, "elsewhere", 7));
        let (served, _) = applied(&[("acf", "/x.acf"), ("check-client-ip", "YES")]);
        assert!(!may_write(&served, "console1", 8) && may_write(&served, "elsewhere", 7));
        let (served, _) = applied(&[("read-only", ""), ("put-log", "")]);
        assert!(!may_write(&served, "", 0) && served.security.logs_all());
        let (served, _) = applied(&[("read-only", "No"), ("put-log", "0")]);
        assert!(may_write(&served, "", 0) && !served.security.logs_all());
        let (served, _) = applied(&[("read-only", "on"), ("put-log", "1")]);
        assert!(!may_write(&served, "", 0) && served.security.logs_all());
    }

    #[test]
    fn a_file_of_settings() {
        let text =
            b"# where\nname = crate7\nEPICS_CAS_SERVER_PORT=5070 # not the usual one\nnonsense\n\xff=1\n";
        let found = settings_in(text);
        let pairs: Vec<(&str, &str)> = found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(pairs, [("name", "crate7"), ("EPICS_CAS_SERVER_PORT", "5070")]);
    }
}
