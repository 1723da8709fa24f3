// SPDX-License-Identifier: BSD-2-Clause
//! A raw CA client: one TCP circuit, message by message.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::deadline::PATIENCE;
use super::message::{self, Message, command};

/// A channel as the server described it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Client's id.
    pub cid: u32,
    /// Server's id.
    pub sid: u32,
    /// Native type, 0 (string) to 6 (double).
    pub native: u16,
    /// Number of elements.
    pub count: u32,
    /// Bit 0 read, bit 1 write.
    pub access: u32,
}

/// A circuit; what arrives is kept until somebody asks for it.
pub struct Circuit {
    stream: TcpStream,
    buffer: Vec<u8>,
    start: usize,
    next_id: u32,
}

impl Circuit {
    /// Connects to 127.0.0.1 and introduces itself.
    ///
    /// # Errors
    /// If the server does not accept.
    pub fn connect(port: u16) -> Result<Self, String> {
        Self::connect_as(port, "tester", "localhost")
    }

    /// Connects to 127.0.0.1 and says who it is.
    ///
    /// # Errors
    /// If the server does not accept.
    pub fn connect_as(port: u16, user: &str, host: &str) -> Result<Self, String> {
        let mut circuit = Self::connect_silently(port)?;
        circuit.send(&Message::new(command::VERSION, 0, u32::from(message::MINOR), 0, 0, &[]))?;
        circuit.send(&Message::new(command::CLIENT_NAME, 0, 0, 0, 0, &message::name_payload(user)))?;
        circuit.send(&Message::new(command::HOST_NAME, 0, 0, 0, 0, &message::name_payload(host)))?;
        Ok(circuit)
    }

    /// Connects to 127.0.0.1 and says nothing.
    ///
    /// # Errors
    /// If the server does not accept.
    pub fn connect_silently(port: u16) -> Result<Self, String> {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Self { stream, buffer: Vec::new(), start: 0, next_id: 1 })
    }

    /// The socket itself.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// A number that this circuit has not used yet.
    pub fn fresh_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }

    /// Sends one message.
    ///
    /// # Errors
    /// If the circuit is closed.
    pub fn send(&mut self, message: &Message) -> Result<(), String> {
        self.send_bytes(&message.bytes())
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// If the circuit is closed.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.stream.write_all(bytes).map_err(|error| format!("send: {error}"))
    }

    /// The next message; `None` when the server has closed the circuit.
    ///
    /// # Errors
    /// If nothing complete arrives within `limit`.
    pub fn next(&mut self, limit: Duration) -> Result<Option<Message>, String> {
        let end = Instant::now() + limit;
        loop {
            if let Some((message, length)) = Message::parse(&self.buffer[self.start..]) {
                self.start += length;
                return Ok(Some(message));
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("no answer in time".to_owned());
            }
            self.stream.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
            let mut chunk = [0; 65536];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(length) => self.buffer.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::WouldBlock
                            | std::io::ErrorKind::TimedOut
                            | std::io::ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(format!("receive: {error}")),
            }
        }
    }

    /// The next message that satisfies `wanted`; others are passed over.
    ///
    /// # Errors
    /// If the circuit closes or [`PATIENCE`] runs out first.
    pub fn next_that(&mut self, wanted: impl Fn(&Message) -> bool) -> Result<Message, String> {
        loop {
            let message = self.next(PATIENCE)?.ok_or("circuit closed by the server")?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }

    /// Sends a CREATE_CHAN without waiting for the answer.
    ///
    /// # Errors
    /// If the circuit is closed.
    pub fn send_create(&mut self, name: &str, cid: u32) -> Result<(), String> {
        let payload = message::name_payload(name);
        self.send(&Message::new(command::CREATE_CHAN, 0, 0, cid, u32::from(message::MINOR), &payload))
    }

    /// Receives the answer to the CREATE_CHAN with this `cid`.
    ///
    /// # Errors
    /// If the server refuses the channel.
    pub fn created(&mut self, cid: u32) -> Result<Channel, String> {
        let mut access = 0;
        loop {
            let message = self.next(PATIENCE)?.ok_or("circuit closed by the server")?;
            let header = message.header;
            if header.p1 != cid {
                continue;
            }
            match header.command {
                command::ACCESS_RIGHTS => access = header.p2,
                command::CREATE_CH_FAIL => return Err("no such channel".to_owned()),
                command::CREATE_CHAN => {
                    return Ok(Channel {
                        cid,
                        sid: header.p2,
                        native: header.kind,
                        count: header.count,
                        access,
                    });
                }
                _ => {}
            }
        }
    }

    /// Creates a channel.
    ///
    /// # Errors
    /// If the server does not have it.
    pub fn create(&mut self, name: &str) -> Result<Channel, String> {
        let cid = self.fresh_id();
        self.send_create(name, cid)?;
        self.created(cid).map_err(|error| format!("{name}: {error}"))
    }

    /// READ_NOTIFY and its answer (an ERROR about it counts as the answer).
    ///
    /// # Errors
    /// If none comes.
    pub fn get(&mut self, channel: Channel, kind: u16, count: u32) -> Result<Message, String> {
        let ioid = self.fresh_id();
        self.send(&Message::new(command::READ_NOTIFY, kind, count, channel.sid, ioid, &[]))?;
        self.answer(command::READ_NOTIFY, ioid)
    }

    /// WRITE_NOTIFY and its answer (an ERROR about it counts as the answer).
    ///
    /// # Errors
    /// If none comes.
    pub fn put(
        &mut self,
        channel: Channel,
        kind: u16,
        count: u32,
        payload: &[u8],
    ) -> Result<Message, String> {
        let ioid = self.fresh_id();
        self.send(&Message::new(command::WRITE_NOTIFY, kind, count, channel.sid, ioid, payload))?;
        self.answer(command::WRITE_NOTIFY, ioid)
    }

    fn answer(&mut self, wanted: u16, ioid: u32) -> Result<Message, String> {
        self.next_that(|message| {
            (message.header.command == wanted && message.header.p2 == ioid)
                || message.header.command == command::ERROR
        })
    }

    /// EVENT_ADD; returns the subscription id.
    ///
    /// # Errors
    /// If the circuit is closed.
    pub fn subscribe(&mut self, channel: Channel, kind: u16, count: u32, mask: u16) -> Result<u32, String> {
        let id = self.fresh_id();
        let mut payload = vec![0; 12];
        payload.extend(mask.to_be_bytes());
        payload.extend([0, 0]);
        self.send(&Message::new(command::EVENT_ADD, kind, count, channel.sid, id, &payload))?;
        Ok(id)
    }

    /// ECHO and back: everything sent before has been dealt with.
    ///
    /// # Errors
    /// If it does not come back.
    pub fn echo(&mut self) -> Result<(), String> {
        self.send(&Message::new(command::ECHO, 0, 0, 0, 0, &[]))?;
        self.next_that(|message| message.header.command == command::ECHO).map(|_| ())
    }
}

/// Searches one name by UDP on 127.0.0.1, asking again until `limit`: the TCP port of the server that has it.
pub fn search(port: u16, name: &str, limit: Duration) -> Option<u16> {
    search_from(Ipv4Addr::LOCALHOST, port, name, limit)
}

/// The same from another of this host's addresses.
pub fn search_from(from: Ipv4Addr, port: u16, name: &str, limit: Duration) -> Option<u16> {
    let socket = UdpSocket::bind((from, 0)).ok()?;
    socket.connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    socket.set_read_timeout(Some(Duration::from_millis(100))).ok()?;
    super::deadline::retry(limit, || {
        socket.send(&message::search_datagram(1, 1, &[name])).ok()?;
        let mut buffer = [0; 2048];
        let length = socket.recv(&mut buffer).ok()?;
        let mut rest = &buffer[..length];
        while let Some((message, length)) = Message::parse(rest) {
            if message.header.command == command::SEARCH {
                return Some(message.header.kind);
            }
            rest = &rest[length..];
        }
        None
    })
}
