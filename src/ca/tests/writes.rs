// SPDX-License-Identifier: BSD-2-Clause
//! WRITE and WRITE_NOTIFY: what is believed, what is refused, and when the reply comes.

use super::harness::*;
use crate::ca::wire::{Header, command, status};
use crate::ca::{Access, Acknowledge, PvError};
use std::{vec, vec::Vec};

fn write_notify(c: &mut Conversation, sid: u32, data_type: u16, count: u32, payload: &[u8]) -> u32 {
    let reply = c.ask_one(Header::new(command::WRITE_NOTIFY).typed(data_type, count).ids(sid, 11), payload);
    let expected = Header::new(command::WRITE_NOTIFY).typed(data_type, count).ids(reply.header.p1, 11);
    assert_eq!(reply.header, expected);
    reply.header.p1
}

#[test]
fn write_is_silent_and_write_notify_says_how_it_went() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    assert_eq!(c.ask(Header::new(command::WRITE).typed(5, 1).ids(sid, 1), &[0, 0, 0, 0x2b]), []);
    assert_eq!(c.memory().pv("ival").values, Values::Long(vec![0x2b]));
    assert_eq!(write_notify(&mut c, sid, 5, 1, &[0, 0, 0, 0x2c]), status::NORMAL);
    assert_eq!(c.memory().pv("ival").values, Values::Long(vec![0x2c]));
}

#[test]
fn a_failed_write_quotes_the_request() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 6);
    let error = c.ask_one(Header::new(command::WRITE).typed(0, 1).ids(sid, 6), b"junk\0");
    assert_eq!((error.header.p1, error.header.p2), (6, status::PUTFAIL));
    let quote = Header::new(command::WRITE).typed(0, 1).ids(sid, 6).with_payload(8);
    assert_eq!(quoted(&error).0, quote);
    assert_eq!(write_notify(&mut c, sid, 0, 1, b"@#$%\0"), status::PUTFAIL);
    assert_eq!(c.memory().pv("ival").values, Values::Long(vec![42]));
}

#[test]
fn a_scalar_string_may_be_short() {
    let mut c = Conversation::new();
    let sid = c.create("sval", 1);
    for payload in [&b"1\0\0\0\0\0\0\0"[..], &[b'x'; 40]] {
        assert_eq!(c.ask(Header::new(command::WRITE).typed(0, 1).ids(sid, 1), payload), []);
        assert_eq!(write_notify(&mut c, sid, 0, 1, payload), status::NORMAL);
    }
    let Values::Text(texts) = &c.memory().pv("sval").values else { panic!() };
    assert_eq!(texts[0].as_bytes(), [b'x'; 39], "the terminator is forced");
    assert_eq!(write_notify(&mut c, sid, 0, 0, b""), status::NORMAL);
    assert_eq!(write_notify(&mut c, sid, 0, 3, b"1\0\0\0\0\0\0\0"), status::BADCOUNT);
    assert_eq!(write_notify(&mut c, sid, 0, 1, b""), status::BADCOUNT);
}

#[test]
fn a_count_that_the_payload_does_not_bear_out_is_refused() {
    let mut c = Conversation::new();
    let sid = c.create("big", 1);
    let before = c.memory().pv("big").values.clone();
    for count in [2, 1000, 0xfffe] {
        assert_eq!(write_notify(&mut c, sid, 6, count, &[0; 8]), status::BADCOUNT);
        let error = c.ask_one(Header::new(command::WRITE).typed(6, count).ids(sid, 1), &[0; 8]);
        assert_eq!(error.header.p2, status::BADCOUNT);
    }
    // Through an extended header, where 32-bit sizes wrap.
    for count in [0x2000_0000, 0x2000_0001, u32::MAX] {
        let mut raw = request(Header::new(command::WRITE_NOTIFY).typed(6, count).ids(sid, 1), &[0; 8]);
        assert_eq!(raw.len(), 32);
        raw[8..12].copy_from_slice(&sid.to_be_bytes());
        c.send_in(&raw, usize::MAX);
        assert_eq!(c.take()[0].header.p1, status::BADCOUNT);
    }
    assert_eq!(c.memory().pv("big").values, before);
}

#[test]
fn more_elements_than_there_are_are_left_out() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    assert_eq!(write_notify(&mut c, sid, 5, 2, &[0, 0, 0, 1, 0, 0, 0, 2]), status::NORMAL);
    assert_eq!(c.memory().pv("ival").values, Values::Long(vec![1]));
}

#[test]
fn count_zero_empties_an_array() {
    let mut c = Conversation::new();
    let sid = c.create("big", 1);
    assert_eq!(write_notify(&mut c, sid, 6, 0, &[]), status::NORMAL);
    assert_eq!(c.memory().pv("big").values, Values::Double(vec![]));
}

#[test]
fn types_that_cannot_be_put() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 6);
    for (data_type, code) in
        [(37, status::PUTFAIL), (38, status::PUTFAIL), (39, status::BADTYPE), (0xefef, status::BADTYPE)]
    {
        assert_eq!(write_notify(&mut c, sid, data_type, 1, &[0; 48]), code);
        let error = c.ask_one(Header::new(command::WRITE).typed(data_type, 1).ids(sid, 6), &[0; 48]);
        assert_eq!((error.header.p1, error.header.p2), (6, code));
    }
    assert!(!c.is_closing());
}

#[test]
fn write_takes_the_value_out_of_a_compound_type() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    let mut payload = [0xff; 16];
    payload[12..].copy_from_slice(&[0, 0, 0, 7]);
    assert_eq!(c.ask(Header::new(command::WRITE).typed(19, 1).ids(sid, 1), &payload), []);
    assert_eq!(c.memory().pv("ival").values, Values::Long(vec![7]));
    assert_eq!(write_notify(&mut c, sid, 19, 1, &payload), status::PUTFAIL);
}

#[test]
fn alarms_are_acknowledged() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    assert_eq!(write_notify(&mut c, sid, 35, 1, &[0, 1]), status::NORMAL);
    assert_eq!(c.ask(Header::new(command::WRITE).typed(36, 1).ids(sid, 1), &[0, 2]), []);
    assert_eq!(c.memory().acknowledged, [Acknowledge::Transient(true), Acknowledge::Severity(2)]);
    assert_eq!(write_notify(&mut c, sid, 36, 1, &[]), status::BADCOUNT);
}

#[test]
fn write_access_denied() {
    let mut c = Conversation::new();
    c.memory().pv("ival").access = Access { read: true, write: false, logged: false };
    let sid = c.create("ival", 3);
    assert_eq!(write_notify(&mut c, sid, 5, 1, &[0; 4]), status::NOWTACCESS);
    let error = c.ask_one(Header::new(command::WRITE).typed(5, 1).ids(sid, 3), &[0; 4]);
    assert_eq!((error.header.p1, error.header.p2), (3, status::NOWTACCESS));
}

#[test]
fn writes_to_no_channel() {
    let mut c = Conversation::new();
    assert_eq!(write_notify(&mut c, 5, 5, 1, &[0; 4]), status::BADCHID);
    let error = c.ask_one(Header::new(command::WRITE).typed(5, 1).ids(5, 3), &[0; 4]);
    assert_eq!(error.header.p2, status::BADCHID);
    assert!(!c.is_closing());
}

#[test]
fn a_put_callback_is_answered_when_processing_has_ended() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    c.memory().pv("ival").slow = true;
    let put = Header::new(command::WRITE_NOTIFY).typed(5, 1);
    assert_eq!(c.ask(put.ids(sid, 1), &[0, 0, 0, 1]), []);
    assert_eq!(c.ask(put.ids(sid, 2), &[0, 0, 0, 2]), []);
    assert_eq!(c.server.statistics().puts_in_progress, 2);
    c.memory().completions.push_back((2, Err(PvError::Busy)));
    c.settle();
    c.memory().completions.push_back((1, Ok(())));
    c.memory().completions.push_back((1, Ok(())));
    c.settle();
    let replies: Vec<Header> = c.take().iter().map(|m| m.header).collect();
    assert_eq!(replies, [put.ids(status::PUTCBINPROG, 2), put.ids(status::NORMAL, 1)]);
    assert_eq!(c.server.statistics().puts_in_progress, 0);
}

#[test]
fn nobody_hears_of_a_put_whose_channel_is_gone() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    c.memory().pv("ival").slow = true;
    c.send(Header::new(command::WRITE_NOTIFY).typed(5, 1).ids(sid, 1), &[0; 4]);
    c.ask_one(Header::new(command::CLEAR_CHANNEL).ids(sid, 1), &[]);
    c.memory().completions.push_back((1, Ok(())));
    c.settle();
    assert_eq!(c.take(), []);
    assert_eq!(c.server.statistics().puts_in_progress, 0);
}

#[test]
fn the_provider_knows_who_writes() {
    let mut c = Conversation::new();
    c.send(Header::new(command::CLIENT_NAME), b"anna\0");
    c.send(Header::new(command::HOST_NAME), b"desk\0");
    let sid = c.create("ival", 1);
    write_notify(&mut c, sid, 5, 1, &[0; 4]);
    assert_eq!(c.memory().writer, (b"anna".to_vec(), b"desk".to_vec()));
    let error = c.ask_one(Header::new(command::CLIENT_NAME), b"eve\0");
    assert_eq!((error.header.p1, error.header.p2), (u32::MAX, status::INTERNAL));
    assert!(quoted(&error).1.contains("after creating first channel"));
    write_notify(&mut c, sid, 5, 1, &[0; 4]);
    assert_eq!(c.memory().writer.0, b"anna");
}
