// SPDX-License-Identifier: BSD-2-Clause
//! Ports of 127.0.0.1 that nobody uses.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::{Mutex, PoisonError};

/// The range to choose from lies below the ports that the kernel gives to outgoing connections, so that a port found
/// free here is not taken by chance before the server binds it.
const FIRST: u16 = 10_000;
const COUNT: u16 = 20_000;

/// A port number that is free for UDP and for TCP, chosen at random.
pub fn free_port() -> u16 {
    free_ports(1)
}

/// What this program has chosen already: whoever asked may not have bound it yet.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// The first of `count` successive free port numbers, none of which was given before.
///
/// # Panics
/// If there are none at a thousand random places.
pub fn free_ports(count: u16) -> u16 {
    for attempt in 0..1000_u32 {
        let random = RandomState::new().hash_one(attempt);
        let first = FIRST + (random % u64::from(COUNT)) as u16;
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        if (first..first + count).all(|port| !given.contains(&port) && is_free(port)) {
            given.extend(first..first + count);
            return first;
        }
    }
    panic!("no free port on 127.0.0.1");
}

fn is_free(port: u16) -> bool {
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, port));
    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    udp.is_ok() && tcp.is_ok()
}
