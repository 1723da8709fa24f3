// SPDX-License-Identifier: BSD-2-Clause
//! Plain echo, discard and source services with the manners of a BSD stack, for the other end of a line.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// How the peer behaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manners {
    /// Nagle's algorithm stays on, and an answer that needs two mbufs leaves in two pieces.
    pub nagle: bool,
    /// The discard service holds its acknowledgements back, as a BSD stack does whatever comes.
    pub late_acks: bool,
    /// The discard service rests so long after each read.
    pub rest: Duration,
    /// SO_RCVBUF of the services, bytes; 0 leaves it to the kernel.
    pub receive_buffer: usize,
}

/// Bytes in the first mbuf of a BSD stack, and from where on a cluster holds the whole message.
const ONE_MBUF: usize = 100;
const CLUSTER: usize = 208;
const BUFFER: usize = 10_000;
/// Reads below this are of lone writes; how long the next one then waits: longer than Linux's timer of 40 ms.
const LONE: usize = 16;
const LATE: Duration = Duration::from_millis(60);

/// Starts the three services on ports 4445 to 4447 of this thread's namespace. Their threads end with the process.
pub fn start(manners: Manners) -> std::io::Result<()> {
    let serve: [fn(TcpStream, Manners) -> std::io::Result<()>; 3] = [echo, discard, source];
    for (port, serve) in (4445_u16..).zip(serve) {
        let listener = TcpListener::bind(("0.0.0.0", port))?;
        if manners.receive_buffer > 0 {
            super::set_receive_buffer(&listener, manners.receive_buffer)?;
        }
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Connections that break are the test's own doing.
                std::thread::spawn(move || serve(stream, manners));
            }
        });
    }
    Ok(())
}

fn echo(mut stream: TcpStream, manners: Manners) -> std::io::Result<()> {
    stream.set_nodelay(!manners.nagle)?;
    let mut buffer = [0; BUFFER];
    loop {
        let bytes = stream.read(&mut buffer)?;
        if bytes == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..bytes];
        if manners.nagle && (ONE_MBUF + 1..CLUSTER).contains(&bytes) {
            stream.write_all(&rest[..ONE_MBUF])?;
            rest = &rest[ONE_MBUF..];
        }
        stream.write_all(rest)?;
    }
}

fn discard(mut stream: TcpStream, manners: Manners) -> std::io::Result<()> {
    let mut buffer = [0; BUFFER];
    loop {
        if manners.late_acks {
            // Linux forgets it now and then.
            super::hold_acknowledgements(&stream)?;
        }
        let bytes = stream.read(&mut buffer)?;
        if bytes == 0 {
            return Ok(());
        }
        // A read would give an acknowledgement before its time.
        std::thread::sleep(if manners.late_acks && bytes < LONE { LATE } else { manners.rest });
    }
}

fn source(mut stream: TcpStream, _: Manners) -> std::io::Result<()> {
    let mut word = 0_u32;
    let mut buffer = [0; BUFFER];
    loop {
        for place in buffer.chunks_exact_mut(4) {
            place.copy_from_slice(&word.to_be_bytes());
            word = word.wrapping_add(1);
        }
        stream.write_all(&buffer)?;
    }
}
