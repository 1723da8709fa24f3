// SPDX-License-Identifier: BSD-2-Clause
//! A raw client: bytes on sockets, as much of Channel Access as these tests need.

use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// One message as it came.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Message {
    pub command: u16,
    pub data_type: u16,
    pub count: u16,
    pub p1: u32,
    pub p2: u32,
    pub payload: Vec<u8>,
}

pub const VERSION: u16 = 0;
pub const SEARCH: u16 = 6;
pub const BEACON: u16 = 13;
pub const READ_NOTIFY: u16 = 15;
pub const CREATE_CHAN: u16 = 18;
pub const DOUBLE: u16 = 6;

pub fn message(command: u16, data_type: u16, count: u16, p1: u32, p2: u32, payload: &[u8]) -> Vec<u8> {
    let padded = payload.len().div_ceil(8) * 8;
    let mut bytes = Vec::new();
    for field in [command, padded as u16, data_type, count] {
        bytes.extend_from_slice(&field.to_be_bytes());
    }
    bytes.extend_from_slice(&p1.to_be_bytes());
    bytes.extend_from_slice(&p2.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes.resize(16 + padded, 0);
    bytes
}

/// Takes one message off the front of what was received.
pub fn parse(bytes: &mut Vec<u8>) -> Option<Message> {
    let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    if bytes.len() < 16 || bytes.len() < 16 + usize::from(word(2)) {
        return None;
    }
    let long = |at: usize| u32::from(word(at)) << 16 | u32::from(word(at + 2));
    let end = 16 + usize::from(word(2));
    let message = Message {
        command: word(0),
        data_type: word(4),
        count: word(6),
        p1: long(8),
        p2: long(12),
        payload: bytes[16..end].to_vec(),
    };
    bytes.drain(..end);
    Some(message)
}

/// A circuit.
pub struct Circuit {
    pub stream: TcpStream,
    received: Vec<u8>,
}

impl Circuit {
    pub fn connect(port: u16) -> io::Result<Circuit> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut circuit = Circuit { stream, received: Vec::new() };
        circuit.stream.write_all(&message(VERSION, 0, 13, 0, 0, &[]))?;
        Ok(circuit)
    }

    /// The next message; an error when the server has closed or 20 s have passed.
    pub fn next(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = parse(&mut self.received) {
                return Ok(message);
            }
            let mut buffer = [0; 65536];
            match self.stream.read(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => self.received.extend_from_slice(&buffer[..n]),
            }
        }
    }

    pub fn wait_for(&mut self, command: u16) -> io::Result<Message> {
        loop {
            let message = self.next()?;
            if message.command == command {
                return Ok(message);
            }
        }
    }

    /// Creates a channel and returns the server's number for it.
    pub fn channel(&mut self, name: &str) -> io::Result<u32> {
        let mut text = name.as_bytes().to_vec();
        text.push(0);
        self.stream.write_all(&message(CREATE_CHAN, 0, 0, 1, 13, &text))?;
        Ok(self.wait_for(CREATE_CHAN)?.p2)
    }

    /// A synchronous get of one double.
    pub fn get(&mut self, sid: u32, id: u32) -> io::Result<f64> {
        self.stream.write_all(&message(READ_NOTIFY, DOUBLE, 1, sid, id, &[]))?;
        let reply = self.wait_for(READ_NOTIFY)?;
        assert_eq!((reply.p1, reply.p2), (1, id));
        Ok(f64::from_be_bytes(reply.payload[..8].try_into().unwrap()))
    }
}

/// Searches for a name by UDP; the TCP port that the answer gives.
pub fn search(socket: &UdpSocket, port: u16, name: &str, wait: Duration) -> Option<u16> {
    let mut text = name.as_bytes().to_vec();
    text.push(0);
    let mut datagram = message(VERSION, 1, 13, 77, 0, &[]);
    datagram.extend(message(SEARCH, 5, 13, 5, 5, &text));
    socket.send_to(&datagram, ("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(wait)).unwrap();
    let deadline = Instant::now() + wait;
    let mut buffer = [0; 2048];
    while Instant::now() < deadline {
        let Ok(n) = socket.recv(&mut buffer) else { return None };
        let mut bytes = buffer[..n].to_vec();
        while let Some(message) = parse(&mut bytes) {
            if message.command == SEARCH && message.p2 == 5 {
                return Some(message.data_type);
            }
        }
    }
    None
}
