// SPDX-License-Identifier: BSD-2-Clause
//! The bytes of two circuits. Input: pieces of one length byte and as many bytes; a length of 0 is followed by an order: another
//! circuit speaks, a client stops or starts to read, time goes on, a client ends.
use crate::served::{LIMITS, Unknown};
use rtems_ioc::ca::{AdmitAll, CircuitId, Peer, Server};
use rtems_ioc::net::provider::Served;

/// Longer than the server waits for a client that does not read.
const STUCK_MS: u64 = 700_000;

struct Client {
    circuit: CircuitId,
    reads: bool,
}

fn accept(server: &mut Server<Served<Unknown>>, port: u16, now: u64) -> Client {
    let peer = Peer { address: 0x7f00_0001, port };
    let circuit = server.accept(peer, &AdmitAll, now).expect("there is room for two");
    Client { circuit, reads: true }
}

/// Sends `bytes` as a socket would: as much at a time as the server has room for.
fn send(server: &mut Server<Served<Unknown>>, clients: &[Client; 2], who: usize, mut bytes: &[u8], now: u64) {
    loop {
        let room = server.receive_buffer(clients[who].circuit);
        let n = room.len().min(bytes.len());
        room[..n].copy_from_slice(&bytes[..n]);
        bytes = &bytes[n..];
        if n > 0 {
            server.received(clients[who].circuit, n, &AdmitAll, now);
        }
        settle(server, clients, now);
        if n == 0 {
            // The client does not read, is to be dropped, or all has gone.
            return;
        }
    }
}

/// Moves bytes until nothing moves any more.
fn settle(server: &mut Server<Served<Unknown>>, clients: &[Client; 2], now: u64) {
    let mut moving = true;
    while moving {
        moving = server.poll_changes(&AdmitAll, now);
        while server.next_ready().is_some() {}
        for client in clients {
            let unsent = server.output(client.circuit).len();
            assert!(unsent <= LIMITS.max_array_bytes as usize + 4096);
            if client.reads && unsent > 0 {
                server.sent(client.circuit, unsent, now);
                moving = true;
            }
            if server.state(client.circuit).has_work {
                server.resume(client.circuit, &AdmitAll, now);
                moving = true;
            }
        }
    }
}

/// One input.
pub fn run(input: &[u8]) {
    let mut server = crate::served::server();
    let mut now = 0;
    let mut clients = [accept(&mut server, 4000, now), accept(&mut server, 4001, now)];
    let mut who = 0;
    let mut rest = input;
    while let Some((&length, tail)) = rest.split_first() {
        let (piece, tail) = tail.split_at(tail.len().min(usize::from(length).max(1)));
        rest = tail;
        if length > 0 {
            send(&mut server, &clients, who, piece, now);
            continue;
        }
        match piece.first().map_or(0, |order| order % 6) {
            0 => who = 1 - who,
            1 => clients[who].reads = !clients[who].reads,
            2 => now += 1_000,
            3 => now += STUCK_MS,
            4 => server.peer_closed(clients[who].circuit, &AdmitAll, now),
            _ => {
                server.close(clients[who].circuit);
                clients[who] = accept(&mut server, 4002, now);
            }
        }
        server.tick(now);
        settle(&mut server, &clients, now);
    }
    for client in clients {
        server.close(client.circuit);
    }
    let s = server.statistics();
    assert_eq!((s.circuits, s.channels, s.monitors, s.puts_in_progress), (0, 0, 0, 0));
}
