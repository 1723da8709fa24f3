// SPDX-License-Identifier: BSD-2-Clause
//! Probes of the running program, one a row of the table.

use crate::security;
use crate::support::circuit::{Channel, Circuit, search};
use crate::support::deadline::{MOMENT, PATIENCE};
use crate::support::message::{self, ECA_NORMAL, Message, command};
use crate::support::server::Server;

/// Our server under test and a circuit to it.
pub struct Probe {
    pub server: Server,
    pub circuit: Circuit,
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

pub fn version(probe: &mut Probe) -> Result<(), String> {
    let mut silent = Circuit::connect_silently(probe.server.tcp_port(security::KNOWN)?)?;
    let first = silent.next(PATIENCE)?.ok_or("closed")?.header;
    expect((first.command, first.count), (command::VERSION, 13))
}

pub fn searches(probe: &mut Probe) -> Result<(), String> {
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

pub fn search_by_tcp(probe: &mut Probe) -> Result<(), String> {
    for (name, answer) in [("sec:ops", command::SEARCH), ("nobody:has:this", command::NOT_FOUND)] {
        // DOREPLY.
        let request = Message::new(command::SEARCH, 10, 13, 9, 9, &message::name_payload(name));
        probe.circuit.send(&request)?;
        let reply = probe.circuit.next_that(|m| m.header.p2 == 9 && m.header.command != command::VERSION)?;
        expect(reply.header.command, answer)?;
    }
    Ok(())
}

pub fn before_version(probe: &mut Probe) -> Result<(), String> {
    let mut circuit = Circuit::connect_silently(probe.server.tcp_port(security::KNOWN)?)?;
    circuit.echo()?;
    circuit.create("sec:default").map(|_| ())
}

pub fn autosize(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:lso.VAL$")?;
    probe.circuit.put(channel, 4, 5, b"four\0")?;
    expect(probe.circuit.get(channel, 4, 0)?.header.count, 5)
}

pub fn large_arrays(_: &mut Probe) -> Result<(), String> {
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

pub fn counts(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:lso.VAL$")?;
    let status = probe.circuit.put(channel, 4, 80, &[0; 8])?.header.p1;
    if status == ECA_NORMAL {
        return Err("a count without elements was believed".to_owned());
    }
    probe.circuit.echo()
}

pub fn unknown_sid(probe: &mut Probe) -> Result<(), String> {
    expect(probe.status(&Message::new(command::READ_NOTIFY, 6, 1, 0x00ff_fff0, 3, &[]))?, 0x19a)?;
    probe.circuit.echo()
}

pub fn old_reads(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("sec:default")?;
    let request = Message::new(command::READ, 6, 1, channel.sid, 3, &[]);
    expect(probe.status(&request)?, channel.cid)?;
    probe.circuit.send(&Message::new(command::READ_SYNC, 0, 0, 0, 0, &[]))?;
    probe.circuit.next_that(|m| m.header.command == command::READ_SYNC).map(|_| ())
}

pub fn acknowledge(probe: &mut Probe) -> Result<(), String> {
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

pub fn class_name(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:int64in")?;
    let shown = probe.circuit.get(channel, 38, 1)?.payload;
    expect(shown.starts_with(b"int64in\0"), true)
}

pub fn events_off(probe: &mut Probe) -> Result<(), String> {
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
pub fn masks(probe: &mut Probe) -> Result<(), String> {
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

pub fn deadbands(probe: &mut Probe) -> Result<(), String> {
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

pub fn states(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:mbbi")?;
    expect(probe.put_text(channel, "Run")?, ECA_NORMAL)?;
    expect(probe.put_text(channel, "Nowhere")?, 0xa0)?;
    let shown = probe.circuit.get(channel, 24, 1)?.payload;
    expect((shown[5], shown[32..36].to_vec()), (3, b"Run\0".to_vec()))
}

pub fn long_strings(probe: &mut Probe) -> Result<(), String> {
    let channel = probe.channel("alarm:lso.VAL$")?;
    let text = b"a text of rather more than the thirty-nine characters of a string\0";
    expect(probe.circuit.put(channel, 4, text.len() as u32, text)?.header.p1, ECA_NORMAL)?;
    let shown = probe.circuit.get(channel, 4, 0)?;
    expect(shown.payload[..shown.header.count as usize].to_vec(), text.to_vec())
}

pub fn report(probe: &mut Probe) -> Result<(), String> {
    probe.shell("casr 2", "user \"ann\", host \"console1\"")
}

pub fn pause(probe: &mut Probe) -> Result<(), String> {
    let port = probe.server.site.port;
    probe.shell("casrv pause", "casrv: paused")?;
    probe.circuit.echo()?;
    expect(search(port, "sec:ops", MOMENT), None)?;
    probe.shell("casrv run", "casrv: running")?;
    search(port, "sec:ops", PATIENCE).map(|_| ()).ok_or_else(|| "it is not found again".to_owned())
}
