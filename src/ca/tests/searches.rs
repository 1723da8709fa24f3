// SPDX-License-Identifier: BSD-2-Clause
//! Name searches by datagram and over a circuit.

use super::harness::*;
use crate::ca::wire::{Header, command};
use crate::ca::{AdmitAll, Config, Limits, Peer, Server};
use std::{vec, vec::Vec};

fn version(sequence: u32) -> Vec<u8> {
    request(Header::new(command::VERSION).typed(1, 13).ids(sequence, 0), &[])
}

fn search(name: &[u8], id: u32) -> Vec<u8> {
    request(Header::new(command::SEARCH).typed(5, 13).ids(id, id), name)
}

fn replies(server: &mut Server<Memory>, datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    server.datagram(PEER, datagram, &AdmitAll, 0, |to, packet| {
        assert_eq!(to, PEER);
        packets.push(packet.to_vec());
    });
    packets
}

fn server() -> Server<Memory> {
    Server::new(RSRV, Memory::new())
}

#[test]
fn a_reply_byte_by_byte() {
    let datagram = [version(0x0a0b_0c0d), search(b"ival\0", 0x1234_5678)].concat();
    assert_eq!(
        replies(&mut server(), &datagram),
        [[
            0, 0, 0, 0, 0, 1, 0, 13, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0,
            0, // VERSION with the sequence number
            0, 6, 0, 8, 0x13, 0xc8, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x12, 0x34, 0x56, 0x78, // port, id
            0, 13, 0, 0, 0, 0, 0, 0,
        ]]
    );
}

#[test]
fn forty_two_names_are_one_packet_and_one_more_is_another() {
    let mut datagram = version(9);
    for id in 0..43 {
        datagram.extend(search(b"ival\0", id));
    }
    let packets = replies(&mut server(), &datagram);
    assert_eq!(packets.iter().map(Vec::len).collect::<Vec<_>>(), [1024, 40]);
    for packet in &packets {
        assert_eq!(packet[8..12], [0, 0, 0, 9]);
    }
    let all = packets.concat();
    assert_eq!(messages(&all).iter().filter(|m| m.header.command == command::SEARCH).count(), 43);
}

#[test]
fn nothing_is_said_of_unknown_names() {
    let mut server = server();
    for data_type in [5, 10] {
        let request = request(Header::new(command::SEARCH).typed(data_type, 13).ids(1, 1), b"invalid\0");
        assert!(replies(&mut server, &[version(1), request].concat()).is_empty());
    }
}

#[test]
fn old_and_odd_clients() {
    let mut server = server();
    let old = |minor| request(Header::new(command::SEARCH).typed(5, minor).ids(1, 1), b"ival\0");
    assert_eq!(replies(&mut server, &old(10))[0].len(), 24, "before V4.11 without VERSION");
    assert_eq!(replies(&mut server, &old(3)), Vec::<Vec<u8>>::new());
    let no_version = replies(&mut server, &old(13));
    assert_eq!(no_version[0][..16], [0, 0, 0, 0, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0]);
    let no_sequence = request(Header::new(command::VERSION).typed(0, 13).ids(77, 0), &[]);
    let packets = replies(&mut server, &[no_sequence, old(13)].concat());
    assert_eq!(packets[0][4..12], [0, 0, 0, 13, 0, 0, 0, 0]);
}

#[test]
fn every_other_command_ends_the_datagram_in_silence() {
    let mut server = server();
    for code in (0..=40).filter(|&c| c != command::VERSION && c != command::SEARCH) {
        let other = request(Header::new(code).typed(12, 23).ids(1, 2), b"ival\0");
        assert!(replies(&mut server, &[other, search(b"ival\0", 1)].concat()).is_empty());
    }
    assert_eq!(server.statistics().datagrams_ignored, 39);
}

#[test]
fn damaged_datagrams() {
    let mut server = server();
    let whole = [version(1), search(b"ival\0", 1)].concat();
    for n in 0..whole.len() {
        let packets = replies(&mut server, &whole[..n]);
        assert!(packets.is_empty(), "{n} bytes");
    }
    let mut beyond = whole.clone();
    beyond[16 + 3] = 200;
    assert!(replies(&mut server, &beyond).is_empty());
    assert!(replies(&mut server, &[version(1), search(b"", 1)].concat()).is_empty());
    assert!(replies(&mut server, &[version(1), search(&[b'x'; 600], 1)].concat()).is_empty());
    let mut unterminated = version(1);
    unterminated.extend(request(Header::new(command::SEARCH).typed(5, 13).ids(1, 1), b"ivalival"));
    assert!(replies(&mut server, &unterminated).is_empty());
    assert!(replies(&mut server, &[]).is_empty());
    // What came before the damage is answered.
    let mut half = [whole, search(b"dval\0", 2)].concat();
    half.pop();
    assert_eq!(replies(&mut server, &half)[0].len(), 40);
}

#[test]
fn the_rate_of_one_address_is_limited_where_that_is_wanted() {
    let limits = Limits { searches_per_second: 3, ..Limits::HOSTED };
    let mut server = Server::new(Config { limits, ..RSRV }, Memory::new());
    let datagram = [version(1), search(b"ival\0", 1)].concat();
    let mut answered = |address, now| {
        let mut n = 0;
        let peer = Peer { address, port: 1 };
        server.datagram(peer, &datagram, &AdmitAll, now, |_, _| n += 1);
        n
    };
    assert_eq!((0..5).map(|_| answered(1, 0)).sum::<u32>(), 3);
    assert_eq!(answered(2, 0), 1);
    assert_eq!(answered(1, 1000), 1);
}

#[test]
fn a_paused_server_is_silent() {
    let mut server = server();
    let datagram = [version(1), search(b"ival\0", 1)].concat();
    server.pause(true);
    assert!(replies(&mut server, &datagram).is_empty());
    server.pause(false);
    assert_eq!(replies(&mut server, &datagram).len(), 1);
}

#[test]
fn over_a_circuit_with_not_found_where_it_is_wanted() {
    let mut c = Conversation::new();
    c.version(13);
    let reply = c.ask_one(Header::new(command::SEARCH).typed(5, 13).ids(9, 9), b"ival\0");
    assert_eq!(reply.header, Header::new(command::SEARCH).typed(5064, 0).ids(0xffff_ffff, 9));
    assert_eq!(c.ask(Header::new(command::SEARCH).typed(5, 13).ids(9, 9), b"invalid\0"), vec![]);
    let reply = c.ask_one(Header::new(command::SEARCH).typed(10, 13).ids(9, 9), b"invalid\0");
    assert_eq!(reply.header, Header::new(command::NOT_FOUND).typed(10, 13).ids(9, 9));
    // A client sends its datagram as it is, VERSION with sequence number included.
    c.send_in(&[version(3), search(b"ival\0", 1), version(4), search(b"dval\0", 2)].concat(), usize::MAX);
    assert_eq!(c.take().iter().map(|m| m.header.p2).collect::<Vec<_>>(), [1, 2]);
}
