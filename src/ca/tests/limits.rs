// SPDX-License-Identifier: BSD-2-Clause
//! Limits, memory and time-outs: one request is refused, nobody else notices.

use super::harness::*;
use crate::ca::wire::{Header, command, status};
use crate::ca::{Admission, AdmitAll, Config, Limits, Peer, Refusal, Server};
use std::cell::Cell;
use std::vec;

/// Admits while it is told to, and counts the questions.
struct Tight {
    admits: bool,
    asked: Cell<u32>,
}

impl Admission for Tight {
    fn admits(&self, _bytes: usize) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.admits
    }
}

fn with(limits: Limits) -> Conversation {
    Conversation::with(Config { limits, ..RSRV })
}

#[test]
fn circuits_in_total_and_by_address() {
    let limits = Limits { circuits: 3, circuits_per_address: 2, ..Limits::HOSTED };
    let mut server = Server::new(Config { limits, ..RSRV }, Memory::new());
    let peer = |address, port| Peer { address, port };
    let first = server.accept(peer(1, 1), &AdmitAll, 0).unwrap();
    server.accept(peer(1, 2), &AdmitAll, 0).unwrap();
    assert_eq!(server.accept(peer(1, 3), &AdmitAll, 0), Err(Refusal::TooManyFromAddress));
    server.accept(peer(2, 1), &AdmitAll, 0).unwrap();
    assert_eq!(server.accept(peer(3, 1), &AdmitAll, 0), Err(Refusal::TooMany));
    server.close(first);
    server.accept(peer(3, 1), &AdmitAll, 0).unwrap();
    assert_eq!(server.statistics().circuits_refused, 2);
}

#[test]
fn no_memory_for_a_circuit() {
    let mut server = Server::new(RSRV, Memory::new());
    let tight = Tight { admits: false, asked: Cell::new(0) };
    assert_eq!(server.accept(PEER, &tight, 0), Err(Refusal::Memory));
    assert_eq!(tight.asked.get(), 1);
}

#[test]
fn channels_on_one_circuit_and_in_total() {
    for limits in
        [Limits { channels_per_circuit: 2, ..Limits::HOSTED }, Limits { channels: 2, ..Limits::HOSTED }]
    {
        let mut c = with(limits);
        let sid = c.create("ival", 1);
        c.create("ival", 2);
        let reply = c.ask_one(Header::new(command::CREATE_CHAN).ids(3, 13), b"ival\0");
        assert_eq!(reply.header, Header::new(command::CREATE_CH_FAIL).ids(3, 0));
        assert_eq!(c.read(sid, 5, 1).header.p1, status::NORMAL);
        c.ask(Header::new(command::CLEAR_CHANNEL).ids(sid, 1), &[]);
        c.create("ival", 3);
        assert_eq!(c.server.statistics().channels_refused, 1);
    }
}

#[test]
fn monitors_on_one_circuit_and_in_total() {
    for limits in
        [Limits { monitors_per_circuit: 1, ..Limits::HOSTED }, Limits { monitors: 1, ..Limits::HOSTED }]
    {
        let mut c = with(limits);
        let sid = c.create("ival", 4);
        assert_eq!(c.subscribe(sid, 5, 1, 1, 1).len(), 1);
        let error = c.subscribe(sid, 5, 1, 2, 1);
        assert_eq!((error[0].header.p1, error[0].header.p2), (4, status::ALLOCMEM));
        assert_eq!(c.server.statistics().monitors_refused, 1);
        assert!(!c.is_closing());
    }
}

#[test]
fn put_callbacks_in_progress() {
    let mut c = with(Limits { puts_per_circuit: 1, ..Limits::HOSTED });
    let sid = c.create("ival", 4);
    c.memory().pv("ival").slow = true;
    let put = Header::new(command::WRITE_NOTIFY).typed(5, 1);
    assert_eq!(c.ask(put.ids(sid, 1), &[0; 4]), []);
    assert_eq!(c.ask_one(put.ids(sid, 2), &[0; 4]).header, put.ids(status::PUTCBINPROG, 2));
}

#[test]
fn memory_for_channel_monitor_and_large_reply_is_asked_for() {
    let mut c = Conversation::new();
    let sid = c.create("big", 1);
    let tight = Tight { admits: false, asked: Cell::new(0) };
    let mut event = [0; 16];
    event[13] = 1;
    for (bytes, code) in [
        (request(Header::new(command::CREATE_CHAN).ids(1, 13), b"ival\0"), None),
        (request(Header::new(command::EVENT_ADD).typed(6, 1).ids(sid, 1), &event), Some(status::ALLOCMEM)),
        (
            request(Header::new(command::READ_NOTIFY).typed(6, 10_000).ids(sid, 1), &[]),
            Some(status::ALLOCMEM),
        ),
    ] {
        let n = bytes.len();
        c.server.receive_buffer(c.circuit)[..n].copy_from_slice(&bytes);
        c.server.received(c.circuit, n, &tight, 0);
        c.settle();
        let reply = c.take().remove(0).header;
        match code {
            Some(code) => assert_eq!((reply.command, reply.p2), (command::ERROR, code)),
            None => assert_eq!(reply.command, command::CREATE_CH_FAIL),
        }
    }
    assert_eq!(tight.asked.get(), 3);
    let large = request(Header::new(command::WRITE_NOTIFY).typed(6, 5000).ids(sid, 1), &vec![0; 40_000]);
    let n = c.server.receive_buffer(c.circuit).len();
    c.server.receive_buffer(c.circuit).copy_from_slice(&large[..n]);
    c.server.received(c.circuit, n, &tight, 0);
    c.send_in(&large[n..], usize::MAX);
    assert_eq!(c.take()[0].header.p2, status::ALLOCMEM);
    assert_eq!(c.read(sid, 6, 1).header.p1, status::NORMAL, "skipped, not lost count of");
}

/// What the header of a message claims, without one byte of its payload.
fn claim(c: &mut Conversation, header: Header) -> usize {
    let mut bytes = vec![0; header.wire_size()];
    header.emit(&mut bytes);
    assert_eq!(c.send_in(&bytes, usize::MAX), bytes.len());
    c.input_capacity()
}

#[test]
fn a_claimed_size_takes_no_memory() {
    let mut c = Conversation::new();
    let sid = c.create("big", 1);
    let normal = c.input_capacity();
    let claimed = 60 << 20;
    // Whatever is no value for a channel is refused at once, as is more than the channel has.
    for (header, code) in [
        (Header::new(command::ECHO), status::TOLARGE),
        (Header::new(command::CLIENT_NAME), status::TOLARGE),
        (Header::new(command::EVENT_ADD).typed(6, 1).ids(sid, 1), status::TOLARGE),
        (Header::new(command::WRITE).typed(6, 1).ids(12345, 1), status::BADCHID),
        (Header::new(command::WRITE).typed(99, 1).ids(sid, 1), status::BADTYPE),
        (Header::new(command::WRITE).typed(6, 1).ids(sid, 1), status::BADCOUNT),
    ] {
        let mut c = Conversation::new();
        c.create("big", 1);
        assert_eq!(claim(&mut c, header.with_payload(claimed)), normal, "{header:?}");
        let reply = c.take().remove(0).header;
        assert_eq!((reply.command, reply.p2), (command::ERROR, code), "{header:?}");
    }
    // What the channel has room for is received; memory is taken when the buffer is full.
    let header = Header::new(command::WRITE_NOTIFY).typed(6, 10_000).ids(sid, 9).with_payload(80_000);
    assert_eq!(claim(&mut c, header), normal);
    let rest = normal - header.wire_size();
    assert_eq!(c.send_in(&vec![0; rest - 1], usize::MAX), rest - 1);
    assert_eq!(c.input_capacity(), normal);
    assert_eq!(c.send_in(&vec![0; 80_000 - rest + 1], usize::MAX), 80_000 - rest + 1);
    assert_eq!(c.take()[0].header.p1, status::NORMAL);
}

#[test]
fn a_large_message_that_does_not_end_is_given_up() {
    let mut c = with(Limits { stuck_ms: 30_000, ..Limits::HOSTED });
    let sid = c.create("big", 1);
    claim(&mut c, Header::new(command::WRITE).typed(6, 10_000).ids(sid, 9).with_payload(80_000));
    c.send_in(&vec![0; 40_000], usize::MAX);
    c.server.tick(29_999);
    assert!(!c.is_closing());
    c.server.tick(36_000);
    assert!(c.is_closing());
}

#[test]
fn a_scalar_does_not_make_a_reply_of_megabytes() {
    let mut c = Conversation::new();
    let sid = c.create("dval", 1);
    // Some zeros more, as from EPICS's own server.
    let reply = c.read(sid, 6, 3);
    assert_eq!((reply.header.p1, reply.header.count, reply.payload.len()), (status::NORMAL, 3, 24));
    for count in [100_000, 7_000_000] {
        let reply = c.read(sid, 6, count);
        assert_eq!((reply.header.p1, reply.payload.len()), (status::BADCOUNT, 0));
        let error = c.subscribe(sid, 6, count, 1, 1);
        assert_eq!((error[0].header.command, error[0].header.p2), (command::ERROR, status::BADCOUNT));
    }
}

#[test]
fn no_search_is_answered_whose_client_would_be_refused() {
    let limits = Limits { circuits: 3, circuits_per_address: 2, ..Limits::HOSTED };
    let mut server = Server::new(Config { limits, ..RSRV }, Memory::new());
    let peer = |address, port| Peer { address, port };
    let search = request(Header::new(command::SEARCH).typed(5, 13).ids(1, 1), b"ival\0");
    let answered = |server: &mut Server<Memory>, address| {
        let mut packets = 0;
        server.datagram(peer(address, 9), &search, &AdmitAll, 0, |_, _| packets += 1);
        packets == 1
    };
    server.accept(peer(1, 1), &AdmitAll, 0).unwrap();
    assert!(answered(&mut server, 1) && answered(&mut server, 2));
    server.accept(peer(1, 2), &AdmitAll, 0).unwrap();
    assert!(!answered(&mut server, 1) && answered(&mut server, 2), "as many as one address may have");
    let third = server.accept(peer(2, 1), &AdmitAll, 0).unwrap();
    assert!(answered(&mut server, 2) && !answered(&mut server, 3), "2 has a circuit that it may use");
    server.close(third);
    assert!(answered(&mut server, 3));
}

#[test]
fn a_search_over_a_circuit_is_admitted_as_one_by_datagram_is() {
    let mut c = with(Limits { searches_per_second: 2, ..Limits::HOSTED });
    let search = Header::new(command::SEARCH).typed(10, 13).ids(1, 1);
    assert_eq!(c.ask(search, b"ival\0").len(), 1);
    c.server.pause(true);
    assert_eq!(c.ask(search, b"ival\0"), []);
    c.server.pause(false);
    assert_eq!(c.ask(search, b"ival\0").len(), 1);
    assert_eq!(c.ask(search, b"ival\0"), [], "the third in this second");
    let mut c = Conversation::new();
    let tight = Tight { admits: false, asked: Cell::new(0) };
    let bytes = request(search, b"ival\0");
    c.server.receive_buffer(c.circuit)[..bytes.len()].copy_from_slice(&bytes);
    c.server.received(c.circuit, bytes.len(), &tight, 0);
    c.settle();
    assert_eq!((c.take(), tight.asked.get()), (vec![], 1));
    assert_eq!(c.server.statistics().searches_refused, 1);
}

#[test]
fn a_search_asks_once_for_a_name_that_is_served_and_never_else() {
    let mut server = Server::new(RSRV, Memory::new());
    let tight = Tight { admits: false, asked: Cell::new(0) };
    let mut bytes = request(Header::new(command::VERSION).typed(1, 13), &[]);
    bytes.extend(request(Header::new(command::SEARCH).typed(5, 13).ids(1, 1), b"ival\0"));
    bytes.extend(request(Header::new(command::SEARCH).typed(5, 13).ids(2, 2), b"nobody\0"));
    server.datagram(PEER, &bytes, &tight, 0, |_, _| panic!("no reply without memory"));
    assert_eq!(tight.asked.get(), 1);
    assert_eq!(server.statistics().searches_refused, 1);
}

#[test]
fn a_client_that_takes_nothing_is_dropped_in_the_end() {
    let mut c = with(Limits { stuck_ms: 30_000, ..Limits::HOSTED });
    c.reads = false;
    c.send(Header::new(command::ECHO), &[]);
    c.server.tick(6_000);
    assert!(!c.is_closing());
    c.server.tick(35_000);
    let state = c.server.state(c.circuit);
    assert!(state.closing && !state.wants_write);
    assert_eq!(c.server.statistics().stuck_closed, 1);
    while c.server.next_ready().is_some_and(|id| id != c.circuit) {}
}

#[test]
fn a_silent_client_is_dropped_only_where_that_is_wanted() {
    let mut c = Conversation::new();
    c.server.tick(10_000_000);
    assert!(!c.is_closing());
    let mut c = with(Limits { idle_ms: 60_000, ..Limits::HOSTED });
    c.server.tick(59_999);
    assert!(!c.is_closing());
    c.server.tick(65_000);
    assert!(c.is_closing());
    assert_eq!(c.server.statistics().idle_closed, 1);
}

#[test]
fn deadlines_are_those_of_beacons_and_time_outs() {
    let mut server = Server::new(RSRV, Memory::new());
    assert_eq!(server.next_deadline(), Some(0));
    assert!(server.beacon(0).is_some() && server.beacon(0).is_none());
    assert_eq!(server.next_deadline(), Some(20));
    server.pause(true);
    assert_eq!(server.next_deadline(), None);
    assert!(server.beacon(100).is_none());
    server.pause(false);
    assert!(server.beacon(100).is_some());
}

#[test]
fn a_put_callback_that_never_ends_does_not_keep_the_circuit_of_a_client_that_is_gone() {
    let mut c = with(Limits { stuck_ms: 30_000, ..Limits::HOSTED });
    let sid = c.create("ival", 1);
    c.memory().pv("ival").slow = true;
    c.send(Header::new(command::WRITE_NOTIFY).typed(5, 1).ids(sid, 1), &[0; 4]);
    c.server.peer_closed(c.circuit, &AdmitAll, 0);
    c.server.tick(29_999);
    assert!(!c.is_closing());
    c.server.tick(36_000);
    assert!(c.is_closing());
    c.server.close(c.circuit);
    assert_eq!(c.server.statistics().puts_in_progress, 0);
}

#[test]
fn a_buffer_that_is_set_too_small_still_holds_every_reply() {
    let mut c = with(Limits { buffer_bytes: 1, ..Limits::HOSTED });
    let sid = c.create("eval", 1);
    for data_type in 0..35 {
        assert_eq!(c.read(sid, data_type, 1).header.p1, status::NORMAL);
    }
}
