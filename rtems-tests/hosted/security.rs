// SPDX-License-Identifier: BSD-2-Clause
//! Access rights beside softIoc under the same files: at the start, after a change while clients are connected, and after
//! a record has changed its group. And what only ours has: the read-only switch, addresses, the log of puts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::circuit::{Channel, Circuit};
use crate::support::client_tools::run;
use crate::support::deadline::{PATIENCE, retry};
use crate::support::message::{Message, command};
use crate::support::python::Clients;
use crate::support::server::Server;
use crate::{ClientTest, Test, program};

/// Tests of our server alone.
pub const TESTS: &[(&str, Test)] = &[
    ("a_bad_acf_is_one_line_and_code_2", a_bad_acf_is_one_line_and_code_2),
    ("a_bad_acf_at_run_time_changes_nothing", a_bad_acf_at_run_time_changes_nothing),
    ("addresses_count_where_they_are_asked_for", addresses_count_where_they_are_asked_for),
    ("puts_are_logged", puts_are_logged),
];

/// Tests of our server with the real clients.
pub const CLIENT_TESTS: &[(&str, ClientTest)] =
    &[("refusals_reach_the_real_clients", refusals_reach_the_real_clients)];

/// Users and hosts as clients claim to be.
const CLIENTS: &[(&str, &str)] = &[
    ("ann", "console1"),
    ("bob", "elsewhere"),
    ("eve", "console1"),
    ("Ann", "CONSOLE1"),
    ("ann", "LocalHost"),
];

const NAMES: &[&str] = &[
    "sec:default",
    "sec:default.HIHI",
    "sec:ops",
    "sec:ops.DESC",
    "sec:value",
    "sec:value.EGU",
    "sec:closed",
    "sec:closed.VAL$",
    "sec:unknown",
    "sec:unknown.ASG",
    "sec:address",
];

/// A record of `security.db`.
pub const KNOWN: &str = "sec:default";

/// The status of an update that may not be read.
const ECA_NORDACCESS: u32 = 0x170;

/// How long nothing must come before all has come, after both servers have said as much.
const QUIET: Duration = Duration::from_millis(300);

pub fn file(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("rtems-tests/hosted").join(name).display().to_string()
}

/// Our server with the records and first rules of this test.
pub fn ours(more: &[&str]) -> Result<Server, String> {
    let (db, acf) = (file("security.db"), file("security.acf"));
    let mut options = vec!["--db", &db, "--acf", &acf, "--shell"];
    options.extend(more);
    Server::ours(&options, KNOWN)
}

/// softIoc with the same.
pub fn rsrv(clients: &Clients) -> Result<Server, String> {
    let (db, acf) = (file("security.db"), file("security.acf"));
    Server::rsrv_with(clients, &["-a", &acf, "-d", &db], KNOWN)
}

/// What a client knows of a channel. The order in which rights and updates come is each server's own, and rsrv sends the
/// value again when only the right to write has changed: what counts is what is known in the end.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    access: u32,
    /// Status of the last update.
    update: u32,
    /// Statuses of a read and a put at the start.
    first: Vec<String>,
}

/// One client's channels on one server, and all that it was told about them.
struct Seen {
    circuit: Circuit,
    channels: Vec<Channel>,
    told: BTreeMap<String, Told>,
    names: BTreeMap<u32, String>,
}

impl Seen {
    fn new(server: &Server, user: &str, host: &str) -> Result<Self, String> {
        let mut circuit = Circuit::connect_as(server.tcp_port(KNOWN)?, user, host)?;
        let (mut channels, mut told, mut names) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for &name in NAMES {
            let channel = circuit.create(name)?;
            told.insert(name.to_owned(), Told { access: channel.access, ..Told::default() });
            names.insert(channel.cid, name.to_owned());
            channels.push(channel);
        }
        Ok(Self { circuit, channels, told, names })
    }

    /// Reads, writes back and subscribes; the statuses.
    fn use_all(&mut self) -> Result<(), String> {
        for (channel, &name) in self.channels.clone().into_iter().zip(NAMES) {
            let read = self.circuit.get(channel, 0, 1)?;
            let mut notes = vec![format!("read {:#x}", read.header.p1)];
            let value = if read.header.p1 == 1 { read.payload.clone() } else { vec![0; 40] };
            // The group of a record must stay as it is here.
            if !name.ends_with(".ASG") {
                let kind = if channel.native == 4 { 4 } else { 0 };
                let payload = if kind == 4 { b"secret\0".to_vec() } else { value };
                let count = if kind == 4 { 7 } else { 1 };
                notes.push(format!("put {:#x}", self.circuit.put(channel, kind, count, &payload)?.header.p1));
            }
            let id = self.circuit.subscribe(channel, 0, 1, 1)?;
            self.names.insert(id, name.to_owned());
            let told =
                self.circuit.next_that(|m| m.header.command == command::EVENT_ADD && m.header.p2 == id)?;
            let known = self.told.entry(name.to_owned()).or_default();
            (known.update, known.first) = (told.header.p1, notes);
        }
        Ok(())
    }

    /// Takes what comes within a moment.
    fn listen(&mut self, limit: Duration) -> Result<(), String> {
        while let Ok(message) = self.circuit.next(limit) {
            let Message { header, .. } = message.ok_or("the server closed the circuit")?;
            let key = if header.command == command::ACCESS_RIGHTS { header.p1 } else { header.p2 };
            let Some(name) = self.names.get(&key) else { continue };
            let known = self.told.entry(name.clone()).or_default();
            match header.command {
                command::ACCESS_RIGHTS => known.access = header.p2,
                command::EVENT_ADD => known.update = header.p1,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Listens on both sides until they have heard the same, or patience runs out.
fn settle(sides: &mut [(Seen, Seen)]) -> Result<(), String> {
    let settled = retry(PATIENCE, || {
        let mut same = true;
        for (ours, rsrv) in sides.iter_mut() {
            if let Err(error) = ours.listen(QUIET / 10).and_then(|()| rsrv.listen(QUIET / 10)) {
                return Some(Err(error));
            }
            same &= ours.told == rsrv.told;
        }
        same.then_some(Ok(()))
    });
    if let Some(Err(error)) = settled {
        return Err(error);
    }
    let mut text = String::new();
    for ((ours, rsrv), (user, host)) in sides.iter_mut().zip(CLIENTS) {
        ours.listen(QUIET)?;
        rsrv.listen(QUIET / 10)?;
        for name in NAMES {
            if ours.told[*name] != rsrv.told[*name] {
                text += &format!(
                    "{user}@{host} {name}\n  ours {:?}\n  rsrv {:?}\n",
                    ours.told[*name], rsrv.told[*name]
                );
            }
        }
    }
    if text.is_empty() { Ok(()) } else { Err(text) }
}

/// Rights at the start, through two changes of the rules, and a change of group, told as softIoc tells them.
///
/// # Errors
/// The differences.
pub fn rights_are_as_rsrvs(clients: &Clients) -> Result<(), String> {
    let (mut our_server, mut rsrv_server) = (ours(&[])?, rsrv(clients)?);
    let mut sides = Vec::new();
    for (user, host) in CLIENTS {
        let (mut ours, mut rsrv) =
            (Seen::new(&our_server, user, host)?, Seen::new(&rsrv_server, user, host)?);
        ours.use_all()?;
        rsrv.use_all()?;
        sides.push((ours, rsrv));
    }
    settle(&mut sides)?;
    for name in ["security2.acf", "security.acf"] {
        let path = file(name);
        our_server.process.say(&format!("access load {path}"))?;
        rsrv_server.process.say(&format!("asSetFilename \"{path}\""))?;
        rsrv_server.process.say("asInit")?;
        settle(&mut sides).map_err(|error| format!("after {name}:\n{error}"))?;
    }
    // Somebody who may puts a record into another group, and can then not take it out again.
    let at = NAMES.iter().position(|name| *name == "sec:unknown.ASG").ok_or("no such name")?;
    let mut group = b"closed".to_vec();
    group.resize(40, 0);
    let (ours, rsrv) = &mut sides[0];
    for side in [ours, rsrv] {
        let channel = side.channels[at];
        side.circuit.send(&Message::new(command::WRITE, 0, 1, channel.sid, channel.cid, &group))?;
    }
    settle(&mut sides).map_err(|error| format!("in another group:\n{error}"))?;
    match sides[0].0.told["sec:unknown"] {
        Told { access: 0, update: ECA_NORDACCESS, .. } => Ok(()),
        ref told => Err(format!("a closed group is open: {told:?}")),
    }
}

fn a_bad_acf_is_one_line_and_code_2() -> Result<(), String> {
    for (name, text, part) in [
        (
            "calc.acf",
            "ASG(DEFAULT) {\n RULE(1, WRITE) { CALC(\"A=1\") }\n}\n",
            "calc.acf:2: CALC is not supported",
        ),
        ("inp.acf", "\n\nASG(DEFAULT) { INPA(x) }\n", "inp.acf:3: INPA is not supported"),
        ("open.acf", "UAG(a) { b", "open.acf:1: "),
    ] {
        let path = program::scratch(name, text)?.display().to_string();
        program::refused(&program::run(&["--acf", &path])?, &[part])?;
    }
    program::refused(&program::run(&["--acf", "/nowhere.acf"])?, &["/nowhere.acf"])
}

/// A file that cannot be taken leaves the rules in force.
fn a_bad_acf_at_run_time_changes_nothing() -> Result<(), String> {
    let mut server = ours(&[])?;
    let path = program::scratch("bad-later.acf", "ASG(DEFAULT) { RULE(1, WRITE) { CALC(\"1\") } }")?;
    for line in [format!("access load {}", path.display()), "access load /nowhere.acf".to_owned()] {
        let mark = server.process.mark();
        server.process.say(&line)?;
        server.process.wait_for_line(mark, PATIENCE, |line| {
            line.contains("CALC is not supported") || line.contains("No such file")
        })?;
    }
    let mut circuit = Circuit::connect_as(server.tcp_port(KNOWN)?, "eve", "console1")?;
    let access = circuit.create("sec:ops")?.access;
    if access == 1 { Ok(()) } else { Err(format!("access {access}")) }
}

/// With --check-client-ip a claimed name is worth nothing, and names in the file stand for addresses.
fn addresses_count_where_they_are_asked_for() -> Result<(), String> {
    let text = "HAG(here) { localhost }\nHAG(there) { 192.0.2.7 }\nHAG(me) { 127.0.0.1 }\n\
                ASG(DEFAULT) { RULE(1, READ) }\nASG(ops) { RULE(1, WRITE) { HAG(there) } }\n\
                ASG(address) { RULE(1, WRITE) { HAG(here) } }\nASG(value) { RULE(1, WRITE) { HAG(me) } }\n";
    let path = program::scratch("address.acf", text)?.display().to_string();
    let db = file("security.db");
    for (options, wanted) in [
        // Claimed names count, and dotted quads are addresses whatever is claimed.
        (&["--db", &db, "--acf", &path][..], [0, 0, 3]),
        (&["--db", &db, "--acf", &path, "--check-client-ip"], [0, 3, 3]),
        (&["--db", &db, "--acf", &path, "--check-client-ip", "--read-only"], [0, 1, 1]),
    ] {
        let server = Server::ours(options, KNOWN)?;
        let mut circuit = Circuit::connect_as(server.tcp_port(KNOWN)?, "ann", "192.0.2.7")?;
        let mut access = Vec::new();
        for name in ["sec:ops", "sec:address", "sec:value"] {
            access.push(circuit.create(name)?.access);
        }
        if access != wanted {
            return Err(format!("{options:?}: access {access:?}, wanted {wanted:?}"));
        }
    }
    Ok(())
}

/// What rules with TRAPWRITE allow and what is denied is in the log, with who and where; everything after `putlog on`.
fn puts_are_logged() -> Result<(), String> {
    let mut server = ours(&["--verbose"])?;
    let port = server.tcp_port(KNOWN)?;
    let text = |value: &str| {
        let mut bytes = value.as_bytes().to_vec();
        bytes.resize(40, 0);
        bytes
    };
    let mut ann = Circuit::connect_as(port, "ann", "console1")?;
    let mut eve = Circuit::connect_as(port, "eve", "console1")?;
    let (by_ann, by_eve) = (ann.create("sec:ops")?, eve.create("sec:ops")?);
    let unlogged = ann.create("sec:default")?;
    ann.put(by_ann, 0, 1, &text("7"))?;
    ann.put(by_ann, 0, 1, &text("junk"))?;
    ann.put(unlogged, 0, 1, &text("5"))?;
    eve.put(by_eve, 0, 1, &text("8"))?;
    // An acknowledgement is a put, too.
    ann.put(by_ann, 36, 1, &[0, 3])?;
    let done = "sec:ops by ann@console1 (127.0.0.1:";
    server.process.wait_for_line(0, PATIENCE, |line| line.starts_with("put: ") && line.contains(done))?;
    let mark = server.process.mark();
    server.process.say("putlog")?;
    server.process.wait_for_line(mark, PATIENCE, |line| line == "4 of 4 puts shown")?;
    for (who, what) in [
        (done, "\"2\" -> \"7\", done"),
        (done, "\"7\" -> \"junk\", failed"),
        ("sec:ops by eve@console1 (127.0.0.1:", "\"7\" -> \"8\", denied"),
        (done, "\"ACKS 0\" -> \"ACKS 3\", done"),
    ] {
        server.process.wait_for_line(mark, PATIENCE, |line| line.contains(who) && line.ends_with(what))?;
    }
    server.process.say("putlog on")?;
    server.process.wait_for_line(mark, PATIENCE, |line| line == "puts logged: all")?;
    // Whoever has read that line is judged by it at once.
    ann.put(unlogged, 0, 1, &text("6"))?;
    server.process.wait_for_line(mark, PATIENCE, |line| {
        line.starts_with("put: sec:default by ann@console1") && line.ends_with("\"5\" -> \"6\", done")
    })?;
    Ok(())
}

/// caput, cainfo and camonitor against a server that is switched to read-only and back.
fn refusals_reach_the_real_clients(clients: &Clients, _: &Server) -> Result<(), String> {
    let mut server = ours(&[])?;
    let tool = |server: &Server, name: &str, arguments: &[&str]| {
        let mut command = clients.tool(name);
        command.args(arguments);
        run(server, command, PATIENCE)
    };
    let access = |server: &Server| Ok::<_, String>(tool(server, "cainfo", &["sec:default"])?.text);
    if !access(&server)?.contains("read, write") {
        return Err("not writable at first".to_owned());
    }
    for (switch, writable) in [("on", false), ("off", true)] {
        let mark = server.process.mark();
        server.process.say(&format!("access read-only {switch}"))?;
        server.process.wait_for_line(mark, PATIENCE, |line| line == format!("read-only: {switch}"))?;
        let info = access(&server)?;
        if info.contains("read, write") != writable {
            return Err(format!("read-only {switch}: {info}"));
        }
        let value = format!("{}", if writable { 9 } else { 8 });
        for options in [&["-c"][..], &[]] {
            let put = [options, &["sec:default", &value]].concat();
            let finished = tool(&server, "caput", &put)?;
            // Old caput ends well when it was refused, so that what counts is that it says so, and the value below.
            let refused = finished.text.contains("Write access denied")
                || !finished.status.success() && !finished.text.contains("New :");
            if refused == writable {
                return Err(format!("read-only {switch}, caput {put:?}: {}", finished.text));
            }
            let shown = tool(&server, "caget", &["-t", "sec:default"])?.text;
            let wanted = if writable { "9" } else { "1" };
            if shown.trim() != wanted {
                return Err(format!("read-only {switch}, caput {put:?}: {shown}, wanted {wanted}"));
            }
        }
    }
    Ok(())
}
