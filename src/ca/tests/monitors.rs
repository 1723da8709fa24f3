// SPDX-License-Identifier: BSD-2-Clause
//! Subscriptions: first value, changes, flow control, cancelling, and the newest value for those who are slow.

use super::harness::*;
use crate::ca::wire::{Header, command, status};
use crate::ca::{Access, AdmitAll, Change, Notice};
use crate::value::EventMask;
use std::{vec, vec::Vec};

fn update(data_type: u16, count: u32, id: u32, payload: &[u8]) -> Message {
    let header = Header::new(command::EVENT_ADD).typed(data_type, count).ids(status::NORMAL, id);
    let mut payload = payload.to_vec();
    payload.resize(payload.len().next_multiple_of(8), 0);
    Message { header: header.with_payload(payload.len() as u32), payload }
}

fn set(c: &mut Conversation, number: i32) -> Vec<Message> {
    c.memory().set("ival", Values::Long(vec![number]));
    c.settle();
    c.take()
}

#[test]
fn first_value_then_every_change_then_the_confirmation() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    assert_eq!(c.subscribe(sid, 5, 1, 1102, 1), [update(5, 1, 1102, &[0, 0, 0, 42])]);
    assert_eq!(set(&mut c, 43), [update(5, 1, 1102, &[0, 0, 0, 43])]);
    let reply = c.ask_one(Header::new(command::EVENT_CANCEL).typed(5, 1).ids(sid, 1102), &[]);
    assert_eq!(reply.header, Header::new(command::EVENT_ADD).typed(5, 1).ids(sid, 1102));
    assert_eq!(set(&mut c, 44), []);
    let index = c.memory().id("ival").index;
    assert_eq!(c.memory().watched, [(index, true), (index, false)]);
}

#[test]
fn the_mask_decides() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    for (id, mask) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 0xf5)] {
        assert_eq!(c.subscribe(sid, 5, 1, id, mask).len(), 1);
    }
    let pv = c.memory().id("ival");
    for (mask, ids) in [
        (EventMask::VALUE, &[1, 5][..]),
        (EventMask::LOG, &[2]),
        (EventMask::ALARM, &[3, 5]),
        (EventMask::PROPERTY, &[4]),
    ] {
        c.memory().changes.push_back(Change { pv, mask });
        c.settle();
        let told: Vec<u32> = c.take().iter().map(|m| m.header.p2).collect();
        assert_eq!(told, ids);
    }
    for mask in [0, 0xf0] {
        let error = c.subscribe(sid, 5, 1, 9, mask);
        assert_eq!(error[0].header.p2, status::BADMASK);
    }
    assert!(!c.is_closing());
}

#[test]
fn bad_subscriptions() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 3);
    let add = Header::new(command::EVENT_ADD);
    for (header, payload, code) in [
        (add.typed(5, 1).ids(sid, 1), 8, status::INTERNAL),
        (add.typed(39, 1).ids(sid, 1), 16, status::BADTYPE),
        (add.typed(35, 1).ids(sid, 1), 16, status::BADTYPE),
        (add.typed(5, 1).ids(sid + 1, 1), 16, status::BADCHID),
        (Header::new(command::EVENT_CANCEL).typed(5, 1).ids(sid, 99), 0, status::BADMONID),
        (Header::new(command::EVENT_CANCEL).typed(5, 1).ids(sid + 1, 99), 0, status::BADCHID),
    ] {
        let error = c.ask_one(header, &[1; 16][..payload]);
        assert_eq!((error.header.command, error.header.p2), (command::ERROR, code));
        assert_eq!(quoted(&error).0, header.with_payload(payload as u32));
    }
    assert!(!c.is_closing());
    assert_eq!(c.server.statistics().monitors, 0);
}

#[test]
fn a_subscription_with_current_length_follows_it() {
    let mut c = Conversation::new();
    let sid = c.create("aval", 1);
    let first = c.subscribe(sid, 5, 0, 7, 1);
    // An empty array is no confirmation of a cancelled subscription, which is what no payload would be.
    assert_eq!((first[0].header.count, first[0].header.payload), (0, 8));
    c.memory().set("aval", Values::Short(vec![42, 45]));
    c.settle();
    assert_eq!(c.take(), [update(5, 2, 7, &[0, 0, 0, 42, 0, 0, 0, 45])]);
    c.memory().set("aval", Values::Short(vec![]));
    c.settle();
    let empty = c.take();
    assert_eq!((empty[0].header.count, empty[0].header.payload), (0, 8));
    let reply = c.ask_one(Header::new(command::EVENT_CANCEL).typed(5, 0).ids(sid, 7), &[]);
    assert_eq!(reply.header, Header::new(command::EVENT_ADD).typed(5, 0).ids(sid, 7));
}

#[test]
fn events_off_keeps_the_newest_value_for_events_on() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    let other = c.create("dval", 2);
    c.subscribe(sid, 5, 1, 1, 1);
    c.subscribe(other, 6, 1, 2, 1);
    assert_eq!(c.ask(Header::new(command::EVENTS_OFF), &[]), []);
    for n in 0..10 {
        assert_eq!(set(&mut c, n), []);
    }
    assert_eq!(c.read(sid, 5, 1).payload[..4], [0, 0, 0, 9], "requests are answered");
    assert_eq!(c.ask(Header::new(command::EVENTS_ON), &[]), [update(5, 1, 1, &[0, 0, 0, 9])]);
    assert_eq!(c.ask(Header::new(command::EVENTS_ON), &[]), []);
    assert_eq!(c.server.statistics().updates_replaced, 9);
}

#[test]
fn a_subscription_made_while_events_are_off_has_its_first_value_later() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    c.send(Header::new(command::EVENTS_OFF), &[]);
    assert_eq!(c.subscribe(sid, 5, 1, 1, 1), []);
    assert_eq!(c.ask(Header::new(command::EVENTS_ON), &[]).len(), 1);
}

#[test]
fn a_slow_client_gets_the_newest_value_of_each_of_its_monitors() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    let count = 3000;
    for id in 0..count {
        c.subscribe(sid, 19, 1, id, 1);
    }
    c.reads = false;
    for n in 0..1000 {
        c.memory().set("ival", Values::Long(vec![n]));
        c.settle();
    }
    assert!(c.server.output(c.circuit).len() <= 16 << 10);
    c.reads = true;
    c.settle();
    let mut last = vec![None; count as usize];
    for message in c.take() {
        last[message.header.p2 as usize] = Some(message.payload[12..].to_vec());
    }
    let newest = 999u32.to_be_bytes().to_vec();
    assert!(last.iter().all(|l| l.as_ref() == Some(&newest)));
    assert!(c.server.statistics().updates_replaced > 0);
}

#[test]
fn an_owed_update_of_a_cancelled_subscription_does_not_hold_up_the_others() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    c.subscribe(sid, 5, 1, 1, 1);
    c.subscribe(sid, 5, 1, 2, 1);
    c.send(Header::new(command::EVENTS_OFF), &[]);
    set(&mut c, 7);
    c.ask_one(Header::new(command::EVENT_CANCEL).typed(5, 1).ids(sid, 1), &[]);
    assert_eq!(c.ask(Header::new(command::EVENTS_ON), &[]), [update(5, 1, 2, &[0, 0, 0, 7])]);
}

#[test]
fn one_change_reaches_ten_thousand_monitors_of_several_circuits() {
    let mut c = Conversation::new();
    let mut circuits = vec![c.circuit];
    for n in 0..4 {
        if n > 0 {
            let id = c.server.accept(PEER, &AdmitAll, 0).unwrap();
            circuits.push(id);
        }
        c.circuit = circuits[n];
        c.settle();
        c.take();
        let sid = c.create("ival", 1);
        for id in 0..2500 {
            c.subscribe(sid, [5, 19, 6, 0][id as usize % 4], 1, id, 1);
        }
    }
    c.memory().set("ival", Values::Long(vec![5]));
    for &circuit in &circuits {
        c.circuit = circuit;
        c.settle();
        let mut ids: Vec<u32> = c.take().iter().map(|m| m.header.p2).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..2500).collect::<Vec<u32>>());
    }
}

#[test]
fn a_value_that_cannot_be_converted_is_a_status() {
    let mut c = Conversation::new();
    let sid = c.create("sval", 1);
    let first = c.subscribe(sid, 6, 1, 1, 1);
    assert_eq!((first[0].header.p1, &first[0].payload[..]), (status::GETFAIL, &[0; 8][..]));
    c.memory().set("sval", Values::Text(vec!["12".into()]));
    c.settle();
    assert_eq!(c.take(), [update(6, 1, 1, &12f64.to_be_bytes())]);
}

#[test]
fn lost_read_access_is_one_event_and_regained_access_is_the_value() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 4);
    c.subscribe(sid, 5, 1, 1, 1);
    let rights = |c: &mut Conversation, read| {
        c.memory().pv("ival").access = Access { read, ..Access::FULL };
        c.memory().notices.push_back(Notice::Access);
        c.settle();
        c.take()
    };
    let lost = rights(&mut c, false);
    assert_eq!(lost[0].header, Header::new(command::ACCESS_RIGHTS).ids(4, 2));
    assert_eq!((lost[1].header.p1, &lost[1].payload[..]), (status::NORDACCESS, &[0; 8][..]));
    assert_eq!(lost.len(), 2);
    assert_eq!(set(&mut c, 1), []);
    let regained = rights(&mut c, true);
    assert_eq!(regained[1], update(5, 1, 1, &[0, 0, 0, 1]));
    assert_eq!(set(&mut c, 2), [update(5, 1, 1, &[0, 0, 0, 2])]);
}

#[test]
fn a_subscription_without_read_access_hears_of_that_first() {
    let mut c = Conversation::new();
    c.memory().pv("ival").access = Access { read: false, write: true, logged: false };
    let sid = c.create("ival", 4);
    let first = c.subscribe(sid, 5, 1, 1, 1);
    assert_eq!(first[0].header.p1, status::NORDACCESS);
    assert_eq!(set(&mut c, 1), []);
}

#[test]
fn arrays_larger_than_the_buffer_are_updated_one_after_another() {
    let mut c = Conversation::new();
    let sid = c.create("big", 1);
    for id in 0..5 {
        let first = c.subscribe(sid, 6, 0, id, 1);
        assert_eq!((first[0].header.count, first[0].header.payload), (10_000, 80_000));
    }
    c.memory().set("big", Values::Double(vec![1.0; 9_000]));
    c.settle();
    let updates = c.take();
    let got: Vec<(u32, u32)> = updates.iter().map(|m| (m.header.p2, m.header.count)).collect();
    assert_eq!(got, [(0, 9000), (1, 9000), (2, 9000), (3, 9000), (4, 9000)]);
}

#[test]
fn the_rare_types_have_updates_too() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    assert_eq!(c.subscribe(sid, 37, 1, 1, 1)[0].payload[8..11], *b"42\0");
    assert_eq!(c.subscribe(sid, 38, 1, 2, 1)[0].payload[..7], *b"memory\0");
    let updates = set(&mut c, 43);
    assert_eq!(updates.len(), 2);
    assert_eq!(updates[0].payload[8..11], *b"43\0");
    assert_eq!(updates[1].payload[..7], *b"memory\0");
}

#[test]
fn clearing_a_channel_ends_its_monitors_without_a_word() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    let stays = c.create("ival", 2);
    for id in 0..10 {
        c.subscribe(sid, 5, 1, id, 1);
    }
    c.subscribe(stays, 5, 1, 99, 1);
    c.send(Header::new(command::EVENTS_OFF), &[]);
    set(&mut c, 1);
    assert_eq!(c.ask(Header::new(command::CLEAR_CHANNEL).ids(sid, 1), &[]).len(), 1);
    assert_eq!(c.ask(Header::new(command::EVENTS_ON), &[]), [update(5, 1, 99, &[0, 0, 0, 1])]);
    assert_eq!(c.server.statistics().monitors, 1);
}

#[test]
fn a_view_has_its_own_subscribers() {
    let mut c = Conversation::new();
    let text = c.create("sval", 1);
    let long = c.create("sval$", 2);
    c.subscribe(text, 0, 1, 1, 1);
    assert_eq!(c.subscribe(long, 4, 0, 2, 1), [update(4, 5, 2, b"hello")]);
    let mut pv = c.memory().id("sval");
    pv.view = 1;
    c.memory().changes.push_back(Change { pv, mask: EventMask::VALUE });
    c.settle();
    assert_eq!(c.take().iter().map(|m| m.header.p2).collect::<Vec<_>>(), [2]);
}

#[test]
fn there_is_no_time_to_wait_while_changes_are_to_be_taken() {
    let mut c = Conversation::new();
    let sid = c.create("ival", 1);
    assert!(!c.server.has_ready() || c.server.next_ready().is_some());
    while c.server.next_ready().is_some() {}
    let write = request(Header::new(command::WRITE).typed(5, 1).ids(sid, 1), &[0; 4]);
    c.server.receive_buffer(c.circuit)[..write.len()].copy_from_slice(&write);
    c.server.received(c.circuit, write.len(), &AdmitAll, 0);
    assert!(c.server.has_ready() && c.server.next_ready().is_none());
    assert!(!c.server.poll_changes(&AdmitAll, 0) && !c.server.has_ready());
    for n in 0..300 {
        c.memory().set("ival", Values::Long(vec![n]));
    }
    assert!(c.server.poll_changes(&AdmitAll, 0) && c.server.has_ready());
    assert!(!c.server.poll_changes(&AdmitAll, 0) && !c.server.has_ready());
}
