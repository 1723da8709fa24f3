// SPDX-License-Identifier: BSD-2-Clause
//! Loads of one kind of message, the same bytes for every server.

use crate::servers::NAME;
use crate::support::circuit::{Channel, Circuit};
use crate::support::deadline::PATIENCE;
use crate::support::message::{self, Message, command};
use crate::support::procfs::cpu_seconds;
use crate::support::server::Server;

/// A kind of message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// READ_NOTIFY, the next after the answer to the last.
    SyncGet,
    /// WRITE_NOTIFY, the next after the answer to the last.
    PutCallback,
    /// READ_NOTIFY, a thousand at a time.
    Gets,
    /// WRITE, a thousand at a time and an ECHO, whose answer says that they have been dealt with.
    Puts,
    /// Updates: one WRITE that all monitors hear of.
    FanOut,
    /// CREATE_CHAN and CLEAR_CHANNEL, a thousand at a time.
    Channels,
}

/// All kinds, in the order of the table.
pub const KINDS: [Kind; 6] =
    [Kind::SyncGet, Kind::PutCallback, Kind::Gets, Kind::Puts, Kind::FanOut, Kind::Channels];

/// Messages that are sent together.
const BATCH: u32 = 1000;
/// Monitors of the one value, and the circuits that they are spread over.
const MONITORS: u32 = 10_000;
const MONITOR_CIRCUITS: u32 = 10;
/// A round takes at least so much CPU of the server: the kernel counts in steps of 10 ms.
const ROUND_CPU: f64 = 0.3;

/// Client's ids of the channels that come and go.
const FIRST_CID: u32 = 1_000_000;

const DOUBLE: u16 = 6;
const TIME_DOUBLE: u16 = 20;
const VALUE: u16 = 1;

impl Kind {
    /// What it is called in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SyncGet => "get, one by one",
            Self::PutCallback => "put-callback, one by one",
            Self::Gets => "get, 1000 at once",
            Self::Puts => "put, 1000 at once",
            Self::FanOut => "update, 10 000 monitors",
            Self::Channels => "channel created and cleared",
        }
    }

    /// Many messages share a packet, so that what the kernel takes for each packet hardly counts.
    pub const fn together(self) -> bool {
        !matches!(self, Self::SyncGet | Self::PutCallback)
    }
}

/// A client of one server.
pub struct Load<'a> {
    server: &'a Server,
    port: u16,
    circuit: Circuit,
    channel: Channel,
    value: f64,
}

impl<'a> Load<'a> {
    /// Connects.
    ///
    /// # Errors
    /// If the server does not have [`NAME`].
    pub fn new(server: &'a Server) -> Result<Self, String> {
        let port = server.tcp_port(NAME)?;
        let mut circuit = Circuit::connect(port)?;
        let channel = circuit.create(NAME)?;
        Ok(Self { server, port, circuit, channel, value: 0.0 })
    }

    /// How many messages of a kind take [`ROUND_CPU`].
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn fill(&mut self, kind: Kind) -> Result<u32, String> {
        let mut count = if kind == Kind::FanOut { MONITORS } else { 2000 };
        loop {
            let (cpu, messages) = self.run(kind, count)?;
            if cpu >= ROUND_CPU / 4.0 {
                return Ok((messages * ROUND_CPU / cpu) as u32);
            }
            count *= 4;
        }
    }

    /// Has about `count` messages dealt with: the server's CPU seconds, and the messages.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn run(&mut self, kind: Kind, count: u32) -> Result<(f64, f64), String> {
        let mut monitors = if kind == Kind::FanOut { self.monitors()? } else { Vec::new() };
        let before = cpu_seconds(self.server.process.id())?;
        let mut done = 0;
        while done < count {
            done += match kind {
                Kind::SyncGet => self.circuit.get(self.channel, DOUBLE, 1).map(|_| 1)?,
                Kind::PutCallback => {
                    let value = self.next_value();
                    self.circuit.put(self.channel, DOUBLE, 1, &value).map(|_| 1)?
                }
                Kind::Gets => self.gets()?,
                Kind::Puts => self.puts()?,
                Kind::FanOut => self.fan_out(&mut monitors)?,
                Kind::Channels => self.channels()?,
            };
        }
        Ok((cpu_seconds(self.server.process.id())? - before, f64::from(done)))
    }

    fn next_value(&mut self) -> [u8; 8] {
        self.value += 1.0;
        self.value.to_be_bytes()
    }

    fn gets(&mut self) -> Result<u32, String> {
        let one = |ioid| message::bytes(command::READ_NOTIFY, DOUBLE, 1, self.channel.sid, ioid, &[]);
        let bytes: Vec<u8> = (0..BATCH).flat_map(one).collect();
        self.circuit.send_bytes(&bytes)?;
        for _ in 0..BATCH {
            self.circuit.next_that(|m| m.header.command == command::READ_NOTIFY)?;
        }
        Ok(BATCH)
    }

    fn puts(&mut self) -> Result<u32, String> {
        let mut bytes = Vec::new();
        for _ in 0..BATCH {
            let value = self.next_value();
            bytes.extend(message::bytes(command::WRITE, DOUBLE, 1, self.channel.sid, 0, &value));
        }
        bytes.extend(message::bytes(command::ECHO, 0, 0, 0, 0, &[]));
        self.circuit.send_bytes(&bytes)?;
        self.circuit.next_that(|m| m.header.command == command::ECHO)?;
        Ok(BATCH)
    }

    /// Circuits with their monitors, the first updates taken.
    fn monitors(&self) -> Result<Vec<Circuit>, String> {
        let mut circuits = Vec::new();
        for _ in 0..MONITOR_CIRCUITS {
            let mut circuit = Circuit::connect(self.port)?;
            let channel = circuit.create(NAME)?;
            for _ in 0..MONITORS / MONITOR_CIRCUITS {
                circuit.subscribe(channel, TIME_DOUBLE, 1, VALUE)?;
            }
            updates(&mut circuit, MONITORS / MONITOR_CIRCUITS)?;
            circuits.push(circuit);
        }
        Ok(circuits)
    }

    fn fan_out(&mut self, monitors: &mut [Circuit]) -> Result<u32, String> {
        let value = self.next_value();
        self.circuit.send(&Message::new(command::WRITE, DOUBLE, 1, self.channel.sid, 0, &value))?;
        for circuit in monitors {
            updates(circuit, MONITORS / MONITOR_CIRCUITS)?;
        }
        Ok(MONITORS)
    }

    fn channels(&mut self) -> Result<u32, String> {
        let name = message::name_payload(NAME);
        let create = |cid| message::bytes(command::CREATE_CHAN, 0, 0, cid, u32::from(message::MINOR), &name);
        let bytes: Vec<u8> = (0..BATCH).flat_map(|number| create(FIRST_CID + number)).collect();
        self.circuit.send_bytes(&bytes)?;
        let mut bytes = Vec::new();
        for _ in 0..BATCH {
            let created = self.circuit.next_that(|m| m.header.command == command::CREATE_CHAN)?.header;
            bytes.extend(message::bytes(command::CLEAR_CHANNEL, 0, 0, created.p2, created.p1, &[]));
        }
        self.circuit.send_bytes(&bytes)?;
        for _ in 0..BATCH {
            self.circuit.next_that(|m| m.header.command == command::CLEAR_CHANNEL)?;
        }
        Ok(BATCH)
    }
}

/// Takes so many updates.
fn updates(circuit: &mut Circuit, count: u32) -> Result<(), String> {
    for _ in 0..count {
        let message = circuit.next(PATIENCE)?.ok_or("circuit closed by the server")?;
        if message.header.command != command::EVENT_ADD {
            return Err(format!("command {} where an update was due", message.header.command));
        }
    }
    Ok(())
}
