// SPDX-License-Identifier: BSD-2-Clause
//! tcpecho: 16 MB there and back, several clients at once.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};

use crate::support::deadline::LONG_PATIENCE;
use crate::{Test, ours};

/// Name and function of each test here.
pub const TESTS: &[(&str, Test)] = &[
    ("tcpecho_returns_16_megabytes", tcpecho_returns_16_megabytes),
    ("tcpecho_serves_several_clients_at_once", tcpecho_serves_several_clients_at_once),
];

fn pattern(length: usize, seed: u32) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_add(seed).wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Sends `bytes` and demands them back, sending and receiving at the same time.
fn round_trip(port: u16, bytes: &[u8]) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(text)?;
    stream.set_read_timeout(Some(LONG_PATIENCE)).map_err(text)?;
    stream.set_write_timeout(Some(LONG_PATIENCE)).map_err(text)?;
    let mut writer = stream.try_clone().map_err(text)?;
    std::thread::scope(|scope| {
        let sender =
            scope.spawn(move || writer.write_all(bytes).and_then(|()| writer.shutdown(Shutdown::Write)));
        let mut back = Vec::new();
        stream.read_to_end(&mut back).map_err(text)?;
        sender.join().map_err(|_| "sender panicked")?.map_err(text)?;
        if back == bytes {
            return Ok(());
        }
        let differ = back.iter().zip(bytes).position(|(a, b)| a != b);
        Err(format!("{} of {} bytes came back, first difference at {differ:?}", back.len(), bytes.len()))
    })
}

fn tcpecho_returns_16_megabytes() -> Result<(), String> {
    round_trip(ours()?.site.echo_port, &pattern(16 << 20, 0))
}

fn tcpecho_serves_several_clients_at_once() -> Result<(), String> {
    let server = ours()?;
    let port = server.site.echo_port;
    // One client that never speaks must not keep the others waiting.
    let _idle = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(|error| error.to_string())?;
    std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..4).map(|seed| scope.spawn(move || round_trip(port, &pattern(1 << 20, seed)))).collect();
        for client in clients {
            client.join().map_err(|_| "client panicked")??;
        }
        Ok(())
    })
}
