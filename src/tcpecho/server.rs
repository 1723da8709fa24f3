// SPDX-License-Identifier: BSD-2-Clause
//! The event loop of all clients of the three services.

use alloc::vec::Vec;
use core::fmt;

use super::connection::{Connection, Progress};
use super::{Counters, Kind};
use crate::net::acceptor::Acceptor;
use crate::net::service::Machine;
use crate::os::socket::{Address, SocketError};
use crate::os::{Interest, Poller, System};

/// Where to listen and how much to spend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Address to listen on; [`Address::ANY`] for all.
    pub interface: u32,
    /// Port of the echo service; discard and source take the next two. 0 takes any free ones.
    pub port: u16,
    /// Buffer of a client, in bytes.
    pub buffer_bytes: usize,
    /// Clients at one time.
    pub max_clients: usize,
}

/// A port that could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// For what.
    pub kind: Kind,
    /// Which.
    pub at: Address,
    /// Why not.
    pub error: SocketError,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen on {} for {}: {}", self.at, self.kind, self.error)
    }
}

const SERVICES: usize = Kind::ALL.len();
const BACKLOG: u16 = 16;

/// A client with its place in the loop.
struct Client<T> {
    connection: Connection<T>,
    peer: Address,
    since: u64,
    watched: Interest,
    /// It has more to do without being asked by the poller.
    busy: bool,
    /// Not before this time.
    paused_until: Option<u64>,
}

/// All listeners and clients.
pub struct Server<S: System> {
    acceptors: Vec<Acceptor<S::Listener>>,
    /// A client's token is its index here plus [`SERVICES`].
    clients: Vec<Option<Client<S::Stream>>>,
    options: Options,
    served: u64,
    refused: u64,
    /// Sums over the connections that have ended.
    ended: Counters,
}

impl<S: System> Default for Server<S> {
    fn default() -> Self {
        let options = Options { interface: 0, port: 0, buffer_bytes: 0, max_clients: 0 };
        Server {
            acceptors: Vec::new(),
            clients: Vec::new(),
            options,
            served: 0,
            refused: 0,
            ended: Counters::default(),
        }
    }
}

impl<S: System> Machine<S> for Server<S> {
    type Options = Options;
    type Error = OpenError;

    fn open(&mut self, system: &S, poller: &mut S::Poller, options: Options) -> Result<(), OpenError> {
        for (token, kind) in Kind::ALL.into_iter().enumerate() {
            let port = if options.port == 0 { 0 } else { options.port.saturating_add(token as u16) };
            let at = Address::new(options.interface, port);
            let opened =
                system.listen(at, BACKLOG).and_then(|listener| Acceptor::new(listener, token, poller));
            match opened {
                Ok(acceptor) => self.acceptors.push(acceptor),
                Err(error) => {
                    self.close(poller);
                    return Err(OpenError { kind, at, error });
                }
            }
        }
        self.options = options;
        Ok(())
    }

    fn turn(&mut self, poller: &mut S::Poller, now: u64) -> Option<u64> {
        let mut ready = 0;
        while let Some((token, _)) = poller.next_ready(&mut ready) {
            match token.checked_sub(SERVICES) {
                None => self.accept(token, poller, now),
                Some(index) => {
                    if let Some(Some(client)) = self.clients.get_mut(index) {
                        client.busy = true;
                    }
                }
            }
        }
        for token in 0..self.acceptors.len() {
            if self.acceptors[token].wants_accept(now) {
                self.accept(token, poller, now);
            }
        }
        for index in 0..self.clients.len() {
            self.serve(index, poller, now);
        }
        self.timeout(now)
    }

    fn close(&mut self, poller: &mut S::Poller) {
        for index in 0..self.clients.len() {
            if let Some(client) = &mut self.clients[index] {
                client.connection.shut();
            }
            self.end(index, poller, 0);
        }
        self.clients.clear();
        for acceptor in self.acceptors.drain(..) {
            poller.forget(acceptor.token());
        }
    }
}

impl<S: System> Server<S> {
    /// Where it listens, by service; empty while it does not run.
    pub fn listening(&self) -> impl Iterator<Item = (Kind, Address)> + '_ {
        Kind::ALL.into_iter().zip(self.acceptors.iter().map(Acceptor::local))
    }

    /// Clients now.
    pub fn client_count(&self) -> usize {
        self.clients.iter().flatten().count()
    }

    /// Shows listeners, clients and their counters. `now` is the time in milliseconds.
    pub fn report(&self, out: &mut dyn fmt::Write, now: u64) -> fmt::Result {
        if self.acceptors.is_empty() {
            writeln!(out, "tcpecho: not running")?;
        }
        for (kind, at) in self.listening() {
            writeln!(out, "{kind:8} listening on {at}")?;
        }
        for client in self.clients.iter().flatten() {
            let (kind, counters) = (client.connection.kind(), client.connection.counters());
            let seconds = now.saturating_sub(client.since) / 1000;
            writeln!(out, "{kind:8} {} for {seconds} s: {counters}", client.peer)?;
        }
        writeln!(
            out,
            "clients: {} now, {} served, {} refused",
            self.client_count(),
            self.served,
            self.refused
        )?;
        writeln!(out, "ended: {}", self.ended)
    }

    fn accept(&mut self, token: usize, poller: &mut S::Poller, now: u64) {
        let Some(kind) = Kind::ALL.get(token).copied() else { return };
        while let Some((stream, peer)) =
            self.acceptors.get_mut(token).and_then(|acceptor| acceptor.accept(now, poller))
        {
            if self.client_count() >= self.options.max_clients {
                self.refuse(peer, "too many clients");
                continue;
            }
            let Some(mut connection) = Connection::new(kind, stream, self.options.buffer_bytes) else {
                self.refuse(peer, "no memory for its buffer");
                continue;
            };
            if !S::Poller::TELLS_STATE {
                connection = connection.receiving_until_blocked();
            }
            let Some(index) = self.free_place() else {
                self.refuse(peer, "no memory for it");
                continue;
            };
            let watched = connection.interest();
            if poller.watch(index + SERVICES, connection.descriptor(), watched).is_err() {
                self.refuse(peer, "no memory to wait for it");
                continue;
            }
            log::info!("tcpecho: {kind} client {peer}");
            self.served += 1;
            self.clients[index] =
                Some(Client { connection, peer, since: now, watched, busy: true, paused_until: None });
        }
    }

    fn refuse(&mut self, peer: Address, why: &str) {
        self.refused += 1;
        log::warn!("tcpecho: refused {peer}: {why}");
    }

    fn free_place(&mut self) -> Option<usize> {
        if let Some(index) = self.clients.iter().position(Option::is_none) {
            return Some(index);
        }
        self.clients.try_reserve(1).ok()?;
        self.clients.push(None);
        Some(self.clients.len() - 1)
    }

    fn serve(&mut self, index: usize, poller: &mut S::Poller, now: u64) {
        let Some(client) = &mut self.clients[index] else { return };
        match client.paused_until {
            Some(until) if now < until => return,
            Some(_) => client.paused_until = None,
            None if !client.busy => return,
            None => {}
        }
        let progress = client.connection.turn(now);
        client.busy = progress == Progress::More;
        let interest = match progress {
            Progress::Waiting | Progress::More => client.connection.interest(),
            Progress::Paused(until) => {
                client.paused_until = Some(until);
                Interest::NONE
            }
            Progress::Ended => return self.end(index, poller, now),
        };
        if interest != client.watched {
            client.watched = interest;
            // Its place in the poller is there already, so this does not fail.
            let _ = poller.watch(index + SERVICES, client.connection.descriptor(), interest);
        }
    }

    fn end(&mut self, index: usize, poller: &mut S::Poller, now: u64) {
        let Some(client) = self.clients[index].take() else { return };
        poller.forget(index + SERVICES);
        let counters = *client.connection.counters();
        let milliseconds = now.saturating_sub(client.since);
        log::info!(
            "tcpecho: {} client {} ended after {milliseconds} ms: {counters}",
            client.connection.kind(),
            client.peer
        );
        self.ended.add(&counters);
        drop(client);
        for acceptor in &mut self.acceptors {
            acceptor.descriptor_freed();
        }
    }

    /// Time until something is due.
    fn timeout(&self, now: u64) -> Option<u64> {
        let clients = self.clients.iter().flatten();
        let due = clients.filter_map(|client| if client.busy { Some(0) } else { client.paused_until });
        let due = due.chain(self.acceptors.iter().filter_map(Acceptor::retry_at)).min()?;
        Some(due.saturating_sub(now))
    }
}
