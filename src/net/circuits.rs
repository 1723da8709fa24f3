// SPDX-License-Identifier: BSD-2-Clause
//! The sockets of the circuits: receive, send, and know what to wait for.

use alloc::vec::Vec;

use crate::ca::{self, Admission, CircuitId, Provider};
use crate::os::socket::{Shutdown, SocketError, Stream};
use crate::os::{Interest, Poller, Readiness};

/// How long to leave a stack alone that has no buffers.
const NO_BUFFERS_PAUSE_MS: u64 = 10;

/// What is known of the bytes that wait in the stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// None, until the poller says otherwise.
    Drained,
    /// There may be some: the circuit is in [`Circuits::unread`]. Not every poller would report them again.
    Unread,
    /// There may be some, but the protocol has no room before output is sent.
    Blocked,
}

struct Circuit<T> {
    id: CircuitId,
    stream: T,
    input: Input,
    watched: Interest,
    /// The last send did not take everything, and the poller has not said since that there is room.
    full: bool,
    /// The stack has no buffers: not to be touched before this time.
    paused_until: Option<u64>,
    /// It is in [`Circuits::turn`].
    in_turn: bool,
}

/// All circuits; the place of each is its id's slot, its token that and a constant.
pub struct Circuits<T> {
    places: Vec<Option<Circuit<T>>>,
    first_token: usize,
    /// How many of them are paused.
    paused: usize,
    /// Those to be received from.
    unread: Vec<CircuitId>,
    /// Those to be served in this turn, each once.
    turn: Vec<CircuitId>,
}

impl<T> Default for Circuits<T> {
    fn default() -> Self {
        Circuits { places: Vec::new(), first_token: 0, paused: 0, unread: Vec::new(), turn: Vec::new() }
    }
}

impl<T: Stream> Circuits<T> {
    /// No circuits yet; their tokens start there.
    pub fn after(first_token: usize) -> Self {
        Circuits { first_token, ..Self::default() }
    }

    /// Takes a new circuit over; closes it if there is no memory for it.
    pub fn add<P: Provider>(
        &mut self,
        protocol: &mut ca::Server<P>,
        id: CircuitId,
        stream: T,
        poller: &mut impl Poller,
    ) {
        let token = self.first_token + id.slot();
        if self.reserve(id).is_err() || poller.watch(token, stream.descriptor(), Interest::READ).is_err() {
            log::warn!("no memory to wait for another client");
            protocol.close(id);
            return;
        }
        let circuit = Circuit {
            id,
            stream,
            input: Input::Drained,
            watched: Interest::READ,
            full: false,
            paused_until: None,
            in_turn: false,
        };
        self.places[id.slot()] = Some(circuit);
    }

    /// Room for everything that the circuit may need here, so that nothing is allocated later.
    fn reserve(&mut self, id: CircuitId) -> Result<(), alloc::collections::TryReserveError> {
        let places = id.slot() + 1;
        if places > self.places.len() {
            self.places.try_reserve(places - self.places.len())?;
            self.places.resize_with(places, || None);
        }
        self.unread.try_reserve(places.saturating_sub(self.unread.len()))?;
        self.turn.try_reserve(places.saturating_sub(self.turn.len()))
    }

    /// Somebody at this address has a circuit.
    pub fn has_peer<P: Provider>(&self, protocol: &ca::Server<P>, ip: u32) -> bool {
        self.places
            .iter()
            .flatten()
            .any(|circuit| protocol.peer(circuit.id).is_some_and(|peer| peer.address == ip))
    }

    /// The poller found a circuit ready.
    pub fn ready(&mut self, token: usize, readiness: Readiness) {
        let Some(Some(circuit)) = self.places.get_mut(token - self.first_token) else { return };
        if readiness.write && circuit.full {
            circuit.full = false;
            circuit.enter(&mut self.turn);
        }
        if readiness.read && circuit.input == Input::Drained && circuit.watched.read {
            circuit.input = Input::Unread;
            self.unread.push(circuit.id);
        }
    }

    /// Receives once from each circuit that may have something, those of higher priority first: then all others have
    /// their turn. Says whether any was closed.
    pub fn receive<P: Provider, A: Admission, W: Poller>(
        &mut self,
        protocol: &mut ca::Server<P>,
        admission: &A,
        poller: &mut W,
        now: u64,
    ) -> bool {
        if self.unread.len() > 1 {
            self.unread.sort_unstable_by_key(|&id| core::cmp::Reverse(protocol.priority(id)));
        }
        let mut closed = false;
        let mut kept = 0;
        for index in 0..self.unread.len() {
            let id = self.unread[index];
            let Some(circuit) = self.places.get_mut(id.slot()).and_then(Option::as_mut) else { continue };
            if circuit.id != id || circuit.input != Input::Unread {
                continue;
            }
            let was_paused = circuit.paused_until.is_some();
            if circuit.receive(protocol, admission, W::TELLS_STATE, now).is_err() {
                self.close(protocol, id, poller);
                closed = true;
                continue;
            }
            let paused = circuit.paused_until.is_some();
            self.paused += usize::from(paused && !was_paused);
            if circuit.full || paused {
                // It will not be served before there is room, but may have to stop reading now.
                circuit.watch(self.first_token, protocol.state(id), poller);
            }
            if circuit.input == Input::Unread {
                self.unread[kept] = id;
                kept += 1;
            }
        }
        self.unread.truncate(kept);
        closed
    }

    /// There is something to receive without asking the poller.
    pub fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Sends what is to be sent and lets every circuit that has something to do have its turn; says whether any was
    /// closed.
    pub fn serve<P: Provider, A: Admission>(
        &mut self,
        protocol: &mut ca::Server<P>,
        admission: &A,
        poller: &mut impl Poller,
        now: u64,
    ) -> bool {
        if self.paused > 0 {
            self.resume_paused(now);
        }
        while let Some(id) = protocol.next_ready() {
            if let Some(Some(circuit)) = self.places.get_mut(id.slot())
                && circuit.id == id
            {
                circuit.enter(&mut self.turn);
            }
        }
        let mut closed = false;
        for index in 0..self.turn.len() {
            let id = self.turn[index];
            let Some(Some(circuit)) = self.places.get_mut(id.slot()) else { continue };
            if circuit.id != id {
                continue;
            }
            circuit.in_turn = false;
            let mut result = Ok(());
            if !circuit.full && circuit.paused_until.is_none() {
                result = circuit.serve(protocol, admission, now);
                self.paused += usize::from(circuit.paused_until.is_some());
            }
            let state = protocol.state(id);
            if result.is_err() || (state.closing && !state.wants_write) {
                self.close(protocol, id, poller);
                closed = true;
            } else {
                circuit.watch(self.first_token, state, poller);
                if circuit.input == Input::Blocked && state.wants_read && circuit.paused_until.is_none() {
                    circuit.input = Input::Unread;
                    self.unread.push(id);
                }
            }
        }
        self.turn.clear();
        closed
    }

    /// The earliest time at which a paused circuit may go on.
    pub fn paused_until(&self) -> Option<u64> {
        if self.paused == 0 {
            return None;
        }
        self.places.iter().flatten().filter_map(|circuit| circuit.paused_until).min()
    }

    fn resume_paused(&mut self, now: u64) {
        for circuit in self.places.iter_mut().flatten() {
            if circuit.paused_until.is_some_and(|until| now >= until) {
                circuit.paused_until = None;
                self.paused -= 1;
                circuit.enter(&mut self.turn);
            }
        }
    }

    /// Closes a circuit on both sides.
    fn close<P: Provider>(&mut self, protocol: &mut ca::Server<P>, id: CircuitId, poller: &mut impl Poller) {
        let Some(place) = self.places.get_mut(id.slot()) else { return };
        let Some(mut circuit) = place.take_if(|circuit| circuit.id == id) else { return };
        self.paused -= usize::from(circuit.paused_until.is_some());
        protocol.close(id);
        poller.forget(self.first_token + id.slot());
        circuit.stream.shutdown(Shutdown::Both);
    }

    /// Closes them all.
    pub fn close_all<P: Provider>(&mut self, protocol: &mut ca::Server<P>, poller: &mut impl Poller) {
        for place in 0..self.places.len() {
            if let Some(id) = self.places[place].as_ref().map(|circuit| circuit.id) {
                self.close(protocol, id, poller);
            }
        }
        self.places = Vec::new();
        self.unread = Vec::new();
        self.turn = Vec::new();
    }
}

/// The circuit is over.
struct Gone;

impl<T: Stream> Circuit<T> {
    /// Has its turn, once, whatever the reasons.
    fn enter(&mut self, turn: &mut Vec<CircuitId>) {
        if !self.in_turn {
            self.in_turn = true;
            turn.push(self.id);
        }
    }

    /// Receives once, as much as the protocol has room for.
    fn receive<P: Provider, A: Admission>(
        &mut self,
        protocol: &mut ca::Server<P>,
        admission: &A,
        short_is_all: bool,
        now: u64,
    ) -> Result<(), Gone> {
        let buffer = protocol.receive_buffer(self.id);
        let room = buffer.len();
        if room == 0 {
            self.input = Input::Blocked;
            return Ok(());
        }
        match self.stream.recv(buffer) {
            Ok(0) => {
                self.input = Input::Drained;
                protocol.peer_closed(self.id, admission, now);
            }
            Ok(received) => {
                // A read that did not fill the room has taken all bytes: the next one would only say so. What else
                // there may be, the end of the stream, the poller tells, if it is of that kind.
                self.input = if short_is_all && received < room { Input::Drained } else { Input::Unread };
                protocol.received(self.id, received, admission, now);
            }
            Err(SocketError::WouldBlock) => self.input = Input::Drained,
            Err(SocketError::Interrupted) => {}
            // The data stays in the stack: asking again at once would keep the processor from whoever frees buffers.
            Err(SocketError::NoBuffers) => {
                self.input = Input::Blocked;
                self.paused_until = Some(now + NO_BUFFERS_PAUSE_MS);
            }
            Err(_) => return Err(Gone),
        }
        Ok(())
    }

    /// Sends, answers what had to wait for room, and sends that.
    fn serve<P: Provider, A: Admission>(
        &mut self,
        protocol: &mut ca::Server<P>,
        admission: &A,
        now: u64,
    ) -> Result<(), Gone> {
        self.send(protocol, now)?;
        if protocol.state(self.id).has_work {
            protocol.resume(self.id, admission, now);
            self.send(protocol, now)?;
        }
        Ok(())
    }

    fn send<P: Provider>(&mut self, protocol: &mut ca::Server<P>, now: u64) -> Result<(), Gone> {
        while !self.full && self.paused_until.is_none() {
            let output = protocol.output(self.id);
            let offered = output.len();
            if offered == 0 {
                break;
            }
            match self.stream.send(output) {
                Ok(sent) => {
                    protocol.sent(self.id, sent, now);
                    // A short write means that the socket is full: asking again would only say so.
                    self.full = sent < offered;
                }
                Err(SocketError::Interrupted) => {}
                Err(SocketError::WouldBlock) => self.full = true,
                Err(SocketError::NoBuffers) => self.paused_until = Some(now + NO_BUFFERS_PAUSE_MS),
                Err(_) => return Err(Gone),
            }
        }
        Ok(())
    }

    /// Tells the poller what the circuit waits for now, if that has changed.
    fn watch(&mut self, first_token: usize, state: ca::CircuitState, poller: &mut impl Poller) {
        let paused = self.paused_until.is_some();
        let interest = Interest { read: state.wants_read && !paused, write: self.full && !paused };
        if interest != self.watched {
            self.watched = interest;
            // Its place in the poller is there already, so this does not fail.
            let _ = poller.watch(first_token + self.id.slot(), self.stream.descriptor(), interest);
        }
    }
}

#[cfg(test)]
mod tests;
