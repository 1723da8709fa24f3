// SPDX-License-Identifier: BSD-2-Clause
//! Any bytes, in any pieces: never a panic, never more than the limits, and the same answer as in one piece.

use super::harness::*;
use crate::ca::wire::{Header, command};
use crate::ca::{AdmitAll, Config, Limits, Server};
use proptest::prelude::*;
use std::vec::Vec;

const LIMITS: Limits = Limits {
    max_array_bytes: 100_000,
    buffer_bytes: 4096,
    channels_per_circuit: 50,
    monitors_per_circuit: 20,
    ..Limits::HOSTED
};

/// A request that is mostly sensible: a stream of such reaches deep into the server.
fn any_request() -> impl Strategy<Value = Vec<u8>> {
    const NAMES: &[&[u8]] = &[b"ival\0", b"aval\0", b"sval$\0", b"big\0", b"none\0", b""];
    let name = prop::sample::select(NAMES);
    let code = prop_oneof![
        8 => prop::sample::select(&[1u16, 2, 3, 4, 8, 9, 12, 15, 19, 23, 10][..]),
        1 => 0u16..30
    ];
    let sid = prop_oneof![4 => (0u32..4).prop_map(|n| n | (n + 1) << 24), 1 => any::<u32>()];
    let count = prop_oneof![4 => 0u32..6, 1 => 0u32..20_000, 1 => any::<u32>()];
    prop_oneof![
        2 => (name, 0u32..10, 4u32..15).prop_map(|(name, cid, minor)| {
            request(Header::new(command::CREATE_CHAN).ids(cid, minor), name)
        }),
        8 => (code, 0u16..42, count, sid, 0u32..6, prop::collection::vec(any::<u8>(), 0..64)).prop_map(
            |(code, data_type, count, sid, id, payload)| {
                request(Header::new(code).typed(data_type, count).ids(sid, id), &payload)
            }
        ),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let start = request(Header::new(command::VERSION).typed(0, 13), &[]);
    let create = |name, cid| request(Header::new(command::CREATE_CHAN).ids(cid, 13), name);
    let start =
        [start, create(b"ival\0", 0), create(b"aval\0", 1), create(b"sval\0", 2), create(b"big\0", 3)]
            .concat();
    prop_oneof![
        4 => prop::collection::vec(any_request(), 0..60)
            .prop_map(move |requests| [start.clone(), requests.concat()].concat()),
        1 => prop::collection::vec(any::<u8>(), 0..2000),
    ]
}

/// Everything that the server says to `bytes` in pieces of the given sizes.
fn answer(bytes: &[u8], pieces: &[usize]) -> (Vec<u8>, bool) {
    let mut c = Conversation::with(Config { limits: LIMITS, ..RSRV });
    let mut at = 0;
    let mut sizes = pieces.iter().cycle();
    while at < bytes.len() && !c.is_closing() {
        let piece = sizes.next().copied().unwrap_or(usize::MAX).min(bytes.len() - at);
        at += c.send_in(&bytes[at..at + piece], piece);
    }
    let closing = c.is_closing();
    let received = std::mem::take(&mut c.received);
    let s = *c.server.statistics();
    assert!(s.channels <= LIMITS.channels_per_circuit && s.monitors <= LIMITS.monitors_per_circuit);
    c.server.close(c.circuit);
    let s = c.server.statistics();
    assert_eq!((s.circuits, s.channels, s.monitors, s.puts_in_progress), (0, 0, 0, 0));
    (received, closing)
}

/// All messages but updates: those may be left out for newer ones, and their place among the replies may change.
fn replies(bytes: &[u8]) -> Vec<Message> {
    messages(bytes)
        .into_iter()
        .filter(|m| m.header.command != command::EVENT_ADD || m.payload.is_empty())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_segmentation_gives_the_same_answer(
        bytes in stream(),
        pieces in prop::collection::vec(1usize..200, 1..20),
    ) {
        let whole = answer(&bytes, &[]);
        for pieces in [&pieces[..], &[1]] {
            let cut = answer(&bytes, pieces);
            prop_assert!(replies(&cut.0) == replies(&whole.0) && cut.1 == whole.1);
        }
    }

    #[test]
    fn a_client_that_reads_in_bits_is_told_the_same(bytes in stream(), bits in 1usize..300) {
        let whole = answer(&bytes, &[]).0;
        let mut c = Conversation::with(Config { limits: LIMITS, ..RSRV });
        c.reads = false;
        let mut at = 0;
        loop {
            let taken = c.send_in(&bytes[at..], usize::MAX);
            at += taken;
            prop_assert!(c.server.output(c.circuit).len() <= 100_024);
            let n = c.server.output(c.circuit).len().min(bits);
            c.received.extend_from_slice(&c.server.output(c.circuit)[..n]);
            c.server.sent(c.circuit, n, 0);
            c.settle();
            if n == 0 && taken == 0 {
                break;
            }
        }
        prop_assert!(replies(&c.received) == replies(&whole));
    }

    #[test]
    fn datagrams_are_answered_with_whole_small_packets_or_not_at_all(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            prop::collection::vec((prop::sample::select(&[0u16, 6, 6, 6, 23][..]), 0u32..15, any::<u8>()), 0..60)
                .prop_map(|list| {
                    list.into_iter()
                        .flat_map(|(code, minor, cut)| {
                            let name = &b"ival\0\0\0\0"[..usize::from(cut) % 9];
                            request(Header::new(code).typed(5, minor).ids(1, 1), name)
                        })
                        .collect()
                }),
        ],
    ) {
        let mut server = Server::new(RSRV, Memory::new());
        let mut total = 0;
        server.datagram(PEER, &bytes, &AdmitAll, 0, |_, packet| {
            assert!(packet.len() <= 1024);
            total += messages(packet).iter().filter(|m| m.header.command == command::SEARCH).count() as u64;
        });
        prop_assert_eq!(total, server.statistics().searches_answered);
        prop_assert!(total <= server.statistics().searches);
    }
}
