// SPDX-License-Identifier: BSD-2-Clause
//! The Channel Access server on sockets: what its task does in one turn.
//!
//! Beacons go out first, whatever else there is to do; then name searches; then new clients; then circuits, each with a
//! byte budget and in the order of their priority. Every call on a socket is non-blocking and comes first; the poller
//! is asked only about sockets that had nothing more to give or take.

use alloc::vec::Vec;
use core::fmt;

use super::acceptor::Acceptor;
use super::circuits::Circuits;
use super::clocked::Clocked;
use super::plan::Plan;
use super::service::Machine;
use super::settings::Settings;
use super::udp::Endpoints;
use crate::ca::{self, Admission};
use crate::os::socket::{Address, Listener, SocketError};
use crate::os::{Interface, Poller, System};

/// Waiting connections that the stack may hold: a whole control room reconnects at once after a reboot.
const BACKLOG: u16 = 128;
/// New clients per turn.
const ACCEPTS_PER_TURN: usize = 32;
/// Tries to find a TCP port that is free on every interface.
const PORT_TRIES: usize = 8;

/// Why the server could not open its sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// No UDP socket for name searches.
    Udp(Address, SocketError),
    /// No TCP socket for circuits.
    Tcp(Address, SocketError),
    /// A multicast group could not be joined.
    Group(Address, SocketError),
    /// The interfaces could not be listed.
    Interfaces(SocketError),
    /// No memory for the tables.
    Memory,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Udp(at, error) => write!(f, "UDP {at}: {error}"),
            OpenError::Tcp(at, error) => write!(f, "TCP {at}: {error}"),
            OpenError::Group(at, error) => write!(f, "cannot join multicast group {at}: {error}"),
            OpenError::Interfaces(error) => write!(f, "cannot list the interfaces: {error}"),
            OpenError::Memory => f.write_str("no memory"),
        }
    }
}

/// The protocol, the sockets and who is behind them.
pub struct Server<S: System, P: Clocked, A: Admission> {
    system: S,
    protocol: ca::Server<P>,
    admission: A,
    acceptors: Vec<Acceptor<S::Listener>>,
    endpoints: Endpoints<S::Datagram>,
    circuits: Circuits<S::Stream>,
    /// When the process variables hear of the next second.
    next_second: u64,
}

impl<S: System, P: Clocked, A: Admission> Server<S, P, A> {
    /// A server that has no sockets yet.
    pub fn new(system: S, protocol: ca::Server<P>, admission: A) -> Self {
        Server {
            system,
            protocol,
            admission,
            acceptors: Vec::new(),
            endpoints: Endpoints::default(),
            circuits: Circuits::default(),
            next_second: 0,
        }
    }

    /// The protocol with its process variables and statistics.
    pub fn protocol(&self) -> &ca::Server<P> {
        &self.protocol
    }

    /// The same, to change values; wake the service afterwards.
    pub fn protocol_mut(&mut self) -> &mut ca::Server<P> {
        &mut self.protocol
    }

    /// Where it listens for circuits; empty while it does not run.
    pub fn listening(&self) -> impl Iterator<Item = Address> + '_ {
        self.acceptors.iter().map(Acceptor::local)
    }

    /// Where it hears name searches; empty while it does not run.
    pub fn searchable(&self) -> impl Iterator<Item = Address> + '_ {
        self.endpoints.local()
    }

    /// A client waits for a descriptor: at the system's limit.
    pub fn is_exhausted(&self) -> bool {
        self.acceptors.iter().any(Acceptor::is_exhausted)
    }

    /// Destinations of beacons.
    pub fn beacon_targets(&self) -> impl Iterator<Item = Address> + '_ {
        self.endpoints.beacon_targets()
    }

    fn accept(&mut self, index: usize, poller: &mut S::Poller, now: u64) {
        for _ in 0..ACCEPTS_PER_TURN {
            let Some((stream, peer)) = self.acceptors[index].accept(now, poller) else { return };
            let from = ca::Peer { address: peer.ip, port: peer.port };
            // The protocol has logged a refusal; dropping the stream closes it.
            let Ok(id) = self.protocol.accept(from, &self.admission, now) else { continue };
            self.circuits.add(&mut self.protocol, id, stream, poller);
        }
    }

    /// There is work left that no poller would report again.
    fn has_more(&self) -> bool {
        self.protocol.has_ready()
            || self.circuits.has_unread()
            || self.endpoints.has_unread()
            || self.acceptors.iter().any(Acceptor::is_ready)
    }

    /// What the process variables have to know before anybody reads or writes them.
    fn tell_time(&mut self, now: u64) {
        let statistics = *self.protocol.statistics();
        let provider = self.protocol.provider_mut();
        provider.begin_turn(self.system.wall(), now);
        provider.count(&statistics);
        if now >= self.next_second {
            provider.second();
            self.next_second = now + 1000;
        }
    }

    /// Earliest time at which something is due without a socket becoming ready.
    fn deadline(&self) -> Option<u64> {
        let acceptors = self.acceptors.iter().filter_map(Acceptor::retry_at);
        // Nobody is there to see a value change by itself unless there is a subscription.
        let second = (self.protocol.statistics().monitors > 0).then_some(self.next_second);
        let protocol = self.protocol.next_deadline();
        let provider = self.protocol.provider().deadline();
        acceptors.chain(protocol).chain(self.circuits.paused_until()).chain(second).chain(provider).min()
    }
}

impl<S: System, P, A> Machine<S> for Server<S, P, A>
where
    P: Clocked + Send + 'static,
    A: Admission + Send + 'static,
{
    type Options = Settings;
    type Error = OpenError;

    fn open(&mut self, system: &S, poller: &mut S::Poller, settings: Settings) -> Result<(), OpenError> {
        let mut present: Vec<Interface> = Vec::new();
        system.interfaces(&mut |interface| present.push(interface)).map_err(OpenError::Interfaces)?;
        let plan = Plan::new(&settings, &present);
        let endpoints = Endpoints::open(system, &plan, &settings, poller)?;
        let port = endpoints.port().unwrap_or(settings.port);
        let first_token = endpoints.count();
        let acceptors = match listen_everywhere(
            system,
            &plan.listeners,
            port,
            !settings.port_required,
            first_token,
            poller,
        ) {
            Ok(acceptors) => acceptors,
            Err(error) => {
                endpoints.close(poller);
                return Err(error);
            }
        };
        let tcp_port = acceptors.first().map_or(port, |acceptor| acceptor.local().port);
        if tcp_port != port {
            log::warn!(
                "TCP port {port} is taken: using {tcp_port}. Two servers now share UDP port {port}; a client that \
                 searches this host by its own address may reach only one of them"
            );
        }
        self.circuits = Circuits::after(first_token + acceptors.len());
        self.endpoints = endpoints;
        self.acceptors = acceptors;
        self.protocol.started(tcp_port, settings.beacon_period_ms);
        Ok(())
    }

    fn turn(&mut self, poller: &mut S::Poller, now: u64) -> Option<u64> {
        if let Some(beacon) = self.protocol.beacon(now) {
            self.endpoints.send_beacon(&beacon);
        }
        self.tell_time(now);
        let mut from = 0;
        while let Some((token, readiness)) = poller.next_ready(&mut from) {
            let searches = self.endpoints.count();
            if token < searches {
                self.endpoints.ready(token);
            } else if let Some(acceptor) = self.acceptors.get_mut(token - searches) {
                acceptor.ready();
            } else {
                self.circuits.ready(token, readiness);
            }
        }
        let exhausted = self.is_exhausted().then_some(&self.circuits);
        self.endpoints.answer(&mut self.protocol, &self.admission, exhausted, now);
        for index in 0..self.acceptors.len() {
            if self.acceptors[index].wants_accept(now) {
                self.accept(index, poller, now);
            }
        }
        // Rules that were changed since the last turn hold for the requests of this one.
        self.protocol.poll_notices();
        let mut closed = self.circuits.receive(&mut self.protocol, &self.admission, poller, now);
        self.protocol.poll_changes(&self.admission, now);
        self.protocol.tick(now);
        closed |= self.circuits.serve(&mut self.protocol, &self.admission, poller, now);
        if closed {
            self.acceptors.iter_mut().for_each(Acceptor::descriptor_freed);
        }
        if self.has_more() {
            return Some(0);
        }
        self.deadline().map(|deadline| deadline.saturating_sub(now))
    }

    fn close(&mut self, poller: &mut S::Poller) {
        self.circuits.close_all(&mut self.protocol, poller);
        for acceptor in self.acceptors.drain(..) {
            poller.forget(acceptor.token());
        }
        core::mem::take(&mut self.endpoints).close(poller);
    }
}

/// Listens on every address, all on one port: the wanted one if it is free on all of them, else any that is if another
/// one will do.
fn listen_everywhere<S: System>(
    system: &S,
    addresses: &[u32],
    port: u16,
    another_will_do: bool,
    first_token: usize,
    poller: &mut S::Poller,
) -> Result<Vec<Acceptor<S::Listener>>, OpenError> {
    let mut port = port;
    let mut tries = 0;
    loop {
        match listen_on(system, addresses, port) {
            Ok(listeners) => {
                let mut acceptors = Vec::new();
                acceptors.try_reserve(listeners.len()).map_err(|_| OpenError::Memory)?;
                for (index, listener) in listeners.into_iter().enumerate() {
                    let at = listener.local();
                    let acceptor = Acceptor::new(listener, first_token + index, poller);
                    acceptors.push(acceptor.map_err(|error| OpenError::Tcp(at, error))?);
                }
                return Ok(acceptors);
            }
            Err(OpenError::Tcp(_, SocketError::AddressInUse | SocketError::NotPermitted))
                if another_will_do && tries < PORT_TRIES =>
            {
                tries += 1;
                port = 0;
            }
            Err(error) => return Err(error),
        }
    }
}

fn listen_on<S: System>(system: &S, addresses: &[u32], port: u16) -> Result<Vec<S::Listener>, OpenError> {
    let mut listeners: Vec<S::Listener> = Vec::new();
    listeners.try_reserve(addresses.len()).map_err(|_| OpenError::Memory)?;
    for &ip in addresses {
        // The first one finds out which port a free one is.
        let port = listeners.first().map_or(port, |first| first.local().port);
        let at = Address::new(ip, port);
        listeners.push(system.listen(at, BACKLOG).map_err(|error| OpenError::Tcp(at, error))?);
    }
    Ok(listeners)
}
