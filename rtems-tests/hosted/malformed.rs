// SPDX-License-Identifier: BSD-2-Clause
//! What port scanners, web clients and damaged clients send: the sender is dropped, the others do not notice.

use std::io::Write;
use std::net::{Ipv4Addr, UdpSocket};

use crate::support::circuit::{Circuit, search};
use crate::support::deadline::PATIENCE;
use crate::support::message::{self, Header, Message, command};
use crate::support::server::Server;
use crate::{KNOWN, Test, ours};

/// Name and function of each test here.
pub const TESTS: &[(&str, Test)] = &[
    ("a_web_client_is_dropped_with_one_line", a_web_client_is_dropped_with_one_line),
    ("a_tls_client_is_dropped_with_one_line", a_tls_client_is_dropped_with_one_line),
    ("noise_is_dropped_with_one_line", noise_is_dropped_with_one_line),
    ("a_claimed_size_allocates_nothing", a_claimed_size_allocates_nothing),
    ("datagrams_of_every_kind_are_survived", datagrams_of_every_kind_are_survived),
    ("a_count_beyond_the_payload_is_refused", a_count_beyond_the_payload_is_refused),
    ("a_half_closed_client_gets_what_it_is_owed", a_half_closed_client_gets_what_it_is_owed),
];

/// 64 kB that look like nothing; the first byte makes an unknown command.
fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = vec![0xff];
    while bytes.len() < 65_536 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.push(state as u8);
    }
    bytes
}

/// The beginning of a TLS 1.2 client hello, as a browser sends it.
fn tls_hello() -> Vec<u8> {
    let mut bytes = vec![0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03];
    bytes.extend(&noise()[1..502]);
    bytes
}

/// Sends `bytes` to the circuit port while another client watches; the sender's own port.
fn dropped(server: &Server, bytes: &[u8]) -> Result<(), String> {
    let port = server.tcp_port(KNOWN)?;
    let mut bystander = Circuit::connect(port)?;
    let channel = bystander.create(KNOWN)?;
    let mark = server.process.mark();
    let mut intruder = Circuit::connect_silently(port)?;
    let own = intruder.stream().local_addr().map_err(|error| error.to_string())?;
    // The server may close while this is still being sent.
    let _ = intruder.stream().write_all(bytes);
    while let Some(message) = intruder.next(PATIENCE)? {
        if ![command::VERSION, command::ERROR].contains(&message.header.command) {
            return Err(format!("answered {message:?}"));
        }
    }
    let peer = own.to_string();
    server.process.wait_for_line(mark, PATIENCE, |line| line.contains(&peer))?;
    let answer = bystander.get(channel, 6, 1)?;
    if answer.header.p1 != message::ECA_NORMAL {
        return Err(format!("the bystander got {answer:?}"));
    }
    let lines = server.process.text().lines().filter(|line| line.contains(&peer)).count();
    if lines == 1 {
        return Ok(());
    }
    Err(format!("{lines} lines about {peer}:\n{}", server.process.text()))
}

fn a_web_client_is_dropped_with_one_line() -> Result<(), String> {
    dropped(&ours()?, b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: scanner/1.0\r\nAccept: */*\r\n\r\n")
}

fn a_tls_client_is_dropped_with_one_line() -> Result<(), String> {
    dropped(&ours()?, &tls_hello())
}

fn noise_is_dropped_with_one_line() -> Result<(), String> {
    dropped(&ours()?, &noise())
}

fn a_claimed_size_allocates_nothing() -> Result<(), String> {
    let server = ours()?;
    let port = server.tcp_port(KNOWN)?;
    let before = resident_bytes(&server)?;
    let mut liars = Vec::new();
    for _ in 0..8 {
        let mut circuit = Circuit::connect(port)?;
        circuit.create(KNOWN)?;
        let header =
            Header { command: command::WRITE, size: 0x7fff_fff8, kind: 6, count: 0x0fff_ffff, p1: 1, p2: 1 };
        // It may be refused at once; what counts is that nothing was allocated for it.
        let _ = circuit.send_bytes(&header.bytes());
        liars.push(circuit);
    }
    let mut other = Circuit::connect(port)?;
    let channel = other.create(KNOWN)?;
    other.get(channel, 6, 1)?;
    let grown = resident_bytes(&server)?.saturating_sub(before);
    if grown < 16 << 20 {
        return Ok(());
    }
    Err(format!("{grown} bytes more after eight empty claims of 2 GiB each"))
}

/// Resident memory of the server.
fn resident_bytes(server: &Server) -> Result<u64, String> {
    crate::support::procfs::resident_bytes(server.process.id())
}

fn datagrams_of_every_kind_are_survived() -> Result<(), String> {
    let server = ours()?;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    let send = |bytes: &[u8]| socket.send_to(bytes, (Ipv4Addr::LOCALHOST, server.site.port)).map(|_| ());
    let mut datagrams = vec![Vec::new(), vec![0], noise()[..1400].to_vec(), noise()[1..15].to_vec()];
    for number in (0..=40).chain([0x00ff, 0x1603, 0x4745, 0xffff]) {
        for size in [0, 8, 40, 0xfffe, 0xffff_fff8] {
            for payload in [0, 8] {
                let header = Header { command: number, size, kind: 5, count: 13, p1: 1, p2: 1 };
                let mut bytes = header.bytes();
                bytes.resize(bytes.len() + payload, b'x');
                datagrams.push(bytes);
            }
        }
    }
    // A name without its terminator, an empty one, and a hundred searches in one datagram.
    datagrams.push(Message::new(command::SEARCH, 5, 13, 1, 1, b"notermin").bytes());
    datagrams.push(Message::new(command::SEARCH, 5, 13, 1, 1, &[0; 8]).bytes());
    datagrams.push(message::search_datagram(1, 1, &["cmp:nothing"; 100]));
    for datagram in &datagrams {
        send(datagram).map_err(|error| error.to_string())?;
        // Each one in turn has been dealt with when this is answered.
        search(server.site.port, KNOWN, PATIENCE)
            .ok_or_else(|| format!("deaf after {:x?}", &datagram[..datagram.len().min(32)]))?;
    }
    Ok(())
}

fn a_count_beyond_the_payload_is_refused() -> Result<(), String> {
    let server = ours()?;
    let mut circuit = Circuit::connect(server.tcp_port(KNOWN)?)?;
    let wave = circuit.create("cmp:wfdouble")?;
    let answer = circuit.put(wave, 6, 1000, &1.0_f64.to_be_bytes())?;
    if answer.header.p1 == message::ECA_NORMAL {
        return Err(format!("accepted: {answer:?}"));
    }
    // A scalar string may be shorter than its forty bytes, an array of strings may not.
    let text = circuit.create("cmp:stringin")?;
    let answer = circuit.put(text, 0, 1, b"short")?;
    if answer.header.p1 != message::ECA_NORMAL {
        return Err(format!("a short scalar string was refused: {answer:?}"));
    }
    let strings = circuit.create("cmp:wfstring")?;
    let answer = circuit.put(strings, 0, 3, b"short")?;
    if answer.header.p1 == message::ECA_NORMAL {
        return Err(format!("accepted: {answer:?}"));
    }
    Ok(())
}

fn a_half_closed_client_gets_what_it_is_owed() -> Result<(), String> {
    let server = ours()?;
    let mut circuit = Circuit::connect(server.tcp_port(KNOWN)?)?;
    let channel = circuit.create(KNOWN)?;
    let request = Message::new(command::READ_NOTIFY, 6, 1, channel.sid, 5, &[]).bytes();
    circuit.send_bytes(&request.repeat(10))?;
    circuit.stream().shutdown(std::net::Shutdown::Write).map_err(|error| error.to_string())?;
    for number in 0..10 {
        let message =
            circuit.next(PATIENCE)?.ok_or_else(|| format!("closed after {number} of 10 replies"))?;
        if message.header.command != command::READ_NOTIFY {
            return Err(format!("{message:?}"));
        }
    }
    match circuit.next(PATIENCE)? {
        None => Ok(()),
        Some(message) => Err(format!("one reply too many: {message:?}")),
    }
}
