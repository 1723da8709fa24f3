// SPDX-License-Identifier: BSD-2-Clause
//! Channel Access messages as bytes, written independently of the server's own code so that one checks the other.

/// Command numbers.
#[allow(missing_docs)]
pub mod command {
    pub const VERSION: u16 = 0;
    pub const EVENT_ADD: u16 = 1;
    pub const EVENT_CANCEL: u16 = 2;
    pub const READ: u16 = 3;
    pub const WRITE: u16 = 4;
    pub const SEARCH: u16 = 6;
    pub const EVENTS_OFF: u16 = 8;
    pub const EVENTS_ON: u16 = 9;
    pub const READ_SYNC: u16 = 10;
    pub const ERROR: u16 = 11;
    pub const CLEAR_CHANNEL: u16 = 12;
    pub const BEACON: u16 = 13;
    pub const NOT_FOUND: u16 = 14;
    pub const READ_NOTIFY: u16 = 15;
    pub const REPEATER_CONFIRM: u16 = 17;
    pub const CREATE_CHAN: u16 = 18;
    pub const WRITE_NOTIFY: u16 = 19;
    pub const CLIENT_NAME: u16 = 20;
    pub const HOST_NAME: u16 = 21;
    pub const ACCESS_RIGHTS: u16 = 22;
    pub const ECHO: u16 = 23;
    pub const REPEATER_REGISTER: u16 = 24;
    pub const CREATE_CH_FAIL: u16 = 26;
    pub const SERVER_DISCONN: u16 = 27;
}

/// Minor version of the protocol that these messages speak.
pub const MINOR: u16 = 13;

/// SEARCH.type: an unknown name is not answered.
pub const DONT_REPLY: u16 = 5;

/// The status of success.
pub const ECA_NORMAL: u32 = 1;

/// A message header; written in extended form where it must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Command number.
    pub command: u16,
    /// Bytes of payload that follow, padding included.
    pub size: u32,
    /// Data type, or what the command makes of the field.
    pub kind: u16,
    /// Element count, or what the command makes of the field.
    pub count: u32,
    /// First parameter.
    pub p1: u32,
    /// Second parameter.
    pub p2: u32,
}

impl Header {
    /// As sent.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(24);
        let extended = self.size >= 0xffff || self.count >= 0xffff;
        let (size, count) = if extended { (0xffff, 0) } else { (self.size as u16, self.count as u16) };
        for field in [self.command, size, self.kind, count] {
            bytes.extend(field.to_be_bytes());
        }
        bytes.extend(self.p1.to_be_bytes());
        bytes.extend(self.p2.to_be_bytes());
        if extended {
            bytes.extend(self.size.to_be_bytes());
            bytes.extend(self.count.to_be_bytes());
        }
        bytes
    }

    /// Reads a header at the start of `bytes`: the header and its own length; `None` while incomplete.
    pub fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let short = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let long = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let mut header = Self {
            command: short(0)?,
            size: u32::from(short(2)?),
            kind: short(4)?,
            count: u32::from(short(6)?),
            p1: long(8)?,
            p2: long(12)?,
        };
        if header.size == 0xffff {
            header.size = long(16)?;
            header.count = long(20)?;
            return Some((header, 24));
        }
        Some((header, 16))
    }
}

/// A message: header and payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Header; `size` always is the payload's length.
    pub header: Header,
    /// Payload, padding included.
    pub payload: Vec<u8>,
}

impl Message {
    /// A message with `payload`, padded with zeros to a multiple of eight bytes.
    pub fn new(command: u16, kind: u16, count: u32, p1: u32, p2: u32, payload: &[u8]) -> Self {
        let mut payload = payload.to_vec();
        payload.resize(payload.len().next_multiple_of(8), 0);
        let header = Header { command, size: payload.len() as u32, kind, count, p1, p2 };
        Self { header, payload }
    }

    /// As sent.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.header.bytes();
        bytes.extend(&self.payload);
        bytes
    }

    /// Takes the message at the start of `bytes`, if it is complete: the message and its length.
    pub fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let (header, start) = Header::parse(bytes)?;
        let end = start + header.size as usize;
        let payload = bytes.get(start..end)?.to_vec();
        Some((Self { header, payload }, end))
    }
}

/// A whole message as sent.
pub fn bytes(command: u16, kind: u16, count: u32, p1: u32, p2: u32, payload: &[u8]) -> Vec<u8> {
    Message::new(command, kind, count, p1, p2, payload).bytes()
}

/// A name as payload: terminated and padded.
pub fn name_payload(name: &str) -> Vec<u8> {
    let mut payload = name.as_bytes().to_vec();
    payload.push(0);
    payload
}

/// A search for `names`, one datagram: VERSION with the sequence number, then one SEARCH per name, the ids from
/// `first_id` up.
pub fn search_datagram(sequence: u32, first_id: u32, names: &[&str]) -> Vec<u8> {
    let mut bytes = Message::new(command::VERSION, 1, u32::from(MINOR), sequence, 0, &[]).bytes();
    for (id, name) in (first_id..).zip(names) {
        let payload = name_payload(name);
        bytes.extend(Message::new(command::SEARCH, DONT_REPLY, u32::from(MINOR), id, id, &payload).bytes());
    }
    bytes
}
