// SPDX-License-Identifier: BSD-2-Clause
//! The server: what the event loop calls.
//!
//! One turn of the loop, as its owner is meant to write it:
//!
//! ```text
//!  beacon(now)                      send what it returns
//!  each readable datagram socket:   datagram(from, bytes, admission, now, |to, packet| send)
//!  each new connection:             accept(peer, admission, now)
//!  each readable circuit:           recv into receive_buffer(id), then received(id, n, admission, now)
//!                                   or peer_closed(id, admission, now) when the other side has said its last
//!  poll_changes(admission, now)     every change goes to its subscribers
//!  while next_ready():              send output(id), sent(id, n, now); state(id).has_work: resume(id, ...);
//!                                   state(id).closing and nothing to send: close the socket, close(id)
//!  tick(now)                        time-outs
//!  wait for sockets until next_deadline(), not at all while has_ready()
//! ```

use super::admission::Admission;
use super::beacon::Beacons;
use super::channels::Channels;
use super::circuits::{CircuitId, CircuitState, Circuits, Input, Refusal};
use super::config::Config;
use super::monitors::Monitors;
use super::notes::{Cause, Notes};
use super::peer::Peer;
use super::provider::Provider;
use super::puts::Puts;
use super::requests::{Turn, parts};
use super::search::{Gate, Searcher};
use super::slab::NONE;
use super::statistics::Statistics;

/// How often time-outs are looked at.
const SWEEP_MS: u64 = 5_000;
/// Smallest buffer that every fixed reply fits into, in bytes.
const MIN_BUFFER: u32 = 1024;

/// A Channel Access server over the process variables of `P`.
pub struct Server<P: Provider> {
    pub(super) config: Config,
    pub(super) provider: P,
    pub(super) circuits: Circuits,
    pub(super) channels: Channels,
    pub(super) monitors: Monitors,
    pub(super) puts: Puts,
    pub(super) statistics: Statistics,
    pub(super) notes: Notes,
    beacons: Beacons,
    gate: Gate,
    /// When time-outs were last looked at.
    swept_ms: u64,
    /// The provider may have changes that [`Self::poll_changes`] has not taken.
    pub(super) unpolled: bool,
}

impl<P: Provider> Server<P> {
    /// A server without circuits.
    pub fn new(mut config: Config, provider: P) -> Self {
        config.limits.buffer_bytes = config.limits.buffer_bytes.max(MIN_BUFFER);
        Server {
            config,
            provider,
            circuits: Circuits::new(),
            channels: Channels::new(),
            monitors: Monitors::new(),
            puts: Puts::new(),
            statistics: Statistics::default(),
            notes: Notes::new(),
            beacons: Beacons::new(),
            gate: Gate::new(),
            swept_ms: 0,
            unpolled: false,
        }
    }

    /// The sockets are open: searches and beacons announce this port, beacons begin anew.
    pub fn started(&mut self, tcp_port: u16, beacon_period_ms: u32) {
        self.config.tcp_port = tcp_port;
        self.config.beacon_period_ms = beacon_period_ms;
        self.beacons = Beacons::new();
    }

    /// Priority that the client gave a circuit, 0 to 99.
    pub fn priority(&self, id: CircuitId) -> u8 {
        self.circuits.get(id).map_or(0, |circuit| circuit.session.priority)
    }

    /// Who is at the other end of a circuit.
    pub fn peer(&self, id: CircuitId) -> Option<Peer> {
        self.circuits.get(id).map(|circuit| circuit.session.peer)
    }

    /// Neither searches nor beacons at the moment.
    pub const fn is_paused(&self) -> bool {
        self.gate.paused
    }

    /// The settings.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The process variables.
    pub const fn provider(&self) -> &P {
        &self.provider
    }

    /// The process variables, to change them; call [`Self::poll_changes`] afterwards.
    pub const fn provider_mut(&mut self) -> &mut P {
        &mut self.provider
    }

    /// What the server has done and has at the moment.
    pub const fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Stops answering searches and sending beacons (true) or starts again (false, with fast beacons as at a start).
    /// Circuits go on.
    pub fn pause(&mut self, paused: bool) {
        if self.gate.paused && !paused {
            self.beacons = Beacons::new();
        }
        self.gate.paused = paused;
    }

    /// Bytes of heap that one more client takes: what the admission is asked for before a search is answered.
    pub const fn client_cost(&self) -> usize {
        self.circuits.growth(self.config.limits.buffer_bytes as usize) + self.channels.growth()
    }

    /// The beacon to send to every beacon address now, if one is due.
    pub fn beacon(&mut self, now: u64) -> Option<[u8; 16]> {
        if self.gate.paused {
            return None;
        }
        self.beacons.take(now, self.config.beacon_period_ms, self.config.tcp_port)
    }

    /// Answers a datagram. `send` gets each packet of replies (at most 1024 bytes) and its destination, before this
    /// returns. The admission is asked once for every name that is served here.
    pub fn datagram<A: Admission>(
        &mut self,
        from: Peer,
        bytes: &[u8],
        admission: &A,
        now: u64,
        send: impl FnMut(Peer, &[u8]),
    ) {
        if self.gate.paused {
            return;
        }
        let cost = self.client_cost();
        Searcher {
            config: &self.config,
            provider: &self.provider,
            statistics: &mut self.statistics,
            gate: &mut self.gate,
            circuits: &self.circuits,
            channels: &self.channels,
            admission,
            cost,
        }
        .datagram(from, bytes, now, send);
    }

    /// A client has connected. On refusal the caller closes the connection; the log has one line about it.
    pub fn accept<A: Admission>(
        &mut self,
        peer: Peer,
        admission: &A,
        now: u64,
    ) -> Result<CircuitId, Refusal> {
        let limits = &self.config.limits;
        let from_address = self.circuits.count_from(peer.address);
        let result = if from_address >= usize::from(limits.circuits_per_address) {
            Err(Refusal::TooManyFromAddress)
        } else if !admission.admits(self.client_cost()) || self.puts.reserve().is_err() {
            Err(Refusal::Memory)
        } else {
            self.circuits.open(peer, limits.buffer_bytes as usize, limits.circuits, now)
        };
        match result {
            Ok(_) => {
                self.statistics.circuits_accepted += 1;
                self.statistics.circuits = self.circuits.len();
            }
            Err(refusal) => {
                self.statistics.circuits_refused += 1;
                let cause = if refusal == Refusal::Memory { Cause::Memory } else { Cause::Limit };
                self.notes.say(peer, cause, now, format_args!("refused: {refusal}"));
            }
        }
        result
    }

    /// Where to receive into. Empty while the client has to take its replies first.
    pub fn receive_buffer(&mut self, id: CircuitId) -> &mut [u8] {
        self.circuits.get_mut(id).map_or(&mut [], |c| c.receive_buffer())
    }

    /// What is to be sent on a circuit.
    pub fn output(&self, id: CircuitId) -> &[u8] {
        self.circuits.get(id).map_or(&[], |c| c.output.unsent())
    }

    /// What a circuit wants of the sockets. An id that is not valid any more wants to be closed.
    pub fn state(&self, id: CircuitId) -> CircuitState {
        self.circuits.get(id).map_or(
            CircuitState { wants_read: false, wants_write: false, has_work: false, closing: true },
            |c| c.state(),
        )
    }

    /// `bytes` have been received into [`Self::receive_buffer`]: answers what can be answered in one turn.
    pub fn received<A: Admission>(&mut self, id: CircuitId, bytes: usize, admission: &A, now: u64) {
        let Some(circuit) = self.circuits.get_mut(id) else { return };
        circuit.received(bytes, now);
        self.statistics.bytes_received += bytes as u64;
        self.turn(id, admission, now);
    }

    /// Goes on with a circuit whose state says that there is work: one more turn.
    pub fn resume<A: Admission>(&mut self, id: CircuitId, admission: &A, now: u64) {
        self.turn(id, admission, now);
    }

    /// The client has said its last (end of file); it still gets the replies that it is owed, then the circuit closes.
    pub fn peer_closed<A: Admission>(&mut self, id: CircuitId, admission: &A, now: u64) {
        let Some(circuit) = self.circuits.get_mut(id) else { return };
        circuit.session.half_closed = true;
        self.turn(id, admission, now);
    }

    /// `bytes` of [`Self::output`] have been sent.
    pub fn sent(&mut self, id: CircuitId, bytes: usize, now: u64) {
        let Some(circuit) = self.circuits.get_mut(id) else { return };
        circuit.sent(bytes, now);
        self.statistics.bytes_sent += bytes as u64;
        let state = circuit.state();
        if state.has_work || state.closing {
            self.circuits.mark_ready(id.slot() as u16);
        }
    }

    /// The connection is closed: forgets the circuit with all its channels.
    pub fn close(&mut self, id: CircuitId) {
        let slot = id.slot() as u16;
        if self.circuits.get(id).is_none() {
            return;
        }
        let mut turn = match self.turn_of(slot, &super::AdmitAll, 0) {
            Some((turn, _)) => turn,
            None => return,
        };
        while turn.session.first_channel != NONE {
            turn.delete_channel(turn.session.first_channel);
        }
        self.circuits.remove(slot);
        self.statistics.circuits = self.circuits.len();
    }

    /// The next circuit that has something to send, work to do or is to be closed; by class of priority.
    pub fn next_ready(&mut self) -> Option<CircuitId> {
        self.circuits.next_ready()
    }

    /// [`Self::next_ready`] would return one, or [`Self::poll_changes`] has more to do: no time to wait.
    pub fn has_ready(&self) -> bool {
        self.unpolled || self.circuits.has_ready()
    }

    /// Looks at the time-outs; circuits that are to be closed become ready.
    pub fn tick(&mut self, now: u64) {
        if self.circuits.len() == 0 || now < self.swept_ms.saturating_add(SWEEP_MS) {
            return;
        }
        self.swept_ms = now;
        let limits = self.config.limits;
        for slot in 0..self.circuits.slots() {
            let Some(circuit) = self.circuits.at_mut(slot) else { continue };
            circuit.shrink();
            let over = |since: u64, limit: u32| limit > 0 && now.saturating_sub(since) >= u64::from(limit);
            let large = circuit.input.is_large();
            let session = &mut circuit.session;
            let peer = session.peer;
            // Replies that it does not take, or a put-callback that outlives its client.
            let waiting = circuit.output.used() > 0 || session.half_closed;
            if !waiting {
                session.progress_ms = now;
            }
            if session.starved {
                session.starved = false;
                session.has_work = true;
                self.circuits.mark_ready(slot);
            } else if waiting && over(session.progress_ms, limits.stuck_ms) {
                circuit.end(true);
                self.statistics.stuck_closed += 1;
                self.notes.say(
                    peer,
                    Cause::Timeout,
                    now,
                    format_args!("closed: it does not read its replies"),
                );
                self.circuits.mark_ready(slot);
            } else if large && over(session.heard_ms, limits.stuck_ms) {
                circuit.end(false);
                self.statistics.stuck_closed += 1;
                self.notes.say(
                    peer,
                    Cause::Timeout,
                    now,
                    format_args!("closed: it does not end its message"),
                );
                self.circuits.mark_ready(slot);
            } else if over(session.heard_ms, limits.idle_ms) && !session.closing {
                circuit.end(false);
                self.statistics.idle_closed += 1;
                self.notes.say(peer, Cause::Timeout, now, format_args!("closed: silent for too long"));
                self.circuits.mark_ready(slot);
            }
        }
    }

    /// When [`Self::beacon`] or [`Self::tick`] has something to do next, in milliseconds of the same clock.
    pub fn next_deadline(&self) -> Option<u64> {
        let beacon = (!self.gate.paused).then_some(self.beacons.due_ms());
        let sweep = (self.circuits.len() > 0).then(|| self.swept_ms.saturating_add(SWEEP_MS));
        match (beacon, sweep) {
            (Some(beacon), Some(sweep)) => Some(beacon.min(sweep)),
            (one, other) => one.or(other),
        }
    }

    fn turn<A: Admission>(&mut self, id: CircuitId, admission: &A, now: u64) {
        let slot = id.slot() as u16;
        if self.circuits.get(id).is_none() {
            return;
        }
        let writes = self.statistics.writes;
        let Some((mut turn, input)) = self.turn_of(slot, admission, now) else { return };
        if turn.output.used() == 0 {
            turn.session.progress_ms = now;
        }
        if !turn.session.closing {
            turn.run(input);
        }
        let wanted = turn.output.used() > 0 || turn.session.has_work || turn.session.closing;
        if wanted {
            self.circuits.mark_ready(slot);
        }
        self.unpolled |= self.statistics.writes != writes;
    }

    /// Everything that a turn of one circuit works with.
    fn turn_of<'a, A: Admission>(
        &'a mut self,
        slot: u16,
        admission: &'a A,
        now: u64,
    ) -> Option<(Turn<'a, P, A>, &'a mut Input)> {
        let (input, output, session) = parts(self.circuits.at_mut(slot)?);
        let turn = Turn {
            slot,
            session,
            output,
            channels: &mut self.channels,
            monitors: &mut self.monitors,
            puts: &mut self.puts,
            provider: &mut self.provider,
            gate: &mut self.gate,
            config: &self.config,
            statistics: &mut self.statistics,
            notes: &mut self.notes,
            admission,
            now,
        };
        Some((turn, input))
    }
}
