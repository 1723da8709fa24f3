// SPDX-License-Identifier: BSD-2-Clause
//! The cases of the server test suite catvs, told again in our own words: `ival` LONG 42, `aval` SHORT[5], empty.

use super::harness::*;
use crate::ca::wire::{Header, command, status};

#[test]
fn get_and_get_converted() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 156);
    assert_eq!(c.read(sid, 5, 1).payload[..4], [0, 0, 0, 0x2a]);
    assert_eq!(c.read(sid, 2, 1).payload[..4], 42f32.to_be_bytes());
}

#[test]
fn get_of_an_absurd_type_ends_the_circuit_without_a_reply() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 156);
    assert_eq!(c.ask(Header::new(command::READ_NOTIFY).typed(0xefef, 1).ids(sid, 1102), &[]), []);
    assert!(c.is_closing());
}

#[test]
fn put_of_an_absurd_type() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 156);
    let error = c.ask_one(Header::new(command::WRITE).typed(0xefef, 1).ids(sid, 1101), &[0, 0, 0, 0x2b]);
    assert_eq!(error.header.with_payload(0), Header::new(command::ERROR).ids(156, status::BADTYPE));
    let reply = c.ask_one(Header::new(command::WRITE_NOTIFY).typed(0xefef, 1).ids(sid, 1101), &[0; 4]);
    assert_eq!(reply.header, Header::new(command::WRITE_NOTIFY).typed(0xefef, 1).ids(status::BADTYPE, 1101));
}

#[test]
fn array_get_all_some_one_and_none() {
    let mut c = Conversation::new();
    let sid = c.create("aval", 156);
    for (count, size) in [(5, 16), (2, 8), (1, 8), (0, 0)] {
        let reply = c.read(sid, 1, count);
        assert_eq!((reply.header.count, reply.header.p1), (count, status::NORMAL));
        assert_eq!(reply.payload, std::vec![0; size]);
    }
    let old = c.create_as("aval", 157, 11);
    let reply = c.read(old, 1, 0);
    assert_eq!((reply.header.count, reply.header.p1), (0, status::NORMAL));
}

#[test]
fn array_put_in_part() {
    let mut c = Conversation::new();
    let sid = c.create("aval", 156);
    c.send(Header::new(command::WRITE).typed(1, 2).ids(sid, 1101), &[0, 0x2b, 0, 0x2c]);
    assert_eq!(c.read(sid, 1, 5).payload, [0, 0x2b, 0, 0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(c.read(sid, 1, 2).payload, [0, 0x2b, 0, 0x2c, 0, 0, 0, 0]);
}

#[test]
fn array_monitors_of_fixed_and_of_current_length() {
    for (count, expected) in [
        (1, [&[0x2a][..], &[0x2b], &[0x2c]]),
        (3, [&[0x2a, 0x2d, 0], &[0x2b, 0x2c, 0x2d], &[0x2c, 0, 0]]),
        (0, [&[0x2a, 0x2d], &[0x2b, 0x2c, 0x2d, 0x2e], &[0x2c]]),
    ] {
        let mut c = Conversation::new();
        let sid = c.create("aval", 156);
        let first = c.subscribe(sid, 5, count, 1102, 1);
        assert_eq!((first[0].header.count, first[0].header.p1), (count, status::NORMAL));
        assert!(first[0].payload.iter().all(|&b| b == 0));
        let puts: [(u16, u32, &[u8]); 3] = [
            (5, 2, &[0, 0, 0, 0x2a, 0, 0, 0, 0x2d]),
            (1, 4, &[0, 0x2b, 0, 0x2c, 0, 0x2d, 0, 0x2e]),
            (1, 1, &[0, 0x2c]),
        ];
        for ((data_type, n, payload), expected) in puts.into_iter().zip(expected) {
            let update = c.ask_one(Header::new(command::WRITE).typed(data_type, n).ids(sid, 1101), payload);
            let header =
                Header::new(command::EVENT_ADD).typed(5, expected.len() as u32).ids(status::NORMAL, 1102);
            assert_eq!(update.header.with_payload(0), header);
            for (bytes, &number) in update.payload.chunks(4).zip(expected) {
                assert_eq!(bytes, [0, 0, 0, number]);
            }
        }
        let reply = c.ask_one(Header::new(command::EVENT_CANCEL).typed(5, count).ids(sid, 1102), &[]);
        assert_eq!(reply.header, Header::new(command::EVENT_ADD).typed(5, count).ids(sid, 1102));
    }
}
