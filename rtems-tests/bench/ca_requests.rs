// SPDX-License-Identifier: BSD-2-Clause
//! What one message costs the server, sockets apart: `cargo bench --bench ca_requests`.
//!
//! Instructions: run the built program under `valgrind --tool=callgrind --callgrind-out-file=/dev/null` with
//! `KIND N` for two values of N; the difference of the totals over the difference of N is the cost of one message.

mod numbers;

use numbers::{Bench, message};
use rtems_ioc::ca::{AdmitAll, Peer};
use std::time::Instant;

const KINDS: [&str; 8] =
    ["read", "read-time", "read-string", "read-short", "write", "write-notify", "update", "search"];
/// Requests that are sent again and again.
const BATCH: usize = 1000;
/// Monitors of the one number that changes.
const MONITORS: usize = 10_000;

/// Has `count` messages of one kind processed.
fn run(kind: &str, count: usize) {
    let mut bench = Bench::new(BATCH);
    let sids: Vec<u32> = (0..BATCH).map(|n| bench.create(n)).collect();
    let number = 2.5f64.to_be_bytes();
    let batch = |command, data_type, payload: &[u8]| -> Vec<u8> {
        sids.iter().flat_map(|&sid| message(command, data_type, 1, sid, 5, payload)).collect()
    };
    let requests = match kind {
        "read" => batch(15, 6, &[]),
        "read-time" => batch(15, 20, &[]),
        "read-string" => batch(15, 0, &[]),
        "read-short" => batch(15, 1, &[]),
        "write" => batch(4, 6, &number),
        "write-notify" => batch(19, 6, &number),
        "update" => return updates(&mut bench, sids[0], count),
        "search" => return searches(&mut bench, count),
        _ => panic!("one of {KINDS:?}"),
    };
    for _ in 0..count / BATCH {
        bench.send(&requests);
    }
    let s = bench.server.statistics();
    assert_eq!((s.reads + s.writes) as usize, count / BATCH * BATCH);
    assert_eq!(s.errors, 0);
}

/// One number changes; all of its monitors hear of it.
fn updates(bench: &mut Bench, sid: u32, count: usize) {
    let mut mask = [0; 16];
    mask[13] = 1;
    for id in 0..MONITORS as u32 {
        bench.send(&message(1, 20, 1, sid, id, &mask));
    }
    let first = bench.server.statistics().updates;
    for n in 0..count / MONITORS {
        bench.server.provider_mut().set(0, n as f64);
        while bench.server.poll_changes(&AdmitAll, 0) {}
        bench.drain();
    }
    assert_eq!((bench.server.statistics().updates - first) as usize, count / MONITORS * MONITORS);
}

/// Datagrams of 42 names.
fn searches(bench: &mut Bench, count: usize) {
    let mut datagram = message(0, 1, 13, 77, 0, &[]);
    for n in 0..42 {
        datagram.extend(message(6, 5, 13, n, n, b"n123\0"));
    }
    let mut bytes = 0;
    for _ in 0..count / 42 {
        bench.server.datagram(Peer::default(), &datagram, &AdmitAll, 0, |_, packet| bytes += packet.len());
    }
    assert_eq!(bytes, count / 42 * 1024);
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| !a.starts_with("--"));
    if let (Some(kind), Some(Ok(count))) = (arguments.next(), arguments.next().map(|n| n.parse())) {
        return run(&kind, count);
    }
    println!("{:<14} {:>10}", "message", "ns");
    for kind in KINDS {
        let count = 1_000_000;
        let best = (0..5)
            .map(|_| {
                let start = Instant::now();
                run(kind, count);
                start.elapsed()
            })
            .min()
            .unwrap_or_default();
        println!("{kind:<14} {:>10.1}", best.as_nanos() as f64 / count as f64);
    }
}
