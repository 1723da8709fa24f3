// SPDX-License-Identifier: BSD-2-Clause
//! The server of 2005: one client at a time in the calling task, echo or discard.
//!
//! It is for images without room for the service, and for whoever types `tcpecho 8192, 1` at a Cexp prompt.

use alloc::vec::Vec;

use super::Counters;
use crate::os::socket::{Address, Listener, SocketError, Stream};
use crate::os::{Interest, Poller, System};

/// Buffer when nobody says, in bytes.
pub const DEFAULT_BUFFER: usize = 8192;
/// How long one wait lasts before `stop` is looked at, in milliseconds.
const LOOK_MS: u64 = 500;

/// Serves one connection after the other at `port` until `stop` says so; each client's bytes go back to it, or nowhere
/// with `discard`. `ended` hears of each connection that has ended.
pub fn serve<S: System>(
    system: &S,
    port: u16,
    buffer_bytes: usize,
    discard: bool,
    stop: &dyn Fn() -> bool,
    ended: &mut dyn FnMut(Address, &Counters),
) -> Result<(), SocketError> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(buffer_bytes).map_err(|_| SocketError::NoBuffers)?;
    buffer.resize(buffer_bytes, 0);
    let mut poller = system.poller()?;
    let mut listener = system.listen(Address::new(Address::ANY, port), 2)?;
    while !stop() {
        match listener.accept() {
            Ok((mut stream, peer)) => {
                let _ = stream.set_no_delay(true);
                let mut counters = Counters::default();
                let result =
                    converse::<S>(&mut stream, &mut poller, &mut buffer, discard, stop, &mut counters);
                poller.forget(0);
                ended(peer, &counters);
                drop(stream);
                result?;
            }
            // Nobody, or somebody who has gone again.
            Err(
                SocketError::WouldBlock
                | SocketError::Interrupted
                | SocketError::Closed
                | SocketError::NotConnected,
            ) => {
                wait(&mut poller, listener.descriptor(), Interest::READ)?;
            }
            // Somebody will give back a descriptor or a buffer.
            Err(SocketError::TooManyDescriptors | SocketError::NoBuffers) => system.sleep_ms(LOOK_MS),
            Err(other) => {
                poller.forget(0);
                return Err(other);
            }
        }
    }
    poller.forget(0);
    Ok(())
}

/// One connection to its end; only an error of waiting is one of the server.
fn converse<S: System>(
    stream: &mut S::Stream,
    poller: &mut S::Poller,
    buffer: &mut [u8],
    discard: bool,
    stop: &dyn Fn() -> bool,
    counters: &mut Counters,
) -> Result<(), SocketError> {
    poller.forget(0);
    while !stop() {
        let received = match stream.recv(buffer) {
            Ok(0) => return Ok(()),
            Ok(received) => received,
            Err(SocketError::WouldBlock | SocketError::Interrupted | SocketError::NoBuffers) => {
                wait(poller, stream.descriptor(), Interest::READ)?;
                continue;
            }
            Err(_) => return Ok(()),
        };
        counters.received += received as u64;
        counters.reads += 1;
        let mut left = if discard { &[] } else { &buffer[..received] };
        while !left.is_empty() && !stop() {
            match stream.send(left) {
                Ok(sent) => {
                    counters.sent += sent as u64;
                    counters.writes += 1;
                    counters.short_writes += u64::from(sent < left.len());
                    left = &left[sent..];
                }
                Err(SocketError::WouldBlock | SocketError::Interrupted | SocketError::NoBuffers) => {
                    wait(poller, stream.descriptor(), Interest::WRITE)?;
                }
                Err(_) => return Ok(()),
            }
        }
    }
    Ok(())
}

/// Waits for one socket, not for long.
fn wait(poller: &mut impl Poller, descriptor: i32, interest: Interest) -> Result<(), SocketError> {
    poller.watch(0, descriptor, interest)?;
    poller.wait(Some(LOOK_MS))?;
    let mut from = 0;
    while poller.next_ready(&mut from).is_some() {}
    Ok(())
}

#[cfg(all(test, feature = "hosted"))]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::os::hosted::Hosted;

    /// A client that retries until the server listens.
    fn dial(port: u16) -> TcpStream {
        for _ in 0..200 {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                return stream;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("nobody listens on {port}");
    }

    /// Two clients, one after the other; what came back, and what the server counted.
    fn two_clients(discard: bool) -> (Vec<u8>, Vec<Counters>) {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let server = thread::spawn(move || {
            let mut seen = Vec::new();
            let mut ended = |_peer, counters: &Counters| seen.push(*counters);
            serve(&Hosted, port, 100, discard, &|| stopped.load(Ordering::Relaxed), &mut ended).unwrap();
            seen
        });
        let mut got = Vec::new();
        for _ in 0..2 {
            let mut client = dial(port);
            client.write_all(&[7; 1000]).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            client.read_to_end(&mut got).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        (got, server.join().unwrap())
    }

    #[test]
    fn echo_gives_everything_back() {
        let (got, seen) = two_clients(false);
        assert_eq!(got, [7; 2000]);
        assert_eq!(seen.len(), 2);
        assert!(seen.iter().all(|counters| counters.received == 1000 && counters.sent == 1000));
    }

    #[test]
    fn discard_gives_nothing_back() {
        let (got, seen) = two_clients(true);
        assert!(got.is_empty());
        assert!(seen.iter().all(|counters| counters.received == 1000 && counters.sent == 0));
    }
}
