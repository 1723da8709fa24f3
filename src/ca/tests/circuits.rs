// SPDX-License-Identifier: BSD-2-Clause
//! The life of a circuit: version, echo, damage, back-pressure, end.

use super::harness::*;
use crate::ca::wire::{Header, command, status};
use crate::ca::{AdmitAll, Config, Limits, ReportPosition, Server};
use std::{vec, vec::Vec};

#[test]
fn version_is_sent_at_once_byte_by_byte() {
    let mut server = Server::new(RSRV, Memory::new());
    let id = server.accept(PEER, &AdmitAll, 0).unwrap();
    assert_eq!(server.output(id), [0, 0, 0, 0, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(server.next_ready(), Some(id));
    assert!(!server.has_ready());
}

#[test]
fn echo_and_read_sync_come_back_as_they_are() {
    let mut c = Conversation::new();
    for code in [command::ECHO, command::READ_SYNC] {
        let header = Header::new(code).typed(12, 23).ids(5678, 9_101_112);
        assert_eq!(c.ask_one(header, &[]).header, header);
        let reply = c.ask_one(header, b"payload!");
        assert_eq!((reply.header.payload, &reply.payload[..]), (8, &b"payload!"[..]));
    }
    // As large as the buffer of a circuit.
    let large = vec![9; (Limits::HOSTED.buffer_bytes as usize) - Header::STANDARD];
    assert!(c.ask_one(Header::new(command::ECHO), &large).payload == large);
}

#[test]
fn before_version_a_client_is_served_all_the_same() {
    let mut c = Conversation::new();
    assert_eq!(c.ask(Header::new(command::ECHO), &[]).len(), 1);
    let sid = c.create("ival", 1);
    assert_eq!(c.read(sid, 5, 1).payload[..4], [0, 0, 0, 42]);
}

#[test]
fn version_sets_the_priority_once_and_may_come_again() {
    let mut c = Conversation::new();
    assert_eq!(c.ask(Header::new(command::VERSION).typed(99, 13), &[]), []);
    assert_eq!(c.ask(Header::new(command::VERSION).typed(1, 13).ids(7, 0), &[]), []);
    let mut c = Conversation::new();
    c.send(Header::new(command::VERSION).typed(100, 13), &[]);
    assert!(c.is_closing());
}

#[test]
fn circuits_of_higher_priority_are_served_first() {
    let mut c = Conversation::new();
    let low = c.circuit;
    c.send(Header::new(command::VERSION).typed(0, 13), &[]);
    let high = c.server.accept(PEER, &AdmitAll, 0).unwrap();
    c.circuit = high;
    c.send(Header::new(command::VERSION).typed(99, 13), &[]);
    while c.server.next_ready().is_some() {}
    let echo = request(Header::new(command::ECHO), &[]);
    for id in [low, high] {
        c.server.receive_buffer(id)[..16].copy_from_slice(&echo);
        c.server.received(id, 16, &AdmitAll, 0);
    }
    assert_eq!(
        [c.server.next_ready(), c.server.next_ready(), c.server.next_ready()],
        [Some(high), Some(low), None]
    );
}

#[test]
fn commands_that_no_client_sends_end_the_circuit_after_an_error() {
    for code in (0..=40).chain([0x4745, 0x1603, 0xffff]) {
        if matches!(code, 0..=4 | 6 | 8..=10 | 12 | 15 | 18..=21 | 23) {
            continue;
        }
        let mut c = Conversation::new();
        let error = c.ask_one(Header::new(code), &[]);
        assert_eq!((error.header.p1, error.header.p2), (u32::MAX, status::INTERNAL));
        assert_eq!(quoted(&error), (Header::new(code), "invalid (damaged?) request code from TCP".into()));
        assert!(c.is_closing());
        assert!(c.server.receive_buffer(c.circuit).is_empty());
    }
}

#[test]
fn web_clients_port_scanners_and_noise_are_shown_the_door() {
    let http = b"GET / HTTP/1.1\r\nHost: ioc\r\n\r\n";
    let tls = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 1, 2, 3, 4, 5, 6, 7, 8];
    let noise: Vec<u8> = (0..65_536u32).map(|n| (n * 31 + 7) as u8).collect();
    for bytes in [&http[..], &tls, &noise] {
        let mut c = Conversation::new();
        c.send_in(bytes, 1000);
        assert!(c.is_closing());
        assert_eq!(c.take().len(), 1);
        assert_eq!(c.server.statistics().damaged, 1);
    }
}

#[test]
fn a_payload_that_is_no_multiple_of_eight_ends_the_circuit() {
    let mut c = Conversation::new();
    let mut bytes = request(Header::new(command::ECHO), &[]);
    bytes[3] = 5;
    c.send_in(&bytes, 16);
    let replies = c.take();
    assert_eq!(quoted(&replies[0]).1, "CAS: Missaligned protocol rejected");
    assert!(c.is_closing());
}

#[test]
fn a_claimed_size_beyond_the_limit_is_refused_and_skipped_without_being_stored() {
    let limits = Limits { max_array_bytes: 1000, ..Limits::HOSTED };
    let mut c = Conversation::with(Config { limits, ..RSRV });
    let sid = c.create("big", 3);
    let payload = vec![0; 50_000];
    let header = Header::new(command::WRITE_NOTIFY).typed(6, 6250).ids(sid, 8);
    let error = c.ask_one(header, &payload);
    assert_eq!((error.header.p1, error.header.p2), (3, status::TOLARGE));
    assert_eq!(quoted(&error).0, header.with_payload(50_000));
    assert_eq!(c.read(sid, 6, 1).header.p1, status::NORMAL, "the circuit goes on");
    let error = c.ask_one(Header::new(command::READ_NOTIFY).typed(6, 126).ids(sid, 8), &[]);
    assert_eq!(error.header.p2, status::TOLARGE);
    let claim = Header::new(command::WRITE).typed(6, 1).ids(sid, 8).with_payload(0xffff_fff8);
    let mut raw = vec![0; 24];
    claim.emit(&mut raw);
    c.send_in(&raw, usize::MAX);
    assert_eq!(c.take()[0].header.p2, status::TOLARGE);
    assert!(!c.is_closing());
}

#[test]
fn a_message_larger_than_the_buffer_is_taken_whole() {
    let mut c = Conversation::new();
    let sid = c.create("big", 3);
    let values: Vec<u8> = (0..10_000u32).flat_map(|n| f64::from(n).to_be_bytes()).collect();
    let reply = c.ask_one(Header::new(command::WRITE_NOTIFY).typed(6, 10_000).ids(sid, 8), &values);
    assert_eq!(reply.header.p1, status::NORMAL);
    assert_eq!(c.read(sid, 6, 10_000).payload, values);
}

#[test]
fn a_client_that_does_not_read_is_not_read_either_and_loses_nothing() {
    let mut c = Conversation::new();
    let sid = c.create("dval", 1);
    c.reads = false;
    let requests: Vec<u8> = (0..50_000)
        .flat_map(|n| request(Header::new(command::READ_NOTIFY).typed(6, 1).ids(sid, n), &[]))
        .collect();
    let taken = c.send_in(&requests, usize::MAX);
    assert!(taken < 40_000, "no more than both buffers hold: {taken}");
    assert!(c.server.output(c.circuit).len() <= 16 << 10);
    assert!(!c.server.state(c.circuit).wants_read);
    assert!(c.server.statistics().stalls > 0);
    c.reads = true;
    c.settle();
    let mut sent = taken;
    while sent < requests.len() {
        sent += c.send_in(&requests[sent..], usize::MAX);
    }
    let replies = c.take();
    assert_eq!(replies.len(), 50_000);
    assert!(replies.iter().zip(0..).all(|(reply, n)| reply.header.p2 == n));
}

#[test]
fn one_turn_moves_no_more_than_its_budget() {
    let limits = Limits { turn_bytes: 64, ..Limits::HOSTED };
    let mut c = Conversation::with(Config { limits, ..RSRV });
    let echoes: Vec<u8> = (0..10).flat_map(|n| request(Header::new(command::ECHO).ids(n, 0), &[])).collect();
    c.server.receive_buffer(c.circuit)[..160].copy_from_slice(&echoes);
    c.server.received(c.circuit, 160, &AdmitAll, 0);
    assert_eq!(c.server.output(c.circuit).len(), 32);
    assert!(c.server.state(c.circuit).has_work);
    c.settle();
    assert_eq!(c.received, echoes);
}

#[test]
fn after_the_clients_last_word_it_still_gets_its_replies() {
    let mut c = Conversation::new();
    c.reads = false;
    for n in 0..10 {
        c.send(Header::new(command::ECHO).ids(n, 0), &[]);
    }
    c.server.peer_closed(c.circuit, &AdmitAll, 0);
    let state = c.server.state(c.circuit);
    assert!(state.closing && state.wants_write && !state.wants_read);
    c.reads = true;
    c.settle();
    assert_eq!(c.take().len(), 10);
    assert!(!c.server.state(c.circuit).wants_write);
    c.server.close(c.circuit);
    assert_eq!(c.server.statistics().circuits, 0);
}

#[test]
fn the_clients_last_word_waits_for_its_put_callback() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    c.memory().pv("ival").slow = true;
    c.send(Header::new(command::WRITE_NOTIFY).typed(5, 1).ids(sid, 1), &[0; 4]);
    c.server.peer_closed(c.circuit, &AdmitAll, 0);
    assert!(!c.is_closing());
    c.memory().completions.push_back((1, Ok(())));
    c.settle();
    assert_eq!(c.take().len(), 1);
    assert!(c.is_closing());
}

#[test]
fn an_id_of_a_closed_circuit_does_nothing() {
    let mut c = Conversation::new();
    let old = c.circuit;
    c.server.close(old);
    let new = c.server.accept(PEER, &AdmitAll, 0).unwrap();
    assert_eq!(old.slot(), new.slot());
    c.server.sent(old, 16, 0);
    c.server.close(old);
    assert_eq!(c.server.output(new).len(), 16);
    assert!(c.server.output(old).is_empty() && c.server.receive_buffer(old).is_empty());
    assert!(c.server.state(old).closing);
}

#[test]
fn a_thousand_clients_come_and_go_without_a_trace() {
    let mut c = Conversation::new();
    for stage in 0..1000 {
        let id = c.server.accept(PEER, &AdmitAll, 0).unwrap();
        let keep = std::mem::replace(&mut c.circuit, id);
        if stage % 4 > 0 {
            c.send_in(&request(Header::new(command::VERSION).typed(0, 13), &[])[..stage % 16], 16);
        }
        if stage % 4 > 1 {
            c.send_in(&[0; 16], 16);
        }
        c.server.close(id);
        c.circuit = keep;
    }
    assert_eq!(c.server.statistics().circuits, 1);
    assert_eq!(c.server.statistics().circuits_accepted, 1001);
}

#[test]
fn names_that_are_too_long_are_refused() {
    let mut c = Conversation::new();
    for (length, errors) in [(511, 0), (512, 1), (600, 1)] {
        let mut name = vec![b'n'; length];
        name.push(0);
        assert_eq!(c.ask(Header::new(command::HOST_NAME), &name).len(), errors);
    }
    assert!(!c.is_closing());
}

/// The whole report; returns in how many looks.
fn report(server: &Server<Memory>, level: u8, text: &mut std::string::String) -> usize {
    let mut position = ReportPosition::default();
    let mut looks = 1;
    while server.report(level, &mut position, text, 5000).unwrap() {
        looks += 1;
    }
    looks
}

#[test]
fn a_long_report_is_written_in_short_looks() {
    let mut c = Conversation::new();
    let sids: Vec<u32> = (0..200).map(|cid| c.create("ival", cid)).collect();
    let mut text = std::string::String::new();
    assert!(report(&c.server, 3, &mut text) > 3);
    assert_eq!(text.matches("    ival Long[1]").count(), 200);
    // Channels that are cleared between two looks do not lead astray.
    let mut position = ReportPosition::default();
    text.clear();
    assert!(c.server.report(3, &mut position, &mut text, 0).unwrap());
    for (cid, &sid) in sids.iter().enumerate() {
        c.ask(Header::new(command::CLEAR_CHANNEL).ids(sid, cid as u32), &[]);
    }
    while c.server.report(3, &mut position, &mut text, 0).unwrap() {}
    assert!(text.contains("(changed meanwhile)") && text.contains("searches: "), "{text}");
}

#[test]
fn the_report_names_clients_and_channels() {
    let mut c = Conversation::new();
    c.send(Header::new(command::CLIENT_NAME), b"anna\0");
    let sid = c.create("ival", 77);
    c.subscribe(sid, 5, 1, 1, 1);
    let mut text = std::string::String::new();
    report(&c.server, 0, &mut text);
    assert_eq!(text, "Channel Access server V4.13, TCP port 5064: 1 circuits, 1 channels, 1 monitors\n");
    text.clear();
    report(&c.server, 4, &mut text);
    for part in [
        "127.0.0.1:40000: user \"anna\"",
        "V4.13, priority 0",
        "    ival Long[1] rw cid 77, 1 monitors",
        "limits: ",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
