// SPDX-License-Identifier: BSD-2-Clause
//! The table of features in the README, row by row: each row of ours is probed here on the running program, or names the
//! test that shows it. What stands there of other servers was probed on 2026-11-30: rsrv of EPICS base 7.0.8.1, pcas of
//! pcaspy 0.8.1, caproto 1.3.0 and epics-ca-rs 0.33.

use std::fmt::Write as _;
use std::path::Path;

use crate::security;
use crate::support::circuit::{Channel, Circuit, search};
use crate::support::deadline::{MOMENT, PATIENCE};
use crate::support::message::{self, ECA_NORMAL, Message, command};
use crate::support::server::Server;
use crate::{Test, ours};

/// Tests here.
pub const TESTS: &[(&str, Test)] = &[
    ("features::each_row_is_as_the_readme_says", each_row_is_as_the_readme_says),
    ("features::the_readme_has_this_table", the_readme_has_this_table),
];

/// How a row is shown.
enum Shown {
    /// By a probe of the running program.
    Here(fn(&mut Probe) -> Result<(), String>),
    /// By a test: file and function.
    By(&'static str, &'static str),
    /// Not yet.
    Later,
}

/// Feature; rsrv, pcas, caproto, epics-ca-rs; ours in a few words; how it is shown.
struct Row(&'static str, [&'static str; 4], &'static str, Shown);

use Shown::{By, Here, Later};

const ROWS: &[Row] = &[
    Row("protocol version", ["4.13", "4.13", "4.13", "4.13"], "4.13", Here(version)),
    Row("searches in batches, sequence echoed", ["yes", "yes", "always 1", "yes"], "yes", Here(searches)),
    Row(
        "search over TCP, NOT_FOUND",
        ["yes", "port 0, no NOT_FOUND", "yes", "yes"],
        "yes",
        Here(search_by_tcp),
    ),
    Row(
        "beacons from 0.02 s, doubling",
        ["yes", "3 at once", "yes", "yes"],
        "yes",
        By("rtems-tests/hosted/beacons.rs", "beacons_count_up_while_their_period_doubles"),
    ),
    Row(
        "interface, beacon and ignore lists, multicast",
        ["yes", "no multicast", "no ignore list", "yes"],
        "yes",
        By("src/net/plan.rs", "a_multicast_group_is_joined_where_it_is_heard"),
    ),
    Row(
        "priority of circuits",
        ["by thread", "no", "no", "checked"],
        "order of service",
        By("src/ca/tests/circuits.rs", "circuits_of_higher_priority_are_served_first"),
    ),
    Row("requests before VERSION", ["no", "yes", "yes", "no"], "yes", Here(before_version)),
    Row("count 0: current length", ["yes", "yes", "yes", "yes"], "yes", Here(autosize)),
    Row(
        "arrays beyond 16 kB, extended headers",
        ["yes", "if configured", "yes", "yes"],
        "yes",
        Here(large_arrays),
    ),
    Row("counts checked against the payload", ["no", "no", "cut", "closes"], "a status", Here(counts)),
    Row("unknown server id", ["closes", "a status", "dies", "closes"], "a status", Here(unknown_sid)),
    Row("READ, READ_SYNC of old clients", ["yes", "yes", "no", "yes"], "yes", Here(old_reads)),
    Row("PUT_ACKT, PUT_ACKS, STSACK", ["yes", "no", "partly", "partly"], "yes", Here(acknowledge)),
    Row("CLASS_NAME", ["yes", "yes", "yes", "yes"], "yes", Here(class_name)),
    Row("EVENTS_OFF keeps the newest value", ["yes", "yes", "yes", "yes"], "yes", Here(events_off)),
    Row("masks VALUE, LOG, ALARM, PROPERTY", ["yes", "yes", "yes", "yes"], "yes", Here(masks)),
    Row("deadbands MDEL, ADEL", ["yes", "yes", "yes", "yes"], "yes", Here(deadbands)),
    Row(
        "alarms: limits, hysteresis, acknowledgement",
        ["yes", "no acknowledgement", "yes", "yes"],
        "yes",
        By("rtems-tests/hosted/alarms.rs", "sequences_are_as_rsrvs"),
    ),
    Row("names of states, checked", ["yes", "not checked", "yes", "yes"], "yes", Here(states)),
    Row("long strings: `$`, lsi, lso", ["yes", "CHAR only", "yes", "yes"], "yes", Here(long_strings)),
    Row("channel filters", ["yes", "no", "yes", "yes"], "later", Later),
    Row(
        "put-callback when processing has ended",
        ["one per channel", "yes", "yes", "yes"],
        "yes",
        By("rtems-tests/hosted/application.rs", "handlers_decide_and_puts_end_later"),
    ),
    Row(
        "access security files",
        ["yes", "yes", "a hook", "yes"],
        "without INP, CALC; by address",
        By("rtems-tests/hosted/security.rs", "rights_are_as_rsrvs"),
    ),
    Row(
        "log of puts",
        ["by a module", "no", "no", "yes"],
        "ring and log",
        By("rtems-tests/hosted/security.rs", "puts_are_logged"),
    ),
    Row(
        "limits per client",
        ["memory only", "no", "subscriptions", "channels"],
        "circuits, channels, monitors",
        By("src/ca/tests/limits.rs", "channels_on_one_circuit_and_in_total"),
    ),
    Row(
        "a client that does not read",
        ["blocks its thread", "blocks all", "drops", "limited"],
        "is not read either",
        By("src/ca/tests/circuits.rs", "a_client_that_does_not_read_is_not_read_either_and_loses_nothing"),
    ),
    Row("report of clients", ["casr", "show", "log", "casr, HTTP"], "casr, status PVs", Here(report)),
    Row("pause and run", ["yes", "no", "no", "yes"], "yes", Here(pause)),
    Row(
        "threads per client",
        ["2", "0", "0", "0 to 2"],
        "0",
        By("rtems-tests/hosted/ca_sockets.rs", "a_hundred_clients_at_once_are_all_served"),
    ),
    Row(
        "PVs of an application, set without waiting",
        ["device support", "one loop", "one loop", "yes"],
        "wait-free, Rust and C",
        By("rtems-tests/hosted/application.rs", "the_c_interface_does_the_same"),
    ),
    Row(
        "RTEMS",
        ["yes", "C++", "no", "ARM only"],
        "PowerPC, ARM; no_std",
        By("rtems-tests/target/pv_tests.c", "from_tasks"),
    ),
];

/// Our server under test and a circuit to it.
struct Probe {
    server: Server,
    circuit: Circuit,
}

impl Probe {
    fn channel(&mut self, name: &str) -> Result<Channel, String> {
        self.circuit.create(name)
    }

    /// The status of a request's answer.
    fn status(&mut self, request: &Message) -> Result<u32, String> {
        self.circuit.send(request)?;
        let answer = self.circuit.next_that(|m| {
            m.header.command == request.header.command || m.header.command == command::ERROR
        })?;
        Ok(if answer.header.command == command::ERROR { answer.header.p2 } else { answer.header.p1 })
    }

    fn put_text(&mut self, channel: Channel, text: &str) -> Result<u32, String> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(40, 0);
        Ok(self.circuit.put(channel, 0, 1, &bytes)?.header.p1)
    }

    /// The updates that have come: an echo that is answered comes behind those of earlier turns.
    fn updates(&mut self) -> Result<Vec<Message>, String> {
        let mut updates = Vec::new();
        for _ in 0..2 {
            self.circuit.send(&Message::new(command::ECHO, 0, 0, 0, 0, &[]))?;
            loop {
                let message = self.circuit.next(PATIENCE)?.ok_or("closed")?;
                match message.header.command {
                    command::ECHO => break,
                    command::EVENT_ADD => updates.push(message),
                    _ => {}
                }
            }
        }
        Ok(updates)
    }

    fn shell(&mut self, line: &str, wanted: &str) -> Result<(), String> {
        let mark = self.server.process.mark();
        self.server.process.say(line)?;
        self.server.process.wait_for_line(mark, PATIENCE, |shown| shown.contains(wanted)).map(|_| ())
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{found:?}, wanted {wanted:?}")) }
}

fn version(probe: &mut Probe) -> Result<(), String> {
    let mut silent = Circuit::connect_silently(probe.server.tcp_port(security::KNOWN)?)?;
    let first = silent.next(PATIENCE)?.ok_or("closed")?.header;
    expect((first.command, first.count), (command::VERSION, 13))
}

fn searches(probe: &mut Probe) -> Result<(), String> {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
    let names = ["sec:ops", "sec:value", "nobody:has:this"];
    socket
        .send_to(&message::search_datagram(77, 5, &names), ("127.0.0.1", probe.server.site.port))
        .map_err(|error| error.to_string())?;
    let mut buffer = [0; 2048];
    let length = socket.recv(&mut buffer).map_err(|error| error.to_string())?;
    let mut rest = &buffer[..length];
    let mut replies = Vec::new();
    while let Some((message, used)) = Message::parse(rest) {
        replies.push((message.header.command, message.header.p1.min(100), message.header.p2));
        rest = &rest[used..];
    }
    expect(replies, vec![(command::VERSION, 77, 0), (command::SEARCH, 100, 5), (command::SEARCH, 100, 6)])
}

fn search_by_tcp(probe: &mut Probe) -> Result<(), String> {
    for (name, answer) in [("sec:ops", command::SEARCH), ("nobody:has:this", command::NOT_FOUND)] {
        // DOREPLY.
        let request = Message::new(command::SEARCH, 10, 13, 9, 9, &message::name_payload(name));
        probe.circuit.send(&request)?;
        let reply = probe.circuit.next_that(|m| m.header.p2 == 9 && m.header.command != command::VERSION)?;
        expect(reply.header.command, answer)?;
    }
    Ok(())
}

fn before_version(probe: &mut Probe) -> Result<(), String> {
    let mut circuit = Circuit::connect_silently(probe.server.tcp_port(security::KNOWN)?)?;
    circuit.echo()?;
    circuit.create("sec:default").map(|_| ())
}

fn autosize(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:lso.VAL$")?;
    probe.circuit.put(channel, 4, 5, b"four\0")?;
    expect(probe.circuit.get(channel, 4, 0)?.header.count, 5)
}

fn large_arrays(_: &mut Probe) -> Result<(), String> {
    let path = crate::program::scratch(
        "large.db",
        "record(waveform, \"large\") { field(FTVL, DOUBLE) field(NELM, 10000) }",
    )?;
    let server = Server::ours(&["--db", &path.display().to_string()], "large")?;
    let mut circuit = Circuit::connect(server.tcp_port("large")?)?;
    let channel = circuit.create("large")?;
    let numbers: Vec<u8> = (0..10_000).flat_map(|n| f64::from(n).to_be_bytes()).collect();
    expect(circuit.put(channel, 6, 10_000, &numbers)?.header.p1, ECA_NORMAL)?;
    expect(circuit.get(channel, 6, 0)?.payload, numbers)
}

fn counts(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:lso.VAL$")?;
    let status = probe.circuit.put(channel, 4, 80, &[0; 8])?.header.p1;
    if status == ECA_NORMAL {
        return Err("a count without elements was believed".to_owned());
    }
    probe.circuit.echo()
}

fn unknown_sid(probe: &mut Probe) -> Result<(), String> {
    expect(probe.status(&Message::new(command::READ_NOTIFY, 6, 1, 0x00ff_fff0, 3, &[]))?, 0x19a)?;
    probe.circuit.echo()
}

fn old_reads(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("sec:default")?;
    let request = Message::new(command::READ, 6, 1, channel.sid, 3, &[]);
    expect(probe.status(&request)?, channel.cid)?;
    probe.circuit.send(&Message::new(command::READ_SYNC, 0, 0, 0, 0, &[]))?;
    probe.circuit.next_that(|m| m.header.command == command::READ_SYNC).map(|_| ())
}

fn acknowledge(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:longout")?;
    probe.put_text(channel, "25")?;
    let acks = |probe: &mut Probe| Ok::<_, String>(probe.circuit.get(channel, 37, 1)?.payload[7]);
    expect(acks(probe)?, 2)?;
    expect(probe.circuit.put(channel, 36, 1, &[0, 2])?.header.p1, ECA_NORMAL)?;
    expect(acks(probe)?, 0)?;
    expect(probe.circuit.put(channel, 35, 1, &[0, 0])?.header.p1, ECA_NORMAL)?;
    // What is put only cannot be read.
    expect(probe.circuit.get(channel, 35, 1)?.header.p1, 0x98)
}

fn class_name(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:int64in")?;
    let shown = probe.circuit.get(channel, 38, 1)?.payload;
    expect(shown.starts_with(b"int64in\0"), true)
}

fn events_off(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("sec:default")?;
    probe.circuit.subscribe(channel, 6, 1, 1)?;
    probe.updates()?;
    probe.circuit.send(&Message::new(command::EVENTS_OFF, 0, 0, 0, 0, &[]))?;
    for value in ["11", "12", "13"] {
        probe.put_text(channel, value)?;
    }
    expect(probe.updates()?.len(), 0)?;
    probe.circuit.send(&Message::new(command::EVENTS_ON, 0, 0, 0, 0, &[]))?;
    let values: Vec<_> = probe.updates()?.into_iter().map(|m| m.payload).collect();
    expect(values, vec![13f64.to_be_bytes().to_vec()])
}

/// Updates per mask of a put that goes with it.
fn masks(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:ai")?;
    let [high, precision] = [probe.channel("alarm:ai")?, probe.channel("alarm:ai.PREC")?];
    let mut ids = Vec::new();
    for mask in [1, 2, 4, 8] {
        ids.push(probe.circuit.subscribe(channel, 6, 1, mask)?);
    }
    probe.updates()?;
    let mut told = Vec::new();
    for (channel, value) in [(high, "85"), (precision, "5")] {
        probe.put_text(channel, value)?;
        told.extend(probe.updates()?.iter().map(|m| m.header.p2));
    }
    told.sort_unstable();
    expect(told, ids)
}

fn deadbands(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:ai")?;
    probe.put_text(channel, "0")?;
    probe.circuit.subscribe(channel, 6, 1, 1)?;
    probe.circuit.subscribe(channel, 6, 1, 2)?;
    probe.updates()?;
    let mut heard = Vec::new();
    for value in ["0.5", "2", "6"] {
        probe.put_text(channel, value)?;
        heard.push(probe.updates()?.len());
    }
    expect(heard, vec![0, 1, 2])
}

fn states(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:mbbi")?;
    expect(probe.put_text(channel, "Run")?, ECA_NORMAL)?;
    expect(probe.put_text(channel, "Nowhere")?, 0xa0)?;
    let shown = probe.circuit.get(channel, 24, 1)?.payload;
    expect((shown[5], shown[32..36].to_vec()), (3, b"Run\0".to_vec()))
}

fn long_strings(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:lso.VAL$")?;
    let text = b"a text of rather more than the thirty-nine characters of a string\0";
    expect(probe.circuit.put(channel, 4, text.len() as u32, text)?.header.p1, ECA_NORMAL)?;
    let shown = probe.circuit.get(channel, 4, 0)?;
    expect(shown.payload[..shown.header.count as usize].to_vec(), text.to_vec())
}

fn report(probe: &mut Probe) -> Result<(), String> {
    probe.shell("casr 2", "user \"ann\", host \"console1\"")
}

fn pause(probe: &mut Probe) -> Result<(), String> {
    let port = probe.server.site.port;
    probe.shell("casrv pause", "casrv: paused")?;
    probe.circuit.echo()?;
    expect(search(port, "sec:ops", MOMENT), None)?;
    probe.shell("casrv run", "casrv: running")?;
    search(port, "sec:ops", PATIENCE).map(|_| ()).ok_or_else(|| "it is not found again".to_owned())
}

fn each_row_is_as_the_readme_says() -> Result<(), String> {
    let mut text = String::new();
    for Row(feature, _, _, shown) in ROWS {
        let result = match shown {
            Here(run) => {
                let server = security::ours(&[])?;
                let circuit = Circuit::connect_as(server.tcp_port(security::KNOWN)?, "ann", "console1")?;
                run(&mut Probe { server, circuit })
            }
            By(file, function) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
                let source = std::fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
                let there = source.contains(&format!("fn {function}("))
                    || source.contains(&format!("void {function}("));
                if there { Ok(()) } else { Err(format!("{file} has no {function}")) }
            }
            Later => Ok(()),
        };
        if let Err(error) = result {
            let _ = writeln!(text, "{feature}: {error}");
        }
    }
    // The comparison's records are there with the other server, too.
    drop(ours()?);
    if text.is_empty() { Ok(()) } else { Err(text) }
}

/// The table as it stands in the README.
fn table() -> String {
    let mut text =
        String::from("| feature | rsrv | pcas | caproto | epics-ca-rs | ours |\n|---|---|---|---|---|---|\n");
    for Row(feature, [rsrv, pcas, caproto, rust], ours, _) in ROWS {
        let _ = writeln!(text, "| {feature} | {rsrv} | {pcas} | {caproto} | {rust} | {ours} |");
    }
    text
}

fn the_readme_has_this_table() -> Result<(), String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&readme).map_err(|error| error.to_string())?;
    if readme.contains(&table()) { Ok(()) } else { Err(format!("README.md should have:\n{}", table())) }
}
