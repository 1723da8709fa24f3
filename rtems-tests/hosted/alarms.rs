// SPDX-License-Identifier: BSD-2-Clause
//! Alarms beside softIoc: what subscribers hear of puts, limits, hysteresis, deadbands and acknowledgement, message by
//! message; and the same through EPICS's own caget and camonitor.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::security::{ours, rsrv};
use crate::support::circuit::{Channel, Circuit};
use crate::support::client_tools::tool;
use crate::support::deadline::{PATIENCE, retry};
use crate::support::message::{Message, command};
use crate::support::process::Process;
use crate::support::python::Clients;
use crate::support::server::Server;

/// What a display or an alarm handler subscribes to: name, DBR type, mask (1 value, 2 log, 4 alarm, 8 property).
const WATCHES: &[(&str, u16, u16)] = &[
    ("alarm:ai", 20, 5),
    ("alarm:ai", 14, 1),
    ("alarm:ai", 6, 2),
    ("alarm:ai", 34, 8),
    ("alarm:ai", 37, 4),
    ("alarm:ai.SEVR", 3, 1),
    ("alarm:ai.STAT", 0, 5),
    ("alarm:ai.ACKS", 3, 5),
    ("alarm:ai.ACKT", 0, 1),
    ("alarm:longout", 19, 5),
    ("alarm:longout", 37, 4),
    ("alarm:int64in", 20, 5),
    ("alarm:bo", 17, 5),
    ("alarm:bo", 14, 4),
    ("alarm:bi", 14, 5),
    ("alarm:bi.SEVR", 0, 1),
    ("alarm:mbbi", 17, 5),
    ("alarm:mbbi.STAT", 0, 1),
    ("alarm:stringout", 14, 5),
    ("alarm:lso", 14, 5),
    ("alarm:lso.VAL$", 4, 1),
    ("alarm:lso.LEN", 6, 1),
];

/// Puts in turn, as text; a number after `acks` or `ackt` is the acknowledgement's.
const STEPS: &[(&str, &str)] = &[
    ("alarm:ai", "1"),
    ("alarm:ai", "1.5"),
    ("alarm:ai", "5"),
    ("alarm:ai", "6"),
    ("alarm:ai", "85"),
    ("alarm:ai", "79"),
    ("alarm:ai", "77"),
    ("alarm:ai", "95"),
    ("alarm:ai", "89"),
    ("alarm:ai", "acks 1"),
    ("alarm:ai", "acks 2"),
    ("alarm:ai", "-95"),
    ("alarm:ai", "-89.5"),
    ("alarm:ai", "-70"),
    ("alarm:ai", "acks 3"),
    ("alarm:ai", "ackt 0"),
    ("alarm:ai", "85"),
    ("alarm:ai", "0"),
    ("alarm:ai", "ackt 1"),
    ("alarm:ai", "85"),
    ("alarm:ai", "0"),
    ("alarm:ai", "nan"),
    ("alarm:ai", "0"),
    ("alarm:ai.HIGH", "70"),
    ("alarm:ai", "75"),
    ("alarm:ai.HSV", "MAJOR"),
    ("alarm:ai.HSV", "NO_ALARM"),
    ("alarm:ai.PREC", "4"),
    ("alarm:ai.DESC", "an input"),
    ("alarm:ai.MDEL", "0"),
    ("alarm:ai", "75"),
    ("alarm:ai", "75.5"),
    ("alarm:longout", "15"),
    ("alarm:longout", "60"),
    ("alarm:longout", "-60"),
    ("alarm:longout", "acks 2"),
    ("alarm:longout", "0"),
    ("alarm:int64in", "1"),
    ("alarm:int64in", "6000000000"),
    ("alarm:int64in", "6000000001"),
    ("alarm:int64in", "0"),
    ("alarm:bo", "Open"),
    ("alarm:bo", "Open"),
    ("alarm:bo", "Closed"),
    ("alarm:bo", "Closed"),
    ("alarm:bi", "Closed"),
    ("alarm:bi", "Closed"),
    ("alarm:bi", "Open"),
    ("alarm:bi", "Open"),
    ("alarm:mbbi", "Run"),
    ("alarm:mbbi", "Run"),
    ("alarm:mbbi", "Fault"),
    ("alarm:mbbi", "Idle"),
    ("alarm:stringout", "loud"),
    ("alarm:stringout", "loud"),
    ("alarm:lso", "another text"),
    ("alarm:lso", "another text"),
    ("alarm:lso.VAL$", "one that is quite a bit longer than what a string can hold, thirty-nine"),
    ("alarm:ai.UDF", "1"),
    ("alarm:ai.PROC", "1"),
];

/// What one server tells its subscribers.
struct Listener {
    circuit: Circuit,
    channels: BTreeMap<String, Channel>,
    subscriptions: BTreeMap<u32, String>,
    heard: BTreeMap<String, Vec<String>>,
}

impl Listener {
    fn new(server: &Server) -> Result<Self, String> {
        let mut circuit = Circuit::connect_as(server.tcp_port("alarm:ai")?, "ann", "console1")?;
        let mut channels = BTreeMap::new();
        for name in WATCHES.iter().map(|watch| watch.0).chain(STEPS.iter().map(|step| step.0)) {
            if !channels.contains_key(name) {
                channels.insert(name.to_owned(), circuit.create(name)?);
            }
        }
        let (mut subscriptions, mut heard) = (BTreeMap::new(), BTreeMap::new());
        for &(name, kind, mask) in WATCHES {
            let key = format!("{name} type {kind} mask {mask}");
            subscriptions.insert(circuit.subscribe(channels[name], kind, 0, mask)?, key.clone());
            heard.insert(key, Vec::new());
        }
        Ok(Self { circuit, channels, subscriptions, heard })
    }

    fn note(&mut self, message: &Message) {
        let Some(key) = self.subscriptions.get(&message.header.p2) else { return };
        let mut payload = message.payload.clone();
        if (14..=20).contains(&message.header.kind)
            && let Some(stamp) = payload.get_mut(4..12)
        {
            stamp.fill(0);
        }
        // rsrv leaves what its buffer held before behind the end of a string.
        let start = match message.header.kind {
            0 => Some(0),
            14 => Some(12),
            37 => Some(8),
            _ => None,
        };
        if let Some(text) = start.and_then(|start| payload.get_mut(start..)) {
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
            text[end..].fill(0);
        }
        // The pads of the structures differ; what is in them does not.
        if message.header.kind == 34 {
            payload[6..8].fill(0);
        }
        if message.header.kind == 17 {
            payload[12..14].fill(0);
        }
        if message.header.kind == 20 {
            payload[12..16].fill(0);
        }
        if message.header.kind == 34 {
            // The alarm of the moment: rsrv takes it before the record has processed with its new limits.
            payload[..4].fill(0);
        }
        if message.header.kind == 4 {
            payload.truncate(message.header.count as usize);
        }
        let used = payload.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let text: Vec<String> = payload[..used].iter().map(|byte| format!("{byte:02x}")).collect();
        let note =
            format!("count {} status {:#x}: {}", message.header.count, message.header.p1, text.join(" "));
        // The same twice says no more than once, and either may have coalesced it.
        if let Some(heard) = self.heard.get_mut(key)
            && heard.last() != Some(&note)
        {
            heard.push(note);
        }
    }

    /// Takes what comes until nothing has come for `limit`.
    fn listen(&mut self, limit: Duration) -> Result<(), String> {
        while let Ok(message) = self.circuit.next(limit) {
            let message = message.ok_or("the server closed the circuit")?;
            if message.header.command == command::EVENT_ADD {
                self.note(&message);
            }
        }
        Ok(())
    }

    /// Puts with completion; the status.
    fn put(&mut self, name: &str, value: &str) -> Result<u32, String> {
        let channel = self.channels[name];
        let (kind, count, payload) = match value.split_once(' ') {
            Some(("ackt", number)) => (35, 1, vec![0, number.parse().map_err(|_| "no number")?]),
            Some(("acks", number)) => (36, 1, vec![0, number.parse().map_err(|_| "no number")?]),
            _ if name.ends_with('$') => {
                let mut text = value.as_bytes().to_vec();
                text.push(0);
                (4, text.len() as u32, text)
            }
            _ => {
                let mut text = value.as_bytes().to_vec();
                text.resize(40, 0);
                (0, 1, text)
            }
        };
        let ioid = self.circuit.fresh_id();
        self.circuit.send(&Message::new(command::WRITE_NOTIFY, kind, count, channel.sid, ioid, &payload))?;
        loop {
            let message = self.circuit.next(PATIENCE)?.ok_or("the server closed the circuit")?;
            match message.header.command {
                command::EVENT_ADD => self.note(&message),
                command::WRITE_NOTIFY if message.header.p2 == ioid => return Ok(message.header.p1),
                _ => {}
            }
        }
    }
}

/// Every update of every subscription, step by step.
///
/// # Errors
/// The differences.
pub fn sequences_are_as_rsrvs(clients: &Clients) -> Result<(), String> {
    let (our_server, rsrv_server) = (ours(&[])?, rsrv(clients)?);
    let (mut ours, mut rsrv) = (Listener::new(&our_server)?, Listener::new(&rsrv_server)?);
    let mut text = String::new();
    for (step, &(name, value)) in [("", "")].iter().chain(STEPS).enumerate() {
        if step > 0 {
            let statuses = (ours.put(name, value)?, rsrv.put(name, value)?);
            if statuses.0 != statuses.1 {
                text += &format!("{name} {value}: status {:#x} here, {:#x} there\n", statuses.0, statuses.1);
            }
        }
        let same = retry(PATIENCE / 10, || {
            let heard =
                ours.listen(Duration::from_millis(5)).and_then(|()| rsrv.listen(Duration::from_millis(5)));
            (heard.is_err() || ours.heard == rsrv.heard).then_some(())
        });
        if same.is_some() {
            continue;
        }
        for (key, here) in &ours.heard {
            let there = &rsrv.heard[key];
            if here != there {
                let first = here.iter().zip(there).take_while(|(a, b)| a == b).count();
                text += &format!(
                    "step {step} ({name} {value}): {key}\n  ours {:?}\n  rsrv {:?}\n",
                    &here[first..],
                    &there[first..]
                );
            }
        }
        // The same again would be said at each further step.
        rsrv.heard.clone_from(&ours.heard);
    }
    ours.listen(Duration::from_millis(300))?;
    rsrv.listen(Duration::from_millis(300))?;
    if ours.heard != rsrv.heard {
        text += "more came after the last step\n";
    }
    let updates: usize = ours.heard.values().map(Vec::len).sum();
    if updates < 100 {
        text += &format!("only {updates} updates in all\n");
    }
    if text.is_empty() { Ok(()) } else { Err(text) }
}

/// A line of camonitor without its time.
fn without_time(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_time =
        |word: &str| word.len() >= 10 && word.bytes().all(|b| b.is_ascii_digit() || b"-:.".contains(&b));
    words.into_iter().filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ")
}

/// camonitor on a few records while their values change.
///
/// # Errors
/// The differences.
pub fn camonitor_shows_the_same(clients: &Clients) -> Result<(), String> {
    let mut shown = Vec::new();
    for server in [ours(&[])?, rsrv(clients)?] {
        let mut command = clients.tool("camonitor");
        command.args([
            "alarm:ai",
            "alarm:bo",
            "alarm:mbbi",
            "alarm:stringout",
            "alarm:int64in",
            "alarm:ai.SEVR",
        ]);
        let monitor = Process::start(server.site.client(command))?;
        for name in
            ["alarm:ai ", "alarm:bo ", "alarm:mbbi", "alarm:stringout", "alarm:int64in", "alarm:ai.SEVR"]
        {
            monitor.wait_for_line(0, PATIENCE, |line| line.contains(name))?;
        }
        let mut circuit = Listener::new(&server)?;
        for (name, value, mark) in [
            ("alarm:ai", "85", "HIGH MINOR"),
            ("alarm:bo", "Open", "Open STATE MAJOR"),
            ("alarm:ai", "95", "HIHI MAJOR"),
            ("alarm:mbbi", "Fault", "Fault STATE MAJOR"),
            ("alarm:stringout", "loud", "loud"),
            ("alarm:int64in", "6000000000", "6e+09 HIGH MINOR"),
            ("alarm:ai", "0", "alarm:ai 0"),
            ("alarm:bo", "Closed", "Closed COS MINOR"),
        ] {
            let from = monitor.mark();
            circuit.put(name, value)?;
            monitor.wait_for_line(from, PATIENCE, |line| without_time(line).contains(mark))?;
        }
        // What is told of other fields comes in an order of its own.
        let text = monitor.text();
        let mut lines: Vec<String> = text.lines().map(without_time).collect();
        lines.sort();
        shown.push(lines);
    }
    if shown[0] == shown[1] { Ok(()) } else { Err(format!("ours {:#?}\nrsrv {:#?}", shown[0], shown[1])) }
}

/// caget -d of every type, from one record of each kind.
///
/// # Errors
/// The differences.
pub fn caget_shows_the_same(clients: &Clients) -> Result<(), String> {
    let (our_server, rsrv_server) = (ours(&[])?, rsrv(clients)?);
    let numbers = ["alarm:ai", "alarm:longout", "alarm:bo", "alarm:bi", "alarm:mbbi", "sec:ops"];
    let texts = ["alarm:stringout", "alarm:lso"];
    let mut text = String::new();
    for kind in (0..=38).filter(|kind| !matches!(kind, 35 | 36)) {
        let number = kind.to_string();
        let mut arguments = vec!["-d", &number];
        arguments.extend(numbers);
        // Texts are no numbers: caget would wait for what fails, and `values` compares the failures.
        if kind % 7 == 0 || kind >= 37 {
            arguments.extend(texts);
        }
        let mut answers = Vec::new();
        for server in [&our_server, &rsrv_server] {
            let shown = tool(clients, server, "caget", &arguments)?;
            let lines = shown.lines().filter(|line| !line.contains("Timestamp"));
            answers.push(lines.map(str::to_owned).collect::<Vec<_>>());
        }
        for (ours, rsrv) in answers[0].iter().zip(&answers[1]).filter(|(ours, rsrv)| ours != rsrv) {
            text += &format!("caget -d {kind}: ours {ours}, rsrv {rsrv}\n");
        }
        if answers[0].len() != answers[1].len() || answers[0].len() < numbers.len() {
            text += &format!("caget -d {kind}: ours {:#?}, rsrv {:#?}\n", answers[0], answers[1]);
        }
    }
    if text.is_empty() { Ok(()) } else { Err(text) }
}
