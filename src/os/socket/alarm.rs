// SPDX-License-Identifier: BSD-2-Clause
//! Waking a task that waits for sockets: a byte on a loopback UDP socket that is connected to itself.
//!
//! It works wherever sockets do. A pipe would not: under libbsd poll reports errors on pipes, and spins.

use alloc::sync::Arc;

use super::bsd::BsdDatagram;
use super::{Address, Datagram, DatagramOptions, Descriptor, SocketError};
use crate::os::Wake;

/// The side that waits.
pub struct Alarm(Arc<BsdDatagram>);

impl Alarm {
    /// A socket of its own.
    pub fn new() -> Result<Alarm, SocketError> {
        let options =
            DatagramOptions { shared: false, broadcast: false, receive_buffer: 0, multicast_ttl: 1 };
        let socket = BsdDatagram::open(Address::new(Address::LOOPBACK, 0), options)?;
        socket.connect_to_itself()?;
        Ok(Alarm(Arc::new(socket)))
    }

    /// What to wait for.
    pub fn descriptor(&self) -> Descriptor {
        self.0.descriptor()
    }

    /// Takes all pending wake-ups.
    pub fn silence(&self) {
        let mut buffer = [0; 16];
        while self.0.recv_connected(&mut buffer).is_ok() {}
    }

    /// The side that wakes.
    pub fn waker(&self) -> SocketWaker {
        SocketWaker(Arc::clone(&self.0))
    }
}

/// Wakes whoever waits for the [`Alarm`].
pub struct SocketWaker(Arc<BsdDatagram>);

impl Wake for SocketWaker {
    fn wake(&self) {
        // A full socket buffer means that enough wake-ups are pending already.
        let _ = self.0.send_connected(&[1]);
    }
}
