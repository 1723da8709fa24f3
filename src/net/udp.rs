// SPDX-License-Identifier: BSD-2-Clause
//! The UDP side: name searches come in, answers and beacons go out.

use alloc::vec::Vec;

use super::circuits::Circuits;
use super::plan::{BeaconTarget, Plan};
use super::server::OpenError;
use super::settings::Settings;
use crate::ca::{self, Admission, Provider};
use crate::os::socket::{Address, Datagram, DatagramOptions, SocketError, Stream};
use crate::os::{Interest, Poller, System};

/// Room for searches while the task does something else: at 1024 bytes each, those of 2600 names.
const RECEIVE_BUFFER: u32 = 256 << 10;
/// Largest datagram looked at. Clients send at most 1024 bytes at a time.
const LARGEST_DATAGRAM: usize = 16 << 10;
/// Datagrams per socket and turn.
const DATAGRAMS_PER_TURN: usize = 64;

struct Endpoint<T> {
    socket: T,
    reply_from: usize,
    /// There may be datagrams: not every poller would report them again.
    unread: bool,
}

struct Target {
    to: BeaconTarget,
    /// The last error that was logged, so that each is logged once.
    failing: Option<SocketError>,
}

/// All UDP sockets; the token of each is its index.
pub struct Endpoints<T> {
    sockets: Vec<Endpoint<T>>,
    targets: Vec<Target>,
    ignore: Vec<u32>,
    buffer: Vec<u8>,
}

impl<T> Default for Endpoints<T> {
    fn default() -> Self {
        Endpoints { sockets: Vec::new(), targets: Vec::new(), ignore: Vec::new(), buffer: Vec::new() }
    }
}

impl<T: Datagram> Endpoints<T> {
    /// Opens what the plan says and registers it.
    pub fn open<S: System<Datagram = T>>(
        system: &S,
        plan: &Plan,
        settings: &Settings,
        poller: &mut S::Poller,
    ) -> Result<Self, OpenError> {
        let mut endpoints = Endpoints::default();
        endpoints.buffer.try_reserve_exact(LARGEST_DATAGRAM).map_err(|_| OpenError::Memory)?;
        endpoints.buffer.resize(LARGEST_DATAGRAM, 0);
        let options = DatagramOptions {
            shared: true,
            broadcast: true,
            receive_buffer: RECEIVE_BUFFER,
            multicast_ttl: settings.multicast_ttl,
        };
        for endpoint in &plan.endpoints {
            // With port 0 the first one finds out which port it is.
            let port = endpoints.port().unwrap_or(settings.port);
            let at = Address::new(endpoint.bind, port);
            let socket = system.datagram(at, options).map_err(|error| OpenError::Udp(at, error))?;
            endpoints.sockets.push(Endpoint { socket, reply_from: endpoint.reply_from, unread: false });
        }
        for membership in &plan.memberships {
            let group = Address::new(membership.group, settings.port);
            endpoints.sockets[membership.endpoint]
                .socket
                .join(membership.group, membership.interface)
                .map_err(|error| OpenError::Group(group, error))?;
        }
        for (token, endpoint) in endpoints.sockets.iter().enumerate() {
            let watched = poller.watch(token, endpoint.socket.descriptor(), Interest::READ);
            watched.map_err(|error| OpenError::Udp(endpoint.socket.local(), error))?;
        }
        endpoints.targets = plan.beacons.iter().map(|&to| Target { to, failing: None }).collect();
        endpoints.ignore.clone_from(&settings.ignore);
        Ok(endpoints)
    }

    /// Number of sockets, and of the tokens they take.
    pub fn count(&self) -> usize {
        self.sockets.len()
    }

    /// The UDP port of them all.
    pub fn port(&self) -> Option<u16> {
        self.sockets.first().map(|endpoint| endpoint.socket.local().port)
    }

    /// Where they are bound.
    pub fn local(&self) -> impl Iterator<Item = Address> + '_ {
        self.sockets.iter().map(|endpoint| endpoint.socket.local())
    }

    /// Destinations of beacons.
    pub fn beacon_targets(&self) -> impl Iterator<Item = Address> + '_ {
        self.targets.iter().map(|target| target.to.to)
    }

    /// Sends one beacon to each destination.
    pub fn send_beacon(&mut self, beacon: &[u8; 16]) {
        for target in &mut self.targets {
            let Some(endpoint) = self.sockets.get_mut(target.to.from) else { continue };
            let result = endpoint.socket.send_to(beacon, target.to.to);
            // No room and no buffers are over by the next beacon.
            let passing = [SocketError::WouldBlock, SocketError::NoBuffers];
            let failing = result.err().filter(|error| !passing.contains(error));
            if failing != target.failing {
                match failing {
                    Some(error) => log::warn!("beacon to {}: {error}", target.to.to),
                    None => log::info!("beacon to {}: works again", target.to.to),
                }
                target.failing = failing;
            }
        }
    }

    /// The poller found a socket ready.
    pub fn ready(&mut self, token: usize) {
        if let Some(endpoint) = self.sockets.get_mut(token) {
            endpoint.unread = true;
        }
    }

    /// There are datagrams left that no poller would report again.
    pub fn has_unread(&self) -> bool {
        self.sockets.iter().any(|endpoint| endpoint.unread)
    }

    /// Answers the searches that wait. `exhausted` are the circuits if no further one can be accepted: then only those
    /// are answered who have one, since the others could not connect and would be stuck with us.
    pub fn answer<P: Provider, A: Admission, C: Stream>(
        &mut self,
        protocol: &mut ca::Server<P>,
        admission: &A,
        exhausted: Option<&Circuits<C>>,
        now: u64,
    ) {
        for token in 0..self.sockets.len() {
            for _ in 0..DATAGRAMS_PER_TURN {
                if !self.sockets[token].unread {
                    break;
                }
                self.answer_one(token, protocol, admission, exhausted, now);
            }
        }
    }

    fn answer_one<P: Provider, A: Admission, C: Stream>(
        &mut self,
        token: usize,
        protocol: &mut ca::Server<P>,
        admission: &A,
        exhausted: Option<&Circuits<C>>,
        now: u64,
    ) {
        let endpoint = &mut self.sockets[token];
        let reply_from = endpoint.reply_from;
        let (length, from) = match endpoint.socket.recv_from(&mut self.buffer) {
            Ok(received) => received,
            Err(SocketError::WouldBlock) => {
                endpoint.unread = false;
                return;
            }
            // A signal came first, or the stack reports that an earlier answer reached nobody.
            Err(SocketError::Interrupted | SocketError::Refused | SocketError::Closed) => return,
            // No buffers, or worse: wait for the socket instead of asking it again and again. Clients repeat searches.
            Err(_) => {
                endpoint.unread = false;
                return;
            }
        };
        let ignored = self.ignore.contains(&from.ip);
        if ignored || exhausted.is_some_and(|circuits| !circuits.has_peer(protocol, from.ip)) {
            return;
        }
        let peer = ca::Peer { address: from.ip, port: from.port };
        let replier = &mut self.sockets[reply_from].socket;
        protocol.datagram(peer, &self.buffer[..length], admission, now, |to, packet| {
            // A reply that the stack does not take is as good as lost on the way: the client asks again.
            let _ = replier.send_to(packet, Address::new(to.address, to.port));
        });
    }

    /// Closes them all.
    pub fn close(self, poller: &mut impl Poller) {
        for token in 0..self.sockets.len() {
            poller.forget(token);
        }
    }
}
