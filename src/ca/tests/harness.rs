// SPDX-License-Identifier: BSD-2-Clause
//! A small provider in memory, and a client that speaks to the server over byte vectors.

use crate::ca::wire::{Header, command, padded};
use crate::ca::*;
use crate::value::convert::decode;
use crate::value::{
    Alarm, Elements, EventMask, Metadata, NativeType, Reading, Stamp, States, Text, WireElements,
};
use std::collections::VecDeque;
use std::string::String;
use std::vec::Vec;

/// Elements of a process variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    Text(Vec<Text>),
    Short(Vec<i16>),
    Enum(Vec<u16>),
    Char(Vec<u8>),
    Long(Vec<i32>),
    Double(Vec<f64>),
}

impl Values {
    fn elements(&self) -> Elements<'_> {
        match self {
            Values::Text(v) => Elements::String(v),
            Values::Short(v) => Elements::Short(v),
            Values::Enum(v) => Elements::Enum(v),
            Values::Char(v) => Elements::Char(v),
            Values::Long(v) => Elements::Long(v),
            Values::Double(v) => Elements::Double(v),
        }
    }
}

pub(super) struct Pv {
    name: &'static str,
    pub(super) values: Values,
    max_count: u32,
    pub(super) access: Access,
    pub(super) alarm: Alarm,
    pub(super) metadata: Metadata<'static>,
    /// A put with completion ends only when the test says so.
    pub(super) slow: bool,
}

/// The process variables of the tests.
pub(super) struct Memory {
    pub(super) pvs: Vec<Pv>,
    pub(super) changes: VecDeque<Change>,
    pub(super) completions: VecDeque<(u32, Result<(), PvError>)>,
    pub(super) notices: VecDeque<Notice>,
    pub(super) watched: Vec<(u32, bool)>,
    pub(super) acknowledged: Vec<Acknowledge>,
    pub(super) tokens: u32,
    /// User and host of the last put.
    pub(super) writer: (Vec<u8>, Vec<u8>),
}

const STATES: &[&[u8]] = &[b"Zero", b"One", b"Two"];
pub(super) const STAMP: Stamp = Stamp { seconds: 1000, nanoseconds: 5 };

/// A second view of a process variable, as fields and long strings are: its name and `$`.
const LONG_STRING: u8 = 1;

impl Memory {
    pub(super) fn new() -> Self {
        let mut memory = Memory {
            pvs: Vec::new(),
            changes: VecDeque::new(),
            completions: VecDeque::new(),
            notices: VecDeque::new(),
            watched: Vec::new(),
            acknowledged: Vec::new(),
            tokens: 0,
            writer: Default::default(),
        };
        memory.add("ival", Values::Long(std::vec![42]), 1);
        memory.add("aval", Values::Short(Vec::new()), 5);
        memory.add("dval", Values::Double(std::vec![1.5]), 1);
        memory.add("sval", Values::Text(std::vec!["hello".into()]), 1);
        memory.add("eval", Values::Enum(std::vec![1]), 1);
        memory.add("cval", Values::Char(Vec::new()), 100);
        memory.add("big", Values::Double(std::vec![0.25; 10_000]), 10_000);
        memory.add("huge", Values::Char(std::vec![7; 100_000]), 100_000);
        memory.add("texts", Values::Text(std::vec!["a".into(), "b".into()]), 4);
        memory.pv("eval").metadata.states = States(STATES);
        memory
    }

    fn add(&mut self, name: &'static str, values: Values, max_count: u32) {
        self.pvs.push(Pv {
            name,
            values,
            max_count,
            access: Access { read: true, write: true, logged: false },
            alarm: Alarm::NONE,
            metadata: Metadata::NONE,
            slow: false,
        });
    }

    pub(super) fn id(&self, name: &str) -> PvId {
        PvId { index: self.pvs.iter().position(|p| p.name == name).unwrap() as u32, view: 0 }
    }

    pub(super) fn pv(&mut self, name: &str) -> &mut Pv {
        let index = self.id(name).index as usize;
        &mut self.pvs[index]
    }

    /// Sets a value as the application would.
    pub(super) fn set(&mut self, name: &str, values: Values) {
        self.pv(name).values = values;
        let pv = self.id(name);
        self.changes.push_back(Change { pv, mask: EventMask::VALUE.union(EventMask::LOG) });
    }
}

fn put_into<T: crate::value::convert::Element + Copy>(
    values: &mut Vec<T>,
    zero: T,
    max: u32,
    put: &WireElements<'_>,
    metadata: &Metadata<'_>,
) -> Result<(), PvError> {
    if put.count == 0 {
        if max > 1 {
            values.clear();
        }
        return Ok(());
    }
    let mut new = std::vec![zero; max as usize];
    let n = decode(put, metadata, &mut new).map_err(|_| PvError::Conversion)?;
    new.truncate(n);
    *values = new;
    Ok(())
}

impl Provider for Memory {
    fn capacity(&self) -> u32 {
        self.pvs.len() as u32
    }

    fn find(&self, name: &[u8]) -> Option<PvId> {
        let (base, view) = match name.strip_suffix(b"$") {
            Some(base) => (base, LONG_STRING),
            None => (name, 0),
        };
        let index = self.pvs.iter().position(|p| p.name.as_bytes() == base)? as u32;
        Some(PvId { index, view })
    }

    fn info(&self, pv: PvId) -> ChannelInfo {
        if pv.view == LONG_STRING {
            return ChannelInfo { native: NativeType::Char, max_count: 40 };
        }
        let p = &self.pvs[pv.index as usize];
        ChannelInfo { native: p.values.elements().native_type(), max_count: p.max_count }
    }

    fn class_name(&self, _pv: PvId) -> &str {
        "memory"
    }

    fn access(&self, pv: PvId, _client: &Client<'_>) -> Access {
        self.pvs[pv.index as usize].access
    }

    fn read<R>(&mut self, pv: PvId, visit: impl FnOnce(&Reading<'_>) -> R) -> Result<R, PvError> {
        let p = &self.pvs[pv.index as usize];
        let mut reading =
            Reading { elements: p.values.elements(), alarm: p.alarm, stamp: STAMP, metadata: &p.metadata };
        if let (LONG_STRING, Values::Text(texts)) = (pv.view, &p.values) {
            reading.elements = Elements::Char(texts[0].as_bytes());
        }
        Ok(visit(&reading))
    }

    fn put(
        &mut self,
        pv: PvId,
        put: &WireElements<'_>,
        client: &Client<'_>,
        completion: bool,
    ) -> Result<PutOutcome, PvError> {
        self.writer = (client.user.to_vec(), client.host.to_vec());
        let p = &mut self.pvs[pv.index as usize];
        let (max, metadata) = (p.max_count, &p.metadata);
        match &mut p.values {
            Values::Text(v) => put_into(v, Text::EMPTY, max, put, metadata),
            Values::Short(v) => put_into(v, 0, max, put, metadata),
            Values::Enum(v) => {
                let mut states = std::vec![0u16; 1];
                decode(put, metadata, &mut states).map_err(|_| PvError::Conversion)?;
                *v = states;
                Ok(())
            }
            Values::Char(v) => put_into(v, 0, max, put, metadata),
            Values::Long(v) => put_into(v, 0, max, put, metadata),
            Values::Double(v) => put_into(v, 0.0, max, put, metadata),
        }?;
        self.changes.push_back(Change { pv, mask: EventMask::VALUE.union(EventMask::LOG) });
        if completion && p.slow {
            self.tokens += 1;
            return Ok(PutOutcome::Later(self.tokens));
        }
        Ok(PutOutcome::Done)
    }

    fn next_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    fn next_completion(&mut self) -> Option<(u32, Result<(), PvError>)> {
        self.completions.pop_front()
    }

    fn watched(&mut self, pv: PvId, watched: bool) {
        self.watched.push((pv.index, watched));
    }

    fn acknowledge(&mut self, _pv: PvId, what: Acknowledge, _client: &Client<'_>) -> Result<(), PvError> {
        self.acknowledged.push(what);
        Ok(())
    }

    fn next_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    fn write_name(&self, pv: PvId, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
        out.write_str(self.pvs[pv.index as usize].name)
    }
}

/// A message from the server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    pub(super) header: Header,
    pub(super) payload: Vec<u8>,
}

/// Cuts bytes from the server into messages; panics if they are not whole ones.
pub(super) fn messages(mut bytes: &[u8]) -> Vec<Message> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (header, size) = Header::parse(bytes, true).expect("a whole header");
        assert_eq!(header.payload % 8, 0, "libca closes on such a payload");
        let end = size + header.payload as usize;
        let payload = bytes[size..end].to_vec();
        let mut header = header;
        header.payload = payload.len() as u32;
        found.push(Message { header, payload });
        bytes = &bytes[end..];
    }
    found
}

/// A request with its payload padded.
pub(super) fn request(header: Header, payload: &[u8]) -> Vec<u8> {
    let header = header.with_payload(padded(payload.len()) as u32);
    let mut bytes = std::vec![0; header.wire_size()];
    header.emit(&mut bytes);
    bytes.extend_from_slice(payload);
    bytes.resize(header.wire_size() + padded(payload.len()), 0);
    bytes
}

pub(super) const PEER: Peer = Peer { address: 0x7f00_0001, port: 40_000 };
pub(super) const RSRV: Config = Config::DEFAULT;

/// A server with one client, whose reading the test can stop.
pub(super) struct Conversation {
    pub(super) server: Server<Memory>,
    pub(super) circuit: CircuitId,
    pub(super) now: u64,
    /// What the client has received and not looked at.
    pub(super) received: Vec<u8>,
    /// The client takes what is sent.
    pub(super) reads: bool,
}

impl Conversation {
    /// Connects; the server's VERSION is taken.
    pub(super) fn new() -> Self {
        Self::with(RSRV)
    }

    pub(super) fn with(config: Config) -> Self {
        let mut server = Server::new(config, Memory::new());
        let circuit = server.accept(PEER, &AdmitAll, 0).unwrap();
        let mut conversation = Conversation { server, circuit, now: 0, received: Vec::new(), reads: true };
        conversation.settle();
        assert_eq!(
            conversation.take(),
            [Message { header: Header::new(0).typed(0, 13), payload: std::vec![] }]
        );
        conversation
    }

    /// Moves bytes until nothing moves any more.
    pub(super) fn settle(&mut self) {
        loop {
            let more = self.server.poll_changes(&AdmitAll, self.now);
            if self.reads {
                let output = self.server.output(self.circuit).to_vec();
                self.received.extend_from_slice(&output);
                self.server.sent(self.circuit, output.len(), self.now);
            }
            if self.server.state(self.circuit).has_work {
                self.server.resume(self.circuit, &AdmitAll, self.now);
            } else if !more && (!self.reads || self.server.output(self.circuit).is_empty()) {
                return;
            }
        }
    }

    /// Sends bytes in pieces of at most `piece`; returns how many the server took.
    pub(super) fn send_in(&mut self, bytes: &[u8], piece: usize) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            let room = self.server.receive_buffer(self.circuit);
            let n = room.len().min(piece).min(bytes.len() - at);
            if n == 0 {
                break;
            }
            room[..n].copy_from_slice(&bytes[at..at + n]);
            self.server.received(self.circuit, n, &AdmitAll, self.now);
            at += n;
            self.settle();
        }
        at
    }

    pub(super) fn send(&mut self, header: Header, payload: &[u8]) {
        let bytes = request(header, payload);
        assert_eq!(self.send_in(&bytes, usize::MAX), bytes.len());
    }

    /// What has come since the last call.
    pub(super) fn take(&mut self) -> Vec<Message> {
        messages(&std::mem::take(&mut self.received))
    }

    /// Sends one request and returns the replies.
    pub(super) fn ask(&mut self, header: Header, payload: &[u8]) -> Vec<Message> {
        self.send(header, payload);
        self.take()
    }

    /// The single reply to one request.
    #[track_caller]
    pub(super) fn ask_one(&mut self, header: Header, payload: &[u8]) -> Message {
        let replies = self.ask(header, payload);
        assert_eq!(replies.len(), 1, "{replies:?}");
        replies[0].clone()
    }

    /// Says which version the client speaks.
    pub(super) fn version(&mut self, minor: u32) {
        assert_eq!(self.ask(Header::new(command::VERSION).typed(0, minor), &[]), []);
    }

    /// Creates a channel as a client of the newest version; returns its server id.
    pub(super) fn create(&mut self, name: &str, cid: u32) -> u32 {
        self.create_as(name, cid, 13)
    }

    #[track_caller]
    pub(super) fn create_as(&mut self, name: &str, cid: u32, minor: u32) -> u32 {
        let mut text = name.as_bytes().to_vec();
        text.push(0);
        let replies = self.ask(Header::new(command::CREATE_CHAN).ids(cid, minor), &text);
        assert_eq!(replies.len(), 2, "{replies:?}");
        assert_eq!(replies[0].header.command, command::ACCESS_RIGHTS);
        assert_eq!(replies[1].header.command, command::CREATE_CHAN);
        assert_eq!((replies[0].header.p1, replies[1].header.p1), (cid, cid));
        replies[1].header.p2
    }

    #[track_caller]
    pub(super) fn read(&mut self, sid: u32, data_type: u16, count: u32) -> Message {
        self.ask_one(Header::new(command::READ_NOTIFY).typed(data_type, count).ids(sid, 77), &[])
    }

    /// Subscribes; returns what comes of it.
    pub(super) fn subscribe(
        &mut self,
        sid: u32,
        data_type: u16,
        count: u32,
        id: u32,
        mask: u8,
    ) -> Vec<Message> {
        let mut payload = [0; 16];
        payload[13] = mask;
        self.ask(Header::new(command::EVENT_ADD).typed(data_type, count).ids(sid, id), &payload)
    }

    pub(super) fn memory(&mut self) -> &mut Memory {
        self.server.provider_mut()
    }

    /// Bytes of heap of the circuit's input buffer.
    pub(super) fn input_capacity(&self) -> usize {
        self.server.circuits.get(self.circuit).unwrap().input.capacity()
    }

    pub(super) fn is_closing(&self) -> bool {
        self.server.state(self.circuit).closing
    }
}

/// The quoted header and the text of an ERROR.
pub(super) fn quoted(error: &Message) -> (Header, String) {
    assert_eq!(error.header.command, command::ERROR, "{error:?}");
    let (header, size) = Header::parse(&error.payload, true).unwrap();
    let text = &error.payload[size..];
    let end = text.iter().position(|&b| b == 0).expect("a terminated text");
    (header, std::str::from_utf8(&text[..end]).unwrap().into())
}
