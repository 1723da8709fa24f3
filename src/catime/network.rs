// SPDX-License-Identifier: BSD-2-Clause
//! What the client needs of the network, and the sockets that give it.

use crate::os::socket::{Address, Datagram, DatagramOptions, Descriptor, SocketError, Stream};
use crate::os::{Interest, Poller, System};
use alloc::string::String;
use alloc::vec::Vec;

/// Bytes of socket buffer wanted for search replies: 64 datagrams may come at once.
const SEARCH_BUFFER: u32 = 256 * 1024;

/// The network under the client.
pub trait Network {
    /// A connection.
    type Stream: Stream;

    /// As [`Poller::TELLS_STATE`] of what [`Network::wait`] uses.
    const TELLS_STATE: bool;

    /// Monotonic time, nanoseconds.
    fn now_ns(&self) -> u64;

    /// Starts a connection.
    fn connect(&mut self, to: Address) -> Result<Self::Stream, SocketError>;

    /// Sends a search datagram to every address that is to be searched.
    fn search(&mut self, datagram: &[u8]) -> Result<(), SocketError>;

    /// Takes a search reply that has come.
    fn reply(&mut self, buffer: &mut [u8]) -> Result<(usize, Address), SocketError>;

    /// Waits for a search reply or any of the circuits, or until the time is over; may return early.
    fn wait(
        &mut self,
        circuits: &[(Descriptor, Interest)],
        timeout_ms: Option<u64>,
    ) -> Result<(), SocketError>;

    /// User and host name, for the server's access rules.
    fn identity(&self) -> (&str, &str);
}

/// Sockets of an operating system.
pub struct Sockets<S: System> {
    system: S,
    search: S::Datagram,
    poller: S::Poller,
    /// What each place of the poller waits for now; place 0 is the search socket.
    watched: Vec<(Descriptor, Interest)>,
    addresses: Vec<Address>,
    user: String,
    host: String,
}

impl<S: System> Sockets<S> {
    /// Opens the search socket. `addresses` are searched, host or broadcast.
    pub fn open(
        system: S,
        addresses: Vec<Address>,
        user: String,
        host: String,
    ) -> Result<Sockets<S>, SocketError> {
        let options = DatagramOptions {
            shared: false,
            broadcast: true,
            receive_buffer: SEARCH_BUFFER,
            multicast_ttl: 1,
        };
        let search = system.datagram(Address::new(Address::ANY, 0), options)?;
        let mut poller = system.poller()?;
        poller.watch(0, search.descriptor(), Interest::READ)?;
        Ok(Sockets { system, search, poller, watched: Vec::new(), addresses, user, host })
    }
}

impl<S: System> Network for Sockets<S> {
    type Stream = S::Stream;
    const TELLS_STATE: bool = S::Poller::TELLS_STATE;

    fn now_ns(&self) -> u64 {
        self.system.monotonic_ns()
    }

    fn connect(&mut self, to: Address) -> Result<S::Stream, SocketError> {
        let mut stream = self.system.connect(to)?;
        stream.set_no_delay(true)?;
        stream.set_keep_alive(true)?;
        Ok(stream)
    }

    fn search(&mut self, datagram: &[u8]) -> Result<(), SocketError> {
        let mut result = Ok(());
        for &address in &self.addresses {
            match self.search.send_to(datagram, address) {
                // Lost like any datagram: it is sent again.
                Ok(()) | Err(SocketError::WouldBlock | SocketError::NoBuffers | SocketError::Interrupted) => {
                }
                // A server that is down answers a directed search with a refusal; the others may know the name.
                Err(SocketError::Refused | SocketError::Closed) => {}
                Err(error) => result = Err(error),
            }
        }
        result
    }

    fn reply(&mut self, buffer: &mut [u8]) -> Result<(usize, Address), SocketError> {
        self.search.recv_from(buffer)
    }

    fn wait(
        &mut self,
        circuits: &[(Descriptor, Interest)],
        timeout_ms: Option<u64>,
    ) -> Result<(), SocketError> {
        for (index, &(descriptor, interest)) in circuits.iter().enumerate() {
            match self.watched.get_mut(index) {
                Some(place) if *place == (descriptor, interest) => continue,
                Some(place) => *place = (descriptor, interest),
                None => {
                    self.watched.try_reserve(1).map_err(|_| SocketError::NoBuffers)?;
                    self.watched.push((descriptor, interest));
                }
            }
            self.poller.watch(index + 1, descriptor, interest)?;
        }
        self.poller.wait(timeout_ms)
    }

    fn identity(&self) -> (&str, &str) {
        (&self.user, &self.host)
    }
}
