// SPDX-License-Identifier: BSD-2-Clause
//! Datagrams to the search port. Input: for each datagram two bytes of length, big-endian, and as many bytes as there are.
use rtems_ioc::ca::{AdmitAll, Peer};

/// One input.
pub fn run(input: &[u8]) {
    let mut server = crate::served::server();
    let mut rest = input;
    let mut now = 0;
    while let Some((length, tail)) = rest.split_first_chunk::<2>() {
        let (datagram, tail) = tail.split_at(tail.len().min(u16::from_be_bytes(*length).into()));
        rest = tail;
        now += 1;
        let from = Peer { address: 0x7f00_0001, port: 4000 };
        server.datagram(from, datagram, &AdmitAll, now, |to, packet| {
            // Never to anybody else, never longer than a client's buffer, always whole messages.
            assert_eq!((to.address, to.port), (from.address, from.port));
            assert!(packet.len() <= 1024 && packet.len() % 8 == 0 && packet.len() >= 16);
        });
    }
    assert_eq!(server.statistics().circuits, 0);
}
