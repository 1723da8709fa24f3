// SPDX-License-Identifier: BSD-2-Clause
//! Whole runs against a server played in memory: one DOUBLE per name, values kept.

use super::*;
use crate::ca::wire::{Header, command, padded};
use crate::os::Interest;
use crate::os::socket::{Address, Descriptor, Shutdown, SocketError, Stream};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use std::sync::{Arc, Mutex};

/// What the played server has seen, and how it misbehaves.
#[derive(Default)]
struct Server {
    seen: Vec<u8>,
    answer: VecDeque<u8>,
    commands: BTreeMap<u16, u32>,
    elements: u32,
    last_put: Vec<u8>,
    /// Status of every read.
    read_status: u32,
    /// Bytes that one send or recv carries at most: messages arrive in pieces.
    piece: usize,
    /// Waits until the connection stands.
    connecting: u32,
}

impl Server {
    fn message(&mut self, header: Header, payload: &[u8]) {
        let header = header.with_payload(padded(payload.len()) as u32);
        let mut bytes = vec![0; header.wire_size() + padded(payload.len())];
        header.emit(&mut bytes);
        let start = header.wire_size();
        bytes[start..start + payload.len()].copy_from_slice(payload);
        self.answer.extend(bytes);
    }

    fn serve(&mut self) {
        let seen = core::mem::take(&mut self.seen);
        let mut rest = &seen[..];
        while let Ok((header, size)) = Header::parse(rest, true) {
            let Some(payload) = rest.get(size..size + header.payload as usize) else { break };
            *self.commands.entry(header.command).or_default() += 1;
            match header.command {
                command::CREATE_CHAN => {
                    self.message(Header::new(command::ACCESS_RIGHTS).ids(header.p1, 3), &[]);
                    let reply = Header::new(command::CREATE_CHAN).typed(6, self.elements);
                    self.message(reply.ids(header.p1, header.p1 + 1000), &[]);
                }
                command::WRITE => {
                    assert_eq!(header.p1, header.p2 + 1000, "sid and cid of one channel");
                    self.last_put = payload.to_vec();
                }
                command::READ_NOTIFY => {
                    let width = [40, 2, 4, 0, 0, 0, 8][usize::from(header.data_type)];
                    let reply = Header::new(command::READ_NOTIFY).typed(header.data_type, header.count);
                    self.message(
                        reply.ids(self.read_status, header.p2),
                        &vec![0; width * header.count as usize],
                    );
                }
                command::CLEAR_CHANNEL => self.message(header, &[]),
                _ => {}
            }
            rest = &rest[size + payload.len()..];
        }
        self.seen = rest.to_vec();
    }
}

#[derive(Clone)]
struct Pipe(Arc<Mutex<Server>>);

impl Stream for Pipe {
    fn descriptor(&self) -> Descriptor {
        3
    }
    fn recv(&mut self, buffer: &mut [u8]) -> Result<usize, SocketError> {
        let mut server = self.0.lock().unwrap();
        if server.connecting > 0 {
            return Err(SocketError::NotConnected);
        }
        let bytes = server.answer.len().min(buffer.len()).min(server.piece);
        if bytes == 0 {
            return Err(SocketError::WouldBlock);
        }
        for (to, from) in buffer.iter_mut().zip(server.answer.drain(..bytes)) {
            *to = from;
        }
        Ok(bytes)
    }
    fn send(&mut self, bytes: &[u8]) -> Result<usize, SocketError> {
        let mut server = self.0.lock().unwrap();
        if server.connecting > 0 {
            return Err(SocketError::NotConnected);
        }
        // A full pipe: the server answers nothing more before somebody reads.
        if server.answer.len() > 20_000 {
            return Err(SocketError::WouldBlock);
        }
        let bytes = &bytes[..bytes.len().min(server.piece)];
        server.seen.extend_from_slice(bytes);
        server.serve();
        Ok(bytes.len())
    }
    fn shutdown(&mut self, _: Shutdown) {}
    fn set_no_delay(&mut self, _: bool) -> Result<(), SocketError> {
        Ok(())
    }
    fn set_keep_alive(&mut self, _: bool) -> Result<(), SocketError> {
        Ok(())
    }
    fn error(&mut self) -> Result<(), SocketError> {
        Ok(())
    }
}

/// A network whose clock goes on by 1 us a look, and by the whole timeout when nothing comes.
struct Played {
    server: Arc<Mutex<Server>>,
    ns: Rc<core::cell::Cell<u64>>,
    replies: VecDeque<Vec<u8>>,
    lose_every: usize,
    searches: usize,
}

impl Network for Played {
    type Stream = Pipe;
    const TELLS_STATE: bool = true;
    fn now_ns(&self) -> u64 {
        self.ns.set(self.ns.get() + 1000);
        self.ns.get()
    }
    fn connect(&mut self, to: Address) -> Result<Pipe, SocketError> {
        assert_eq!(to, Address::new(Address::LOOPBACK, 5064));
        Ok(Pipe(self.server.clone()))
    }
    fn search(&mut self, datagram: &[u8]) -> Result<(), SocketError> {
        self.searches += 1;
        if self.lose_every > 0 && self.searches.is_multiple_of(self.lose_every) {
            return Ok(());
        }
        let (version, _) = Header::parse(datagram, false).unwrap();
        let mut reply = vec![0; 16];
        version.emit(&mut reply);
        let mut rest = &datagram[16..];
        while let Ok((header, size)) = Header::parse(rest, false) {
            let answer = Header::new(command::SEARCH).typed(5064, 0).ids(u32::MAX, header.p2).with_payload(8);
            let start = reply.len();
            reply.resize(start + 24, 0);
            answer.emit(&mut reply[start..]);
            rest = &rest[size + header.payload as usize..];
        }
        self.replies.push_back(reply);
        Ok(())
    }
    fn reply(&mut self, buffer: &mut [u8]) -> Result<(usize, Address), SocketError> {
        let reply = self.replies.pop_front().ok_or(SocketError::WouldBlock)?;
        buffer[..reply.len()].copy_from_slice(&reply);
        Ok((reply.len(), Address::new(Address::LOOPBACK, 5064)))
    }
    fn wait(&mut self, _: &[(Descriptor, Interest)], timeout_ms: Option<u64>) -> Result<(), SocketError> {
        let mut server = self.server.lock().unwrap();
        if server.connecting > 0 {
            server.connecting -= 1;
            return Ok(());
        }
        let idle = server.answer.is_empty() && self.replies.is_empty();
        if idle {
            let ms = timeout_ms.expect("nothing would ever come");
            self.ns.set(self.ns.get() + ms * 1_000_000);
        }
        Ok(())
    }
    fn identity(&self) -> (&str, &str) {
        ("someone", "somewhere")
    }
}

fn played(elements: u32) -> Played {
    let server = Server { elements, read_status: 1, piece: 777, ..Server::default() };
    Played {
        server: Arc::new(Mutex::new(server)),
        ns: Rc::default(),
        replies: VecDeque::new(),
        lose_every: 0,
        searches: 0,
    }
}

fn text_of(network: Played, words: &[&str]) -> (Result<Outcome, Abort>, String) {
    let mut text = String::new();
    let arguments = Arguments::parse(words).unwrap();
    let mut report = TextReport(&mut text);
    let outcome = run(network, &arguments, Some(10_000_000_000), &mut |event| report.event(event));
    (outcome, text)
}

#[test]
fn prints_what_the_original_prints() {
    let network = played(1);
    let server = network.server.clone();
    let (outcome, text) = text_of(network, &["jba", "1000", "1"]);
    assert_eq!(outcome, Ok(Outcome { errors: 0 }));
    let numberless: String = text.chars().filter(|c| !c.is_ascii_digit() && *c != ' ').collect();
    let transfer = "\t###asyncputtest###\nPerOp,.uS(.MHz),.sndMbps,.rcvMbps\n\
                    \t###asyncgettest###\nPerOp,.uS(.MHz),.sndMbps,.rcvMbps\n\
                    \t###synchgettest###\nPerOp,.uS(.MHz),.sndMbps,.rcvMbps\n";
    let typed = |name: &str, dashes: usize| alloc::format!("{name}Test\n{}\n{transfer}", "-".repeat(dashes));
    let expected = String::from("Testingwithchannelsnamedjbannn\nChannelConnectTest\n--------------------\n")
        + "PerOp,.uS(.MHz),.sndMbps,.rcvMbps\nSearchtriesperchan-mean=.stddev=.min=.max=.\n"
        + "channelname=jba,nativetype=,nativecount=\nPendEventTest\n----------------\nPerOp,.uS(.MHz)\n"
        + &typed("DBR_FLOAT", 14)
        + &typed("DBR_DOUBLE", 15)
        + &typed("DBR_STRING", 15)
        + &typed("DBR_INT", 12)
        + "GetLatencyTest\n----------------\nGetLatency-mean=.uS,stddev=.uS,min=.uSmax=.uS\n"
        + "FreeChannelTest\n-----------------\nPerOp,.uS(.MHz),.sndMbps,.rcvMbps\n";
    assert_eq!(numberless, expected);
    assert!(text.contains("channel name=jba000000, native type=6, native count=1\n"));
    assert!(text.contains("Search tries per chan - mean = 1.0 std dev = 0.0 min = 1.0 max = 1.0\n"));

    // The original's numbers of messages for 1000 scalars.
    let commands = server.lock().unwrap().commands.clone();
    assert_eq!(commands[&command::CREATE_CHAN], 1000);
    assert_eq!(commands[&command::WRITE], 3 * 10_001 + 2_001);
    assert_eq!(commands[&command::READ_NOTIFY], 3 * (1 + 10_000 + 10) + (1 + 2_000 + 2) + 1000);
    assert_eq!(commands[&command::CLEAR_CHANNEL], 1000);
}

#[test]
fn arrays_take_all_elements_and_fewer_rounds() {
    let network = played(1000);
    let server = network.server.clone();
    let (outcome, text) = text_of(network, &["wf", "10"]);
    assert_eq!(outcome, Ok(Outcome { errors: 0 }));
    assert!(text.contains("channel name=wf, native type=6, native count=1000\n"));
    let server = server.lock().unwrap();
    assert_eq!(server.last_put.len(), 2000, "the last puts are of 1000 short integers");
    assert_eq!(server.commands[&command::WRITE], 4 * 101);
}

#[test]
fn a_connect_that_takes_its_time_is_waited_for() {
    let network = played(1);
    network.server.lock().unwrap().connecting = 5;
    let (outcome, _) = text_of(network, &["jba", "20"]);
    assert_eq!(outcome, Ok(Outcome { errors: 0 }));
}

#[test]
fn lost_datagrams_are_sent_again() {
    let mut network = played(1);
    network.lose_every = 3;
    let (outcome, text) = text_of(network, &["jba", "500"]);
    assert_eq!(outcome, Ok(Outcome { errors: 0 }));
    assert!(text.contains("min = 1.0 max = 2.0\n") || text.contains("min = 1.0 max = 3.0\n"), "{text}");
}

#[test]
fn errors_of_the_server_are_counted_and_shown() {
    let network = played(1);
    network.server.lock().unwrap().read_status = 0x98;
    let (outcome, text) = text_of(network, &["jba", "20"]);
    let reads = 4 * (1 + 200 + 2) + 20;
    assert_eq!(outcome, Ok(Outcome { errors: reads }));
    assert!(text.contains("the last was 0x098"), "{text}");
}

#[test]
fn nobody_there_ends_the_search_in_time() {
    let mut network = played(1);
    network.lose_every = 1;
    let (outcome, _) = text_of(network, &["jba", "20"]);
    assert_eq!(outcome, Err(Abort::Client(ClientError::TimedOut)));
}

#[test]
fn table_and_json_hold_every_row() {
    let mut table = TableReport::default();
    let arguments = Arguments::parse(&["jba", "100"]).unwrap();
    run(played(1), &arguments, None, &mut |event| {
        assert!(table.event(event));
        Ok(())
    })
    .unwrap();
    let mut text = String::new();
    table.table(&mut text).unwrap();
    assert_eq!(text.lines().count(), 2 + 2 + 12 + 1 + 1 + 1);
    assert!(text.contains("\nasync put DBR_FLOAT     "), "{text}");
    let json = alloc::format!("{}", JsonReport(&table));
    assert_eq!(json.matches("\"test\":").count(), 15);
    assert!(json.starts_with("{\"channels\":100,\"errors\":0,\"search_tries\":{\"mean\":1.000,"), "{json}");
    assert_eq!(json.matches('{').count(), json.matches('}').count());
}

#[test]
fn arguments_are_those_of_the_original() {
    let parsed = |words: &[&'static str]| Arguments::parse(words);
    assert_eq!(parsed(&["a"]), Ok(Arguments { name: "a", channels: 10_000, append: false }));
    assert_eq!(parsed(&["a", "5", "2"]), Ok(Arguments { name: "a", channels: 5, append: true }));
    assert!(!parsed(&["a", "5", "0"]).unwrap().append);
    for wrong in [&[][..], &["a", "0"], &["a", "x"], &["a", "1", "y"], &["a", "1", "1", "1"]] {
        assert!(parsed(wrong).is_err(), "{wrong:?}");
    }
}
