// SPDX-License-Identifier: BSD-2-Clause
//! Ports of 127.0.0.1 that nobody uses.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};

/// The range to choose from lies below the ports that the kernel gives to outgoing connections, so that a port found
/// free here is not taken by chance before the server binds it.
const FIRST: u16 = 10_000;
const COUNT: u16 = 20_000;

/// A port number that is free for UDP and for TCP, chosen at random.
pub fn free_port() -> u16 {
    free_ports(1)
}

/// The first of `count` successive free port numbers.
///
/// # Panics
/// If there are none at a thousand random places.
pub fn free_ports(count: u16) -> u16 {
    for attempt in 0..1000_u32 {
        let random = RandomState::new().hash_one(attempt);
        let first = FIRST + (random % u64::from(COUNT)) as u16;
        if (first..first + count).all(is_free) {
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
