// SPDX-License-Identifier: BSD-2-Clause
//! Circuits on scripted sockets.

use super::*;
use crate::ca::{AdmitAll, Config, Peer};
use crate::net::provider::Served;
use crate::os::socket::scripted::{Control, Watched};
use crate::pv::status::Item;
use crate::pv::{Database, StatusSource};
use crate::value::Text;

struct Nothing;

impl StatusSource for Nothing {
    fn number(&self, _: Item) -> Option<f64> {
        None
    }

    fn text(&self, _: Item) -> Option<Text> {
        None
    }
}

const ECHO: [u8; 16] = [0, 23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// A client's last bytes and the end of its stream may come as one change: the poller that tells of changes says so
/// once, and the end is to be found all the same.
#[test]
fn the_end_of_a_stream_that_comes_with_bytes_is_seen() {
    let control = Control::default().receives(&ECHO).receives_end();
    let mut poller = Watched::default();
    let mut protocol = ca::Server::new(Config::DEFAULT, Served::new(Database::new(), Nothing, 0));
    let id = protocol.accept(Peer { address: 0x7f00_0001, port: 40_000 }, &AdmitAll, 0).unwrap();
    let mut circuits = Circuits::after(0);
    circuits.add(&mut protocol, id, control.stream(), &mut poller);
    circuits.serve(&mut protocol, &AdmitAll, &mut poller, 0);
    circuits.ready(id.slot(), Readiness { read: true, write: false });
    while circuits.has_unread() {
        circuits.receive(&mut protocol, &AdmitAll, &mut poller, 0);
        circuits.serve(&mut protocol, &AdmitAll, &mut poller, 0);
    }
    let script = control.script();
    assert!(script.sent.ends_with(&ECHO), "the reply that was owed");
    assert!(script.closed);
}

/// ENOBUFS on receiving: nobody asks again before the pause is over, nothing is lost, and the circuit goes on.
#[test]
fn a_receive_without_buffers_pauses_the_circuit() {
    let control = Control::default().receive_fails(SocketError::NoBuffers).receives(&ECHO);
    let mut poller = Watched::default();
    let mut protocol = ca::Server::new(Config::DEFAULT, Served::new(Database::new(), Nothing, 0));
    let id = protocol.accept(Peer { address: 0x7f00_0001, port: 40_000 }, &AdmitAll, 0).unwrap();
    let mut circuits = Circuits::after(0);
    circuits.add(&mut protocol, id, control.stream(), &mut poller);
    circuits.serve(&mut protocol, &AdmitAll, &mut poller, 0);
    let greeting = control.script().sent.len();
    circuits.ready(id.slot(), Readiness { read: true, write: false });
    for now in 0..NO_BUFFERS_PAUSE_MS {
        circuits.receive(&mut protocol, &AdmitAll, &mut poller, now);
        circuits.serve(&mut protocol, &AdmitAll, &mut poller, now);
        assert!(!circuits.has_unread(), "the loop would ask again at once");
        assert_eq!(circuits.paused_until(), Some(NO_BUFFERS_PAUSE_MS));
        assert_eq!(poller.0, Some(Interest::NONE));
    }
    circuits.serve(&mut protocol, &AdmitAll, &mut poller, NO_BUFFERS_PAUSE_MS);
    assert!(circuits.has_unread());
    circuits.receive(&mut protocol, &AdmitAll, &mut poller, NO_BUFFERS_PAUSE_MS);
    circuits.serve(&mut protocol, &AdmitAll, &mut poller, NO_BUFFERS_PAUSE_MS);
    assert_eq!(control.script().sent[greeting..], ECHO);
    assert_eq!((circuits.paused_until(), poller.0), (None, Some(Interest::READ)));
}

/// Room is reserved for one entry of each circuit, so it has one, whatever there is to do for it.
#[test]
fn a_circuit_with_several_reasons_has_one_turn() {
    let control = Control::default();
    let mut poller = Watched::default();
    let mut protocol = ca::Server::new(Config::DEFAULT, Served::new(Database::new(), Nothing, 0));
    let id = protocol.accept(Peer { address: 0x7f00_0001, port: 40_000 }, &AdmitAll, 0).unwrap();
    let mut circuits = Circuits::after(0);
    circuits.add(&mut protocol, id, control.stream(), &mut poller);
    let room = circuits.turn.capacity();
    let circuit = circuits.places[id.slot()].as_mut().unwrap();
    (circuit.full, circuit.paused_until) = (true, Some(0));
    circuits.paused = 1;
    circuits.ready(id.slot(), Readiness { read: false, write: true });
    circuits.resume_paused(0);
    assert_eq!(circuits.turn, [id]);
    // It has its greeting to send as well.
    circuits.serve(&mut protocol, &AdmitAll, &mut poller, 0);
    assert!(!control.script().sent.is_empty());
    assert_eq!((circuits.turn.len(), circuits.turn.capacity()), (0, room));
}
