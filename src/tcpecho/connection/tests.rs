// SPDX-License-Identifier: BSD-2-Clause
//! Connections on scripted sockets: every fault that a stack can show.

use super::*;
use crate::os::socket::scripted::{Control, ScriptedStream};

fn client(kind: Kind, control: &Control) -> Connection<ScriptedStream> {
    Connection::new(kind, control.stream(), 16).unwrap()
}

/// Turns until nothing more happens; the last word on it.
fn run(connection: &mut Connection<ScriptedStream>) -> Progress {
    for _ in 0..100 {
        match connection.turn(0) {
            Progress::More | Progress::Paused(_) => {}
            Progress::Waiting if connection.stream_has_more() => {}
            other => return other,
        }
    }
    panic!("no progress");
}

impl Connection<ScriptedStream> {
    fn stream_has_more(&self) -> bool {
        self.stream.control().script().has_more()
    }
}

#[test]
fn what_comes_in_goes_out_and_the_end_is_passed_on() {
    let control =
        Control::default().receives(b"hello ").receives(b"a longer piece than the buffer").receives_end();
    let mut connection = client(Kind::Echo, &control);
    assert_eq!(run(&mut connection), Progress::Ended);
    assert_eq!(control.script().sent, b"hello a longer piece than the buffer");
    assert!(control.script().write_shut);
    assert_eq!(connection.counters().received, 36);
    assert_eq!(connection.counters().sent, 36);
    assert_eq!(connection.counters().errors, 0);
}

#[test]
fn interruptions_full_buffers_and_short_writes_lose_nothing() {
    let control = Control::default()
        .receive_fails(SocketError::Interrupted)
        .receives(b"0123456789")
        .receives(b"abcdef")
        .receives_end()
        .send_fails(SocketError::Interrupted)
        .sends(3)
        .send_fails(SocketError::WouldBlock)
        .sends(1)
        .send_fails(SocketError::NoBuffers);
    let mut connection = client(Kind::Echo, &control);
    assert_eq!(connection.turn(5), Progress::Waiting);
    assert_eq!(connection.interest(), Interest::WRITE);
    assert_eq!(connection.turn(5), Progress::Paused(5 + NO_BUFFERS_PAUSE_MS));
    assert_eq!(run(&mut connection), Progress::Ended);
    assert_eq!(control.script().sent, b"0123456789abcdef");
    let counters = connection.counters();
    assert_eq!((counters.short_writes, counters.stalls, counters.no_buffers), (2, 1, 1));
}

#[test]
fn replies_owed_at_the_end_of_stream_are_sent_before_it_ends() {
    let control = Control::default()
        .receives(b"owed")
        .receives_end()
        .sends(1)
        .send_fails(SocketError::WouldBlock)
        .sends(2);
    let mut connection = client(Kind::Echo, &control);
    assert_eq!(connection.turn(0), Progress::Waiting);
    assert_eq!(control.script().sent, b"o");
    assert_eq!(run(&mut connection), Progress::Ended);
    assert_eq!(control.script().sent, b"owed");
}

#[test]
fn a_reset_ends_it_in_either_direction() {
    let control = Control::default().receives(b"x").send_fails(SocketError::Closed);
    let mut connection = client(Kind::Echo, &control);
    assert_eq!(connection.turn(0), Progress::Ended);
    assert_eq!(connection.counters().errors, 1);
    let control = Control::default().receive_fails(SocketError::Closed);
    assert_eq!(client(Kind::Discard, &control).turn(0), Progress::Ended);
}

#[test]
fn discard_counts_and_sends_nothing() {
    let control = Control::default().receives(&[7; 40]).receives_end();
    let mut connection = client(Kind::Discard, &control);
    assert_eq!(run(&mut connection), Progress::Ended);
    assert_eq!(connection.counters().received, 40);
    assert!(control.script().sent.is_empty());
}

#[test]
fn the_source_counts_words_without_a_gap_and_shares_the_cpu() {
    let control = Control::default().sends(5).send_fails(SocketError::WouldBlock).sends(2);
    let mut connection = client(Kind::Source, &control);
    assert_eq!(connection.turn(0), Progress::Waiting);
    assert_eq!(connection.interest(), Interest::WRITE);
    assert_eq!(connection.turn(0), Progress::More);
    let sent = control.script().sent.clone();
    assert!(sent.len() >= TURN_BYTES);
    for (word, bytes) in sent.chunks_exact(4).enumerate() {
        assert_eq!(bytes, (word as u32).to_be_bytes());
    }
}

#[test]
fn a_flood_gives_others_their_turn() {
    let control = Control::default().receives(&[0; 2 * TURN_BYTES]);
    assert_eq!(client(Kind::Discard, &control).turn(0), Progress::More);
    assert_eq!(control.script().receives.len(), 1);
}

#[test]
fn the_end_is_found_in_the_same_turn_if_nobody_tells_of_it_again() {
    let control = Control::default().receives(b"last").receives_end();
    let mut connection = client(Kind::Echo, &control).receiving_until_blocked();
    assert_eq!(connection.turn(0), Progress::Ended);
    assert_eq!(control.script().sent, b"last");
}
