// SPDX-License-Identifier: BSD-2-Clause
//! Name search by datagram.
//!
//! VERSION and SEARCH are understood and nothing else: a datagram may come from anyone. The replies to one datagram
//! are packed into as few packets of at most 1024 bytes as they need, and each packet begins with the sequence number
//! of the request: clients measure the round trip with it and believe no reply that carries another.

use super::admission::Admission;
use super::channels::Channels;
use super::circuits::Circuits;
use super::config::Config;
use super::peer::Peer;
use super::provider::Provider;
use super::statistics::Statistics;
use super::wire::{Header, MINOR, command, padded};

/// Largest packet of replies, in bytes: what every client can receive.
const PACKET: usize = 1024;
/// One SEARCH reply: header and the server's version.
const REPLY: usize = Header::STANDARD + 8;
/// Clients before this minor version are not answered (no server has for twenty years).
const OLDEST: u32 = 4;
/// Since this minor version a reply begins with VERSION and the sequence number.
const WITH_SEQUENCE: u32 = 11;
/// Longest name that a client may search for.
pub(super) const MAX_NAME: usize = 500;

/// Replies on their way to one peer.
struct Replies {
    packet: [u8; PACKET],
    used: usize,
    /// Bytes of VERSION at the start.
    empty: usize,
}

impl Replies {
    /// Begins a packet for a client of this minor version.
    fn begin(&mut self, minor: u32, sequence: Option<u32>) {
        self.empty = 0;
        if minor >= WITH_SEQUENCE {
            let (valid, number) = sequence.map_or((0, 0), |n| (command::SEQUENCE_VALID, n));
            Header::new(command::VERSION)
                .typed(valid, u32::from(MINOR))
                .ids(number, 0)
                .emit(&mut self.packet);
            self.empty = Header::STANDARD;
        }
        self.used = self.empty;
    }

    fn has_room(&self) -> bool {
        self.used + REPLY <= PACKET
    }

    fn push(&mut self, tcp_port: u16, id: u32) {
        let Some(place) = self.packet.get_mut(self.used..self.used + REPLY) else { return };
        place.fill(0);
        Header::new(command::SEARCH)
            .with_payload(8)
            .typed(tcp_port, 0)
            .ids(command::SENDER_ADDRESS, id)
            .emit(place);
        if let Some(version) = place.get_mut(Header::STANDARD..Header::STANDARD + 2) {
            version.copy_from_slice(&MINOR.to_be_bytes());
        }
        self.used += REPLY;
    }

    fn filled(&self) -> Option<&[u8]> {
        if self.used > self.empty { self.packet.get(..self.used) } else { None }
    }
}

/// The name in the payload of SEARCH or CREATE_CHAN: up to its terminator, or all of it where there is none.
pub(super) fn name_in(payload: &[u8]) -> Option<&[u8]> {
    let end = payload.iter().position(|&b| b == 0).unwrap_or(payload.len());
    payload.get(..end).filter(|name| !name.is_empty() && name.len() <= MAX_NAME)
}

/// Whether searches are answered at all, and how many of one address.
pub(super) struct Gate {
    /// Neither searches nor beacons at the moment.
    pub(super) paused: bool,
    rates: Rates,
}

impl Gate {
    pub(super) const fn new() -> Self {
        Gate { paused: false, rates: Rates::new() }
    }

    /// Counts one search for a name that is served and says whether its sender may be answered.
    pub(super) fn opens(&mut self, address: u32, config: &Config, now: u64) -> bool {
        !self.paused && self.rates.allows(address, config.limits.searches_per_second, now)
    }
}

/// Searches per address in the present second.
struct Rates {
    seen: [(u32, u32); 32],
    second: u64,
}

impl Rates {
    const fn new() -> Self {
        Rates { seen: [(0, 0); 32], second: 0 }
    }

    /// Counts one search and says whether it is within `limit` (0: no limit).
    fn allows(&mut self, address: u32, limit: u32, now: u64) -> bool {
        if limit == 0 {
            return true;
        }
        if now / 1000 != self.second {
            self.second = now / 1000;
            self.seen = [(0, 0); 32];
        }
        let place = (address ^ address >> 8 ^ address >> 16) as usize % self.seen.len();
        let Some(seen) = self.seen.get_mut(place) else { return true };
        if seen.0 != address {
            *seen = (address, 0);
        }
        seen.1 = seen.1.saturating_add(1);
        seen.1 <= limit
    }
}

/// Everything that answering a datagram needs.
pub(super) struct Searcher<'a, P, A> {
    pub(super) config: &'a Config,
    pub(super) provider: &'a P,
    pub(super) statistics: &'a mut Statistics,
    pub(super) gate: &'a mut Gate,
    pub(super) circuits: &'a Circuits,
    pub(super) channels: &'a Channels,
    pub(super) admission: &'a A,
    /// Bytes that a new client needs; what the admission is asked for.
    pub(super) cost: usize,
}

impl<P: Provider, A: Admission> Searcher<'_, P, A> {
    /// Answers one datagram through `send`, which gets each packet of replies.
    pub(super) fn datagram(&mut self, from: Peer, bytes: &[u8], now: u64, mut send: impl FnMut(Peer, &[u8])) {
        let mut replies = Replies { packet: [0; PACKET], used: 0, empty: 0 };
        let mut rest = bytes;
        let mut minor = None;
        let mut sequence = None;
        let mut searched = false;
        let has_place = self.has_place(from);
        while let Ok((header, size)) = Header::parse(rest, false) {
            let end = size + padded(header.payload as usize);
            let Some(payload) = rest.get(size..size + header.payload as usize) else { break };
            match header.command {
                command::VERSION => {
                    minor = Some(header.count);
                    sequence = (header.data_type & command::SEQUENCE_VALID != 0).then_some(header.p1);
                }
                command::SEARCH => {
                    let minor = minor.unwrap_or(header.count);
                    if minor < OLDEST {
                        break;
                    }
                    searched = true;
                    if self.is_served(from, payload, has_place, now) {
                        if replies.used == 0 {
                            replies.begin(minor, sequence);
                        } else if !replies.has_room() {
                            if let Some(packet) = replies.filled() {
                                send(from, packet);
                            }
                            replies.begin(minor, sequence);
                        }
                        replies.push(self.config.tcp_port, header.p2);
                        self.statistics.searches_answered += 1;
                    }
                }
                _ => break,
            }
            rest = rest.get(end..).unwrap_or(&[]);
        }
        if !searched {
            self.statistics.datagrams_ignored += 1;
        }
        if let Some(packet) = replies.filled() {
            send(from, packet);
        }
    }

    /// The limits leave room for a channel of this client. A client whose answer leads to a refused connection asks again
    /// and again, and keeps a server that could serve it from being found.
    fn has_place(&self, from: Peer) -> bool {
        let limits = &self.config.limits;
        if self.channels.len() >= limits.channels {
            return false;
        }
        let circuits = self.circuits.len();
        if circuits < u32::from(limits.circuits.min(limits.circuits_per_address)) {
            return true;
        }
        let from_here = self.circuits.count_from(from.address);
        // When no more circuits can be had, whoever is at the address that asks may use the one it has.
        from_here < usize::from(limits.circuits_per_address)
            && (circuits < u32::from(limits.circuits) || from_here > 0)
    }

    /// The name is served here, and whoever asks could be served too.
    fn is_served(&mut self, from: Peer, payload: &[u8], has_place: bool, now: u64) -> bool {
        self.statistics.searches += 1;
        let Some(name) = name_in(payload) else { return false };
        if self.provider.find(name).is_none() {
            return false;
        }
        if self.gate.opens(from.address, self.config, now) && has_place && self.admission.admits(self.cost) {
            return true;
        }
        self.statistics.searches_refused += 1;
        false
    }
}
