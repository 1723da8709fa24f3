// SPDX-License-Identifier: BSD-2-Clause
//! Channels and reads.

use super::harness::*;
use crate::ca::wire::{Header, command, status};
use crate::ca::{Access, Notice};

#[test]
fn a_channel_is_created_byte_by_byte() {
    let mut c = Conversation::new();
    c.send(Header::new(command::CREATE_CHAN).ids(156, 13), b"ival\0");
    let sid = c.received[28..32].to_vec();
    let expected = [
        &[0, 22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 156, 0, 0, 0, 3][..], // access rights: read, write
        &[0, 18, 0, 0, 0, 5, 0, 1, 0, 0, 0, 156][..],             // LONG, one element
        &sid,
    ]
    .concat();
    assert_eq!(c.received, expected);
}

#[test]
fn a_channel_of_a_large_array_has_an_extended_header() {
    let mut c = Conversation::new();
    let replies = c.ask(Header::new(command::CREATE_CHAN).ids(1, 13), b"huge\0");
    assert_eq!(replies[1].header.count, 100_000);
    let replies = c.ask(Header::new(command::CREATE_CHAN).ids(2, 8), b"huge\0");
    assert_eq!(replies[1].header.count, 0xfffe, "a client before V4.9 knows no extended header");
}

#[test]
fn an_unknown_name_an_empty_one_and_one_too_long_fail_politely() {
    let mut c = Conversation::new();
    for name in [&b"invalid\0"[..], b"\0", b"", &[b'x'; 600]] {
        let reply = c.ask_one(Header::new(command::CREATE_CHAN).ids(7, 13), name);
        assert_eq!(reply.header, Header::new(command::CREATE_CH_FAIL).ids(7, 0));
    }
    assert!(!c.is_closing());
}

#[test]
fn a_name_without_terminator_is_taken_whole() {
    let mut c = Conversation::new();
    let mut name = [b'x'; 8];
    name[..4].copy_from_slice(b"ival");
    assert_eq!(c.ask(Header::new(command::CREATE_CHAN).ids(1, 13), &name)[0].header.command, 26);
    let mut raw = request(Header::new(command::CREATE_CHAN).ids(1, 13), b"ival\0\0\0\0");
    raw.truncate(24);
    c.send_in(&raw, usize::MAX);
    assert_eq!(c.take().len(), 2);
}

#[test]
fn clear_channel_is_confirmed_and_the_id_is_dead() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 156);
    let reply = c.ask_one(Header::new(command::CLEAR_CHANNEL).ids(sid, 156), &[]);
    assert_eq!(reply.header, Header::new(command::CLEAR_CHANNEL).ids(sid, 156));
    assert_eq!(c.read(sid, 5, 1).header.p1, status::BADCHID);
    let error = c.ask_one(Header::new(command::CLEAR_CHANNEL).ids(sid, 156), &[]);
    assert_eq!((error.header.p2, error.header.p1), (status::BADCHID, u32::MAX));
    assert!(!c.is_closing());
}

#[test]
fn the_same_variable_many_times_on_one_circuit() {
    let mut c = Conversation::new();
    let sids: Vec<u32> = (0..1000).map(|cid| c.create("dval", cid)).collect();
    assert_eq!(sids.iter().collect::<std::collections::HashSet<_>>().len(), 1000);
    for &sid in &sids {
        assert_eq!(c.read(sid, 6, 1).payload, 1.5f64.to_be_bytes());
    }
    assert_eq!(c.server.statistics().channels, 1000);
    c.server.close(c.circuit);
    assert_eq!(c.server.statistics().channels, 0);
}

#[test]
fn read_notify_byte_by_byte() {
    let mut c = Conversation::new();
    let sid = c.create("dval", 1);
    c.send(Header::new(command::READ_NOTIFY).typed(20, 1).ids(sid, 0x0102_0304), &[]);
    assert_eq!(
        c.received,
        [
            0, 15, 0, 24, 0, 20, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, // TIME_DOUBLE, NORMAL
            0, 0, 0, 0, 0, 0, 3, 0xe8, 0, 0, 0, 5, 0, 0, 0, 0, // no alarm, stamp
            0x3f, 0xf8, 0, 0, 0, 0, 0, 0,
        ]
    );
}

#[test]
fn count_zero_is_the_current_length_since_v4_13() {
    let mut c = Conversation::new();
    let sid = c.create("aval", 1);
    let reply = c.read(sid, 1, 0);
    assert_eq!((reply.header.count, reply.header.p1, reply.payload.len()), (0, status::NORMAL, 0));
    c.memory().set("aval", Values::Short(vec![1, 2]));
    let reply = c.read(sid, 1, 0);
    assert_eq!((reply.header.count, &reply.payload[..]), (2, &[0, 1, 0, 2, 0, 0, 0, 0][..]));
    let reply = c.read(sid, 15, 0);
    assert_eq!((reply.header.count, reply.payload.len()), (2, 24));
}

#[test]
fn count_zero_of_an_older_client_is_the_whole_array() {
    let mut c = Conversation::new();
    let sid = c.create_as("aval", 1, 11);
    assert_eq!(c.read(sid, 1, 0).header.count, 0, "empty stays empty");
    c.memory().set("aval", Values::Short(vec![1, 2]));
    let reply = c.read(sid, 1, 0);
    assert_eq!((reply.header.count, reply.payload.len()), (5, 16));
    assert_eq!(reply.payload[..10], [0, 1, 0, 2, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn more_than_there_is_comes_as_zeros() {
    let mut c = Conversation::new();
    let sid = c.create("dval", 1);
    let reply = c.read(sid, 6, 3);
    assert_eq!((reply.header.count, reply.header.p1), (3, status::NORMAL));
    assert_eq!(reply.payload, [&1.5f64.to_be_bytes()[..], &[0; 16]].concat());
}

#[test]
fn failures_of_read_notify_are_a_status_with_zeros() {
    let mut c = Conversation::new();
    let sid = c.create("sval", 1);
    let text = c.read(sid, 6, 1);
    assert_eq!((text.header.p1, &text.payload[..]), (status::GETFAIL, &[0; 8][..]));
    let put_only = c.read(sid, 35, 1);
    assert_eq!((put_only.header.p1, put_only.payload.len()), (status::GETFAIL, 8));
    let no_type = c.read(sid, 39, 1);
    assert_eq!((no_type.header.p1, no_type.header.data_type), (status::BADTYPE, 39));
    let no_channel = c.read(sid ^ 0x0100_0000, 20, 1);
    assert_eq!((no_channel.header.p1, no_channel.payload.len()), (status::BADCHID, 24));
    let absurd = c.read(sid ^ 1, 20, u32::from(u16::MAX) - 1);
    assert_eq!((absurd.header.p1, absurd.header.count, absurd.payload.len()), (status::BADCHID, 0, 16));
    assert!(!c.is_closing());
}

#[test]
fn a_channel_belongs_to_its_circuit() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    let first = c.circuit;
    c.circuit = c.server.accept(PEER, &crate::ca::AdmitAll, 0).unwrap();
    c.settle();
    c.take();
    assert_eq!(c.read(sid, 5, 1).header.p1, status::BADCHID);
    c.circuit = first;
    assert_eq!(c.read(sid, 5, 1).header.p1, status::NORMAL);
}

#[test]
fn old_read_has_the_cid_and_a_short_string() {
    let mut c = Conversation::new();
    let sid = c.create("sval", 9);
    let reply = c.ask_one(Header::new(command::READ).typed(0, 1).ids(sid, 5), &[]);
    assert_eq!(reply.header, Header::new(command::READ).typed(0, 1).ids(9, 5).with_payload(8));
    assert_eq!(reply.payload, b"hello\0\0\0");
    let error = c.ask_one(Header::new(command::READ).typed(6, 1).ids(sid, 5), &[]);
    assert_eq!((error.header.p1, error.header.p2), (9, status::GETFAIL));
    assert_eq!(quoted(&error).0, Header::new(command::READ).typed(6, 1).ids(sid, 5));
    let error = c.ask_one(Header::new(command::READ).typed(99, 1).ids(sid, 5), &[]);
    assert_eq!(error.header.p2, status::BADTYPE);
    let error = c.ask_one(Header::new(command::READ).typed(6, 1).ids(sid + 1, 5), &[]);
    assert_eq!((error.header.p1, error.header.p2), (u32::MAX, status::BADCHID));
    assert!(!c.is_closing());
}

#[test]
fn class_name_and_acknowledgement() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    assert_eq!(c.read(sid, 38, 1).payload[..7], *b"memory\0");
    let reply = c.read(sid, 37, 1);
    assert_eq!(reply.payload[..11], [0, 0, 0, 0, 0, 1, 0, 0, b'4', b'2', 0]);
}

#[test]
fn a_large_array_has_an_extended_header() {
    let mut c = Conversation::new();
    let sid = c.create("big", 1);
    let reply = c.read(sid, 6, 10_000);
    assert_eq!((reply.header.count, reply.payload.len()), (10_000, 80_000));
    assert_eq!(reply.payload[79_992..], 0.25f64.to_be_bytes());
    let old = c.create_as("big", 2, 8);
    let error = c.ask_one(Header::new(command::READ_NOTIFY).typed(6, 10_000).ids(old, 3), &[]);
    assert_eq!((error.header.p1, error.header.p2), (2, status::ARRAY_16K_CLIENT));
}

#[test]
fn a_long_string_is_a_view_of_its_own() {
    let mut c = Conversation::new();
    let sid = c.create("sval$", 1);
    let reply = c.read(sid, 4, 0);
    assert_eq!((reply.header.count, &reply.payload[..]), (5, &b"hello\0\0\0"[..]));
}

#[test]
fn without_read_access_there_is_a_status() {
    let mut c = Conversation::new();
    c.memory().pv("ival").access = Access { read: false, write: true, logged: false };
    c.send(Header::new(command::CREATE_CHAN).ids(4, 13), b"ival\0");
    let replies = c.take();
    assert_eq!(replies[0].header.p2, 2);
    let sid = replies[1].header.p2;
    assert_eq!(c.read(sid, 5, 1).header.p1, status::NORDACCESS);
    let error = c.ask_one(Header::new(command::READ).typed(5, 1).ids(sid, 5), &[]);
    assert_eq!((error.header.p1, error.header.p2), (4, status::NORDACCESS));
}

#[test]
fn changed_rights_are_told_once() {
    let mut c = Conversation::new();
    c.create("ival", 4);
    c.create("dval", 5);
    c.memory().pv("ival").access = Access { read: true, write: false, logged: false };
    c.memory().notices.push_back(Notice::Access);
    c.settle();
    let told: Vec<Header> = c.take().iter().map(|m| m.header).collect();
    assert_eq!(told, [Header::new(command::ACCESS_RIGHTS).ids(4, 1)]);
    c.memory().notices.push_back(Notice::Access);
    c.settle();
    assert_eq!(c.take(), []);
}

#[test]
fn requests_after_changed_rights_are_judged_by_them() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 4);
    c.memory().pv("ival").access = Access { read: true, write: false, logged: false };
    c.memory().notices.push_back(Notice::Access);
    // What a turn begins with, before it reads requests.
    c.server.poll_notices();
    let replies = c.ask(Header::new(command::WRITE_NOTIFY).typed(5, 1).ids(sid, 11), &[0, 0, 0, 7]);
    let reply = replies.iter().find(|m| m.header.command == command::WRITE_NOTIFY).unwrap();
    assert_eq!(reply.header.p1, status::NOWTACCESS);
    assert_eq!(c.memory().pv("ival").values, Values::Long(std::vec![42]));
}

#[test]
fn a_deleted_variable_closes_its_channels_alone() {
    let mut c = Conversation::new();
    let gone = c.create("ival", 4);
    let stays = c.create("dval", 5);
    c.subscribe(gone, 5, 1, 9, 1);
    let pv = c.memory().id("ival");
    c.memory().notices.push_back(Notice::Removed(pv.index));
    c.settle();
    let told: Vec<Header> = c.take().iter().map(|m| m.header).collect();
    assert_eq!(told, [Header::new(command::SERVER_DISCONN).ids(4, 0)]);
    assert_eq!(c.read(gone, 5, 1).header.p1, status::BADCHID);
    assert_eq!(c.read(stays, 6, 1).header.p1, status::NORMAL);
    assert_eq!((c.server.statistics().channels, c.server.statistics().monitors), (1, 0));
}

use std::vec;
use std::vec::Vec;
