// SPDX-License-Identifier: BSD-2-Clause
//! A CA repeater on a port of its own: passes beacons on to the clients that registered.
//!
//! Every libca client starts a `caRepeater` that outlives it unless one is there already. This one is, and it ends
//! with the test.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::message::{Header, command};

/// A running repeater.
pub struct Repeater {
    port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Repeater {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// If no socket is to be had.
    pub fn start() -> Result<Self, String> {
        let text = |error: std::io::Error| format!("repeater: {error}");
        // Without SO_REUSEADDR: a client that tries to bind this port finds it taken and starts no repeater itself.
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, super::ports::free_port())).map_err(text)?;
        socket.set_read_timeout(Some(Duration::from_millis(50))).map_err(text)?;
        let port = socket.local_addr().map_err(text)?.port();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || serve(&socket, &stopped));
        Ok(Self { port, stop, thread: Some(thread) })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Repeater {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(socket: &UdpSocket, stop: &AtomicBool) {
    let mut clients: Vec<SocketAddr> = Vec::new();
    let mut buffer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        let SocketAddr::V4(peer) = from else { continue };
        let address = u32::from(*peer.ip());
        let Some(mut header) = Header::parse(&buffer[..length]).map(|(header, _)| header) else {
            // An empty datagram registers the clients of very old libraries.
            register(socket, &mut clients, from, address);
            continue;
        };
        if header.command == command::REPEATER_REGISTER {
            register(socket, &mut clients, from, address);
            continue;
        }
        if header.command == command::BEACON {
            if header.p2 == 0 {
                header.p2 = address;
            }
            let beacon = header.bytes();
            clients.retain(|client| socket.send_to(&beacon, client).is_ok());
        }
    }
}

fn register(socket: &UdpSocket, clients: &mut Vec<SocketAddr>, from: SocketAddr, address: u32) {
    if !clients.contains(&from) {
        clients.push(from);
    }
    let confirm = Header { command: command::REPEATER_CONFIRM, p2: address, ..Header::default() };
    let _ = socket.send_to(&confirm.bytes(), from);
}
