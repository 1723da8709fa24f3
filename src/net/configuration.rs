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
//! the access security file and a file of settings, in which that or `read-only` could stand, it is the other way round:
//! while one of them cannot be taken as a whole, nobody may write.

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

/// What the boot may say in a file of settings, beside the `EPICS_` variables.
const NAMES: [&str; 7] = ["name", "db", "macros", "acf", "check-client-ip", "read-only", "put-log"];

/// What a file of settings says: lines `NAME=VALUE`, in which `#` begins a comment.
#[derive(Debug, Default)]
pub struct Listed {
    settings: Vec<(String, String)>,
    /// What could not be taken: the file itself, or lines of it. A restriction may have been among it.
    lost: u32,
}

impl Listed {
    /// Reads the file. The log names what cannot be taken.
    pub fn read(path: &str, read: Read<'_>) -> Listed {
        match read(path) {
            Ok(text) => Listed::parse(path, &text),
            Err(why) => {
                log::error!("{path}: {why}");
                Listed { settings: Vec::new(), lost: 1 }
            }
        }
    }

    fn parse(path: &str, text: &[u8]) -> Listed {
        let mut listed = Listed::default();
        // What some editors put before a text.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
            let line = line.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii();
            if line.is_empty() {
                continue;
            }
            if let Err(why) = listed.take(line) {
                log::error!("{path}: line {number}: {}: {why}", line.escape_ascii());
                listed.lost += 1;
            }
        }
        listed
    }

    fn take(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let line = core::str::from_utf8(line).map_err(|_| "this is not UTF-8")?;
        let (name, value) = line.split_once('=').ok_or("this is not of the form NAME=VALUE")?;
        let name = name.trim();
        if !NAMES.contains(&name) && !name.starts_with("EPICS_") {
            return Err("there is no such setting");
        }
        self.settings.try_reserve(1).map_err(|_| "no memory")?;
        self.settings.push((name.to_owned(), value.trim().to_owned()));
        Ok(())
    }

    /// A setting; the first line of it counts.
    pub fn get(&self, name: &str) -> Option<String> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

/// Puts the settings into effect; how many of them could not be. `listed` is the file that some of them came from: while
/// that is not taken as a whole nobody may write, whatever the others say.
pub fn apply<S: StatusSource>(
    served: &mut Served<S>,
    listed: &Listed,
    get: Get<'_>,
    read: Read<'_>,
    resolve: acf::Resolve<'_>,
) -> u32 {
    let failures = databases(served, get, read) + access(served, get, read, resolve);
    if listed.lost > 0 {
        log::error!("not all settings of the file could be taken; until `access load FILE` nobody may write");
        served.security.lock();
    }
    failures + listed.lost
}

fn access<S: StatusSource>(
    served: &mut Served<S>,
    get: Get<'_>,
    read: Read<'_>,
    resolve: acf::Resolve<'_>,
) -> u32 {
    // What is neither yes nor no is yes: all that these switches do is to be careful.
    let yes = |name: &str| get(name).is_some_and(|value| is_yes(&value));
    served.security.set_log_all(yes("put-log"));
    served.security.set_read_only(yes("read-only"));
    let Some(path) = get("acf") else { return 0 };
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
            0
        }
        Err(why) => {
            log::error!("{why}; until `access load FILE` nobody may write");
            served.security.lock();
            1
        }
    }
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
        let failures =
            apply(&mut served, &Listed::default(), &get, &read, &|name| (name == "console1").then_some(7));
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

    fn file(text: &'static [u8]) -> Listed {
        Listed::read("/x", &|_| Ok(text.to_vec()))
    }

    #[test]
    fn a_file_of_settings() {
        let listed = file(
            b"\xef\xbb\xbfname = crate7\r\n# w\xe4re\nEPICS_CAS_SERVER_PORT=5070 # usual\n\nname=2\nmacros=A=1\n",
        );
        assert_eq!(listed.get("name").as_deref(), Some("crate7"));
        assert_eq!(listed.get("EPICS_CAS_SERVER_PORT").as_deref(), Some("5070"));
        assert_eq!(listed.get("macros").as_deref(), Some("A=1"));
        assert_eq!((listed.get("acf"), listed.lost), (None, 0));
        let typos: [&[u8]; 5] = [b"read_only=yes", b"ACF=/x.acf", b"acf /x.acf", b"=1", b"acf=\xff"];
        for line in typos {
            let listed = Listed::parse("/x", &[b"put-log=no\n", line].concat());
            assert_eq!((listed.lost, listed.get("put-log").as_deref()), (1, Some("no")), "{line:?}");
        }
    }

    #[test]
    fn without_all_of_its_settings_nobody_writes() {
        let lost =
            [file(b"read_only=yes"), file(b"acf"), Listed::read("/none", &|_| Err("no such file".into()))];
        for listed in lost {
            for acf in [None, Some("/x.acf")] {
                let mut served = served();
                // What the boot line says comes first, but opens nothing.
                let get = |name: &str| match name {
                    "read-only" => Some("no".into()),
                    "acf" => acf.map(Into::into),
                    _ => listed.get(name),
                };
                assert_eq!(apply(&mut served, &listed, &get, &read, &|_| None), 1);
                served.security.set_read_only(false);
                assert!(!may_write(&served, "console1", 7) && served.security.is_locked());
                let rules = acf::parse("/x.acf", &read("/x.acf").unwrap(), None).unwrap();
                served.security.set_rules(Some(rules));
                assert!(may_write(&served, "console1", 7));
            }
        }
        let (mut served, listed) = (served(), file(b"put-log=yes"));
        assert_eq!(apply(&mut served, &listed, &|name| listed.get(name), &read, &|_| None), 0);
        assert!(may_write(&served, "", 0) && served.security.logs_all());
    }
}
