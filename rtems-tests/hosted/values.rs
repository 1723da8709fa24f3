// SPDX-License-Identifier: BSD-2-Clause
//! Value by value against softIoc: every DBR type read from and written to every native type, byte for byte.
//!
//! What is meant to differ stands in `value_differences.txt`, with the reason; a difference that is not listed fails
//! the test, and so does a listed one that no longer shows.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::support::circuit::{Channel, Circuit};
use crate::support::deadline::PATIENCE;
use crate::support::message::{ECA_NORMAL, Message, command};
use crate::support::python::Clients;
use crate::support::server::Server;
use crate::{KNOWN, ours, records};

/// `pattern: reason` per line; see [`matches`].
const DIFFERENCES: &str = include_str!("value_differences.txt");

/// The highest DBR type.
const LAST_TYPE: u16 = 38;

/// Lines of differences that a failed test shows; a file has them all.
const SHOWN_LINES: usize = 60;

/// Bytes of a DBR_STRING element.
const STRING_SIZE: usize = 40;

/// The records of `records.db`, in its order.
fn names() -> Vec<String> {
    let text = std::fs::read_to_string(records()).unwrap_or_default();
    let quoted = text.lines().filter(|line| line.starts_with("record("));
    quoted.filter_map(|line| line.split('"').nth(1).map(str::to_owned)).collect()
}

/// What a server made of one request.
#[derive(Clone, PartialEq, Eq)]
enum Outcome {
    Answer(Message),
    Closed,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Closed => write!(out, "circuit closed"),
            Self::Answer(message) => {
                let header = message.header;
                write!(
                    out,
                    "cmd {} type {} count {} status {:#x}, {} bytes:",
                    header.command,
                    header.kind,
                    header.count,
                    header.p1,
                    message.payload.len()
                )?;
                let used = message.payload.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                for byte in &message.payload[..used.min(64)] {
                    write!(out, " {byte:02x}")?;
                }
                Ok(())
            }
        }
    }
}

/// One of the two servers and the channel in hand.
struct Side {
    port: u16,
    name: String,
    open: Option<(Circuit, Channel)>,
    /// Whether all bytes that mean nothing were zero so far.
    tidy: bool,
}

impl Side {
    fn new(server: &Server) -> Result<Self, String> {
        Ok(Self { port: server.tcp_port(KNOWN)?, name: String::new(), open: None, tidy: true })
    }

    fn take(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        self.open = None;
    }

    /// The open channel; a circuit that the server closed is opened again.
    fn channel(&mut self) -> Result<(&mut Circuit, Channel), String> {
        if self.open.is_none() {
            let mut circuit = Circuit::connect(self.port)?;
            let channel = circuit.create(&self.name)?;
            self.open = Some((circuit, channel));
        }
        let (circuit, channel) = self.open.as_mut().ok_or("no circuit")?;
        Ok((circuit, *channel))
    }

    /// Sends a request made for the channel and returns the one answer, ids blanked out.
    fn ask(&mut self, request: impl Fn(Channel) -> Message) -> Result<Outcome, String> {
        let (circuit, channel) = self.channel()?;
        circuit.send(&request(channel))?;
        let Some(mut message) = circuit.next(PATIENCE)? else {
            self.open = None;
            return Ok(Outcome::Closed);
        };
        message.header.p2 = 0;
        if message.header.command == command::ERROR {
            // The text and the ids in it are each server's own; the code was in p2.
            message.payload.clear();
        }
        Ok(Outcome::Answer(message))
    }

    fn get(&mut self, kind: u16, count: u32) -> Result<Outcome, String> {
        let mut outcome =
            self.ask(|channel| Message::new(command::READ_NOTIFY, kind, count, channel.sid, 77, &[]))?;
        if let Outcome::Answer(message) = &mut outcome {
            if (14..=20).contains(&kind)
                && let Some(stamp) = message.payload.get_mut(4..12)
            {
                stamp.fill(0);
            }
            if message.header.p1 != ECA_NORMAL {
                // A failed read carries a payload of the right size that means nothing; rsrv leaves half a value in it.
                self.tidy &= message.payload.iter().all(|&byte| byte == 0);
                message.payload.fill(0);
            }
            let sent = message.payload.clone();
            blank(kind, message.header.count, &mut message.payload);
            self.tidy &= message.payload == sent;
        }
        Ok(outcome)
    }

    fn put(&mut self, kind: u16, count: u32, payload: &[u8]) -> Result<Outcome, String> {
        self.ask(|channel| Message::new(command::WRITE_NOTIFY, kind, count, channel.sid, 78, payload))
    }
}

/// Where the value begins in each DBR type, and the bytes of one element, by native type.
fn place(kind: u16) -> (usize, usize) {
    let size = [STRING_SIZE, 2, 4, 2, 1, 4, 8][usize::from(kind % 7)];
    match kind {
        0..=6 => (0, size),
        7..=13 => ([4, 4, 4, 4, 5, 4, 8][usize::from(kind % 7)], size),
        14..=20 => ([12, 14, 12, 14, 15, 12, 16][usize::from(kind % 7)], size),
        21..=27 => ([4, 24, 40, 422, 19, 36, 64][usize::from(kind % 7)], size),
        28..=34 => ([4, 28, 48, 422, 21, 44, 80][usize::from(kind % 7)], size),
        37 => (8, STRING_SIZE),
        38 => (0, STRING_SIZE),
        _ => (0, 2),
    }
}

/// Blanks the bytes that mean nothing: pads inside and after the structures, and what follows the end of a string. rsrv
/// sends what its buffer held before; ours must send zeros.
fn blank(kind: u16, count: u32, payload: &mut [u8]) {
    let (start, size) = place(kind);
    let end = start + size * count as usize;
    payload.get_mut(end..).unwrap_or_default().fill(0);
    let pad = match kind {
        11 => 4..5,
        13 => 4..8,
        15 | 17 => 12..14,
        18 => 12..15,
        20 => 12..16,
        23 | 27 | 30 | 34 => 6..8,
        25 => 18..19,
        32 => 20..21,
        _ => 0..0,
    };
    payload.get_mut(pad).unwrap_or_default().fill(0);
    if size != STRING_SIZE {
        return;
    }
    for string in payload.get_mut(start..end).unwrap_or_default().chunks_mut(STRING_SIZE) {
        let end = string.iter().position(|&byte| byte == 0).unwrap_or(string.len());
        string[end..].fill(0);
    }
}

/// Collects differences and judges them at the end.
struct Judge {
    compared: usize,
    unexpected: String,
    unexpected_count: usize,
    seen: BTreeSet<usize>,
}

impl Judge {
    fn new() -> Self {
        Self { compared: 0, unexpected: String::new(), unexpected_count: 0, seen: BTreeSet::new() }
    }

    fn compare(&mut self, what: &str, ours: &Outcome, rsrv: &Outcome) {
        self.compared += 1;
        if ours == rsrv {
            return;
        }
        let listed = DIFFERENCES.lines().enumerate().find(|(_, line)| {
            !line.starts_with('#') && line.split_once(": ").is_some_and(|(pattern, _)| matches(pattern, what))
        });
        if let Some((line, _)) = listed {
            self.seen.insert(line);
            return;
        }
        self.unexpected_count += 1;
        let _ = writeln!(self.unexpected, "{what}\n    ours {ours:?}\n    rsrv {rsrv:?}");
    }

    /// `operation` is the word that begins the patterns which this run could have seen.
    fn verdict(self, operation: &str, ours: &Side) -> Result<(), String> {
        let (all, first) = (&self.unexpected, self.unexpected.lines().take(SHOWN_LINES));
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{operation}-differences.txt"));
        std::fs::write(&file, all).map_err(|error| error.to_string())?;
        let mut text = first.collect::<Vec<_>>().join("\n");
        if !ours.tidy {
            text.push_str("our server sent bytes that mean nothing and are not zero\n");
        }
        if self.unexpected_count > 0 {
            let _ = writeln!(
                text,
                "{} of {} comparisons differ unexpectedly",
                self.unexpected_count, self.compared
            );
        }
        for (number, line) in DIFFERENCES.lines().enumerate() {
            if line.starts_with(operation) && !self.seen.contains(&number) {
                let _ = writeln!(text, "listed, but the servers agree: {line}");
            }
        }
        if self.compared < 100 {
            let _ = writeln!(text, "only {} comparisons made", self.compared);
        }
        if text.is_empty() { Ok(()) } else { Err(text) }
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for anything and `{a,b}` for one of several.
fn matches(pattern: &str, text: &str) -> bool {
    let Some(at) = pattern.find(['*', '{']) else { return pattern == text };
    let Some(text) = text.strip_prefix(&pattern[..at]) else { return false };
    let rest = &pattern[at + 1..];
    if pattern[at..].starts_with('*') {
        let mut ends = text.char_indices().map(|(end, _)| end).chain([text.len()]);
        return ends.any(|end| matches(rest, &text[end..]));
    }
    let (choices, rest) = rest.split_once('}').unwrap_or((rest, ""));
    choices.split(',').any(|choice| text.strip_prefix(choice).is_some_and(|text| matches(rest, text)))
}

/// Every type at the counts that matter, from every record.
///
/// # Errors
/// The differences.
pub fn gets_are_as_rsrvs(clients: &Clients) -> Result<(), String> {
    let (our_server, rsrv_server) = (ours()?, Server::rsrv(clients, records(), KNOWN)?);
    let (mut our_side, mut rsrv_side) = (Side::new(&our_server)?, Side::new(&rsrv_server)?);
    let mut judge = Judge::new();
    for name in names() {
        our_side.take(&name);
        rsrv_side.take(&name);
        let native = rsrv_side.channel()?.1;
        let offered = our_side.channel()?.1;
        if (native.native, native.count, native.access) != (offered.native, offered.count, offered.access) {
            return Err(format!("{name}: {offered:?} here, {native:?} there"));
        }
        for kind in 0..=LAST_TYPE {
            for count in BTreeSet::from([0, 1, native.count]) {
                let what = format!("get {name} type {kind} count {count}");
                let answers = (our_side.get(kind, count)?, rsrv_side.get(kind, count)?);
                judge.compare(&what, &answers.0, &answers.1);
            }
        }
    }
    judge.verdict("get", &our_side)
}

/// One value as the seven writable types can say it: `None` where a type cannot.
fn encode(kind: u16, value: &str) -> Option<Vec<u8>> {
    let number: Option<f64> = value.parse().ok();
    let integer: Option<i64> = value.parse().ok();
    Some(match kind {
        0 => {
            let mut bytes = value.as_bytes().to_vec();
            bytes.resize(40, 0);
            bytes
        }
        1 => i16::try_from(integer?).ok()?.to_be_bytes().to_vec(),
        2 => (number? as f32).to_be_bytes().to_vec(),
        3 => u16::try_from(integer?).ok()?.to_be_bytes().to_vec(),
        4 => vec![u8::try_from(integer?).ok()?],
        5 => i32::try_from(integer?).ok()?.to_be_bytes().to_vec(),
        _ => number?.to_be_bytes().to_vec(),
    })
}

const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "9",
    "42",
    "-1",
    "-7",
    "200",
    "300",
    "-300",
    "32767",
    "-32768",
    "70000",
    "2147483647",
    "0.5",
    "3.7",
    "-3.9",
    "1.005",
    "123456.789",
    "1e10",
    "1e17",
    "1e300",
    "-1e300",
    "NaN",
    "inf",
    "",
    " 42 ",
    "8 mm",
    "0x10",
    "1e3",
    "junk",
    "Run",
    "Off",
    "On",
    "hello world",
];

/// Every value in every writable type into every record: the same status, and the same value afterwards.
///
/// # Errors
/// The differences.
pub fn puts_are_as_rsrvs(clients: &Clients) -> Result<(), String> {
    let (our_server, rsrv_server) = (ours()?, Server::rsrv(clients, records(), KNOWN)?);
    let (mut our_side, mut rsrv_side) = (Side::new(&our_server)?, Side::new(&rsrv_server)?);
    let mut judge = Judge::new();
    for name in names() {
        our_side.take(&name);
        rsrv_side.take(&name);
        let limit = rsrv_side.channel()?.1.count;
        for kind in 0..=6 {
            for &value in VALUES {
                let Some(one) = encode(kind, value) else { continue };
                for count in BTreeSet::from([1, limit.min(3)]) {
                    let what = format!("put {name} type {kind} count {count} value {value:?}");
                    let payload = one.repeat(count as usize);
                    let answers =
                        (our_side.put(kind, count, &payload)?, rsrv_side.put(kind, count, &payload)?);
                    judge.compare(&what, &answers.0, &answers.1);
                    for back in [0, 7, 13] {
                        let what = format!("{what} back {back}");
                        let answers = (our_side.get(back, 0)?, rsrv_side.get(back, 0)?);
                        judge.compare(&what, &answers.0, &answers.1);
                    }
                }
            }
        }
    }
    judge.verdict("put", &our_side)
}
