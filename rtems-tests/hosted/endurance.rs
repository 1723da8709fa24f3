// SPDX-License-Identifier: BSD-2-Clause
//! What must not add up: clients that come and go at every stage, and one that subscribes and never reads.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use crate::Test;
use crate::support::circuit::{Channel, Circuit};
use crate::support::deadline::{PATIENCE, retry};
use crate::support::message::{self, Message, command};
use crate::support::server::Server;

/// Name and function of each test here.
pub const TESTS: &[(&str, Test)] = &[
    ("clients_that_go_at_any_stage_leave_nothing", clients_that_go_at_any_stage_leave_nothing),
    ("a_stuck_subscriber_takes_no_more_than_its_buffer", a_stuck_subscriber_takes_no_more_than_its_buffer),
];

/// What the server has without records.
const KNOWN: &str = "ioc:catime";
/// A benchmark PV that nobody else writes.
const NUMBER: &str = "ioc:catime000001";
/// Monitors of the client that never reads.
const STUCK_MONITORS: u32 = 2000;
const DOUBLE: u16 = 6;
const TIME_DOUBLE: u16 = 20;
const VALUE: u16 = 1;

/// How far a client gets before it goes.
const STAGES: [&str; 8] = [
    "connected",
    "half a header",
    "introduced",
    "a channel asked for",
    "a channel created",
    "a monitor",
    "half a payload",
    "requests whose answers nobody waits for",
];

/// Clients that go at each stage.
const CYCLES: usize = 1000;

/// `STUCK_SECONDS` of the environment.
fn stuck_seconds() -> Result<u64, String> {
    match std::env::var("STUCK_SECONDS") {
        Ok(text) => text.parse().map_err(|_| format!("STUCK_SECONDS={text}: not a number")),
        Err(_) => Ok(6),
    }
}

/// What a block may be larger than asked for: the heap leaves no rest that would be too small for a block, and lists grow with
/// the most clients that were there at once. A block lost for each client would be a hundred times as much.
const SLACK: usize = 1024;

/// What the server holds.
#[derive(Debug)]
struct Holdings {
    /// Blocks of its heap.
    blocks: usize,
    /// Bytes of them.
    bytes: usize,
    /// Open descriptors.
    descriptors: usize,
}

impl Holdings {
    /// No block or descriptor more than before, and no larger ones.
    fn is_as(&self, before: &Self) -> bool {
        self.blocks == before.blocks
            && self.descriptors == before.descriptors
            && self.bytes.abs_diff(before.bytes) < SLACK
    }
}

/// As its shell shows it.
fn holdings(server: &mut Server) -> Result<Holdings, String> {
    let mark = server.process.mark();
    server.process.say("poolstat")?;
    server.process.wait_for_line(mark, PATIENCE, |line| line.contains("figures by"))?;
    let text = server.process.text();
    let shown: Vec<_> = text.lines().skip(mark).collect();
    let of = |label: &str, number: usize| {
        let line = shown.iter().find_map(|line| line.trim_start_matches("rtems-ioc> ").strip_prefix(label));
        line.and_then(|line| line.split_whitespace().nth(number)?.parse::<usize>().ok())
            .ok_or_else(|| format!("poolstat shows no {label}: {shown:?}"))
    };
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.process.id()));
    Ok(Holdings {
        blocks: of("used blocks", 0)?,
        bytes: of("heap", 0)? - of("free", 0)?,
        descriptors: files.map_err(|error| error.to_string())?.count(),
    })
}

/// A client that goes at a stage, in turn by closing and by a reset.
fn leave(port: u16, stage: usize, reset: bool) -> Result<(), String> {
    let mut client = Circuit::connect_silently(port)?;
    let version = message::bytes(command::VERSION, 0, u32::from(message::MINOR), 0, 0, &[]);
    match stage {
        0 => {}
        1 => client.send_bytes(&version[..9])?,
        2 => client.send_bytes(&version)?,
        3 => {
            client.send_bytes(&version)?;
            client.send_create(NUMBER, 7)?;
        }
        4 => client.create(NUMBER).map(|_| ())?,
        5 => {
            let channel = client.create(NUMBER)?;
            client.subscribe(channel, TIME_DOUBLE, 1, VALUE)?;
            client.next_that(|m| m.header.command == command::EVENT_ADD)?;
        }
        6 => {
            let channel = client.create(NUMBER)?;
            let put = message::bytes(command::WRITE_NOTIFY, DOUBLE, 1, channel.sid, 9, &[0; 8]);
            client.send_bytes(&put[..20])?;
        }
        _ => {
            let channel = client.create(NUMBER)?;
            let get = message::bytes(command::READ_NOTIFY, DOUBLE, 1, channel.sid, 9, &[]);
            client.send_bytes(&get.repeat(100))?;
        }
    }
    if !reset {
        return client.stream().shutdown(Shutdown::Both).map_err(|error| error.to_string());
    }
    let linger = rustix::net::sockopt::set_socket_linger(client.stream(), Some(Duration::ZERO));
    linger.map_err(|error| error.to_string())
}

fn clients_that_go_at_any_stage_leave_nothing() -> Result<(), String> {
    let mut server = Server::ours(&["--name", "ioc", "--shell"], KNOWN)?;
    let port = server.tcp_port(KNOWN)?;
    let round = || (0..STAGES.len()).try_for_each(|stage| leave(port, stage, false));
    // What the first client makes it keep for those that follow is not lost.
    round()?;
    let mut before = None;
    retry(PATIENCE, || {
        let now = holdings(&mut server).ok()?;
        let same = before.as_ref().is_some_and(|before| now.is_as(before));
        before = Some(now);
        same.then_some(())
    });
    let before = before.ok_or("no figures of the server")?;
    for cycle in 0..CYCLES {
        for (stage, name) in STAGES.iter().enumerate() {
            leave(port, stage, cycle % 2 == 1).map_err(|error| format!("{name}, cycle {cycle}: {error}"))?;
        }
    }
    let mut after = String::new();
    retry(PATIENCE, || match holdings(&mut server) {
        Ok(now) if now.is_as(&before) => Some(()),
        other => {
            after = format!("{other:?}");
            None
        }
    })
    .ok_or_else(|| format!("{before:?} before, {after} after"))
}

/// One subscriber of a hundred updates each second never reads: the others get every last value, and the server's memory
/// stays as it was when that one's buffers were full. `STUCK_SECONDS=600` for longer.
fn a_stuck_subscriber_takes_no_more_than_its_buffer() -> Result<(), String> {
    let seconds = stuck_seconds()?;
    let mut server = Server::ours(&["--name", "ioc", "--shell"], KNOWN)?;
    let port = server.tcp_port(KNOWN)?;
    let mut writer = Circuit::connect(port)?;
    let channel = writer.create(NUMBER)?;
    let mut stuck = Circuit::connect(port)?;
    let of_stuck = stuck.create(NUMBER)?;
    // So many monitors that the buffers of the socket are full soon.
    for _ in 0..STUCK_MONITORS {
        stuck.subscribe(of_stuck, TIME_DOUBLE, 1, VALUE)?;
    }
    let mut reader = Circuit::connect(port)?;
    let of_reader = reader.create(NUMBER)?;
    reader.subscribe(of_reader, DOUBLE, 1, VALUE)?;
    let mut value = 0.0;
    update(&mut writer, channel, &mut reader, &mut value, Duration::from_secs(3))?;
    let before = holdings(&mut server)?;
    update(&mut writer, channel, &mut reader, &mut value, Duration::from_secs(seconds))?;
    let after = holdings(&mut server)?;
    if !after.is_as(&before) {
        return Err(format!("{before:?} before, {after:?} after {seconds} s, value {value}"));
    }
    // When it reads at last, it gets the last value, too.
    until(&mut stuck, value)
}

/// A hundred new values a second, each of which the reader gets.
fn update(
    writer: &mut Circuit,
    channel: Channel,
    reader: &mut Circuit,
    value: &mut f64,
    time: Duration,
) -> Result<(), String> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        *value += 1.0;
        writer.send(&Message::new(command::WRITE, DOUBLE, 1, channel.sid, 0, &value.to_be_bytes()))?;
        until(reader, *value)?;
        std::thread::sleep(Duration::from_millis(9));
    }
    Ok(())
}

/// Takes updates until one has the value; an older one may come before it.
fn until(circuit: &mut Circuit, value: f64) -> Result<(), String> {
    loop {
        let update = circuit.next_that(|m| m.header.command == command::EVENT_ADD)?;
        // After the time stamp and its status, where there is one.
        let at = if update.header.kind == TIME_DOUBLE { 16 } else { 0 };
        let bytes = update.payload.get(at..).and_then(|rest| rest.first_chunk()).ok_or("a short update")?;
        if f64::from_be_bytes(*bytes) == value {
            return Ok(());
        }
    }
}
