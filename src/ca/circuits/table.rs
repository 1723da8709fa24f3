// SPDX-License-Identifier: BSD-2-Clause
//! The table of circuits and the queue of those that want to be served.

use super::super::peer::Peer;
use super::super::slab::doubled;
use super::super::wire::{Header, MINOR, command};
use super::{Input, Output, Session};
use alloc::vec::Vec;

/// Names a circuit; never names its successor in the same slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CircuitId {
    slot: u16,
    generation: u16,
}

impl CircuitId {
    /// Dense index below [`super::super::Limits::circuits`], for a table beside this one.
    pub const fn slot(self) -> usize {
        self.slot as usize
    }
}

/// Why a connection is not accepted. The caller closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// As many circuits as there may be.
    TooMany,
    /// As many from this address as there may be.
    TooManyFromAddress,
    /// No memory for another client.
    Memory,
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Refusal::TooMany => "too many circuits",
            Refusal::TooManyFromAddress => "too many circuits from this address",
            Refusal::Memory => "no memory for another client",
        })
    }
}

/// What a circuit wants of the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitState {
    /// There is room to receive into.
    pub wants_read: bool,
    /// There is something to send.
    pub wants_write: bool,
    /// [`super::super::Server::resume`] would do something now.
    pub has_work: bool,
    /// The circuit is to be closed as soon as `wants_write` is false.
    pub closing: bool,
}

/// One circuit.
pub(in super::super) struct Circuit {
    generation: u16,
    pub(in super::super) input: Input,
    pub(in super::super) output: Output,
    pub(in super::super) session: Session,
}

impl Circuit {
    pub(in super::super) fn state(&self) -> CircuitState {
        let session = &self.session;
        CircuitState {
            wants_read: !session.closing && !session.half_closed && !session.blocked && !self.input.is_full(),
            wants_write: self.output.used() > 0,
            has_work: session.has_work && !session.closing,
            closing: session.closing,
        }
    }

    /// Room to receive into; none while the client has to take its replies first.
    pub(in super::super) fn receive_buffer(&mut self) -> &mut [u8] {
        if self.session.closing || self.session.half_closed || self.session.blocked {
            return &mut [];
        }
        self.input.free()
    }

    pub(in super::super) fn received(&mut self, bytes: usize, now: u64) {
        self.input.commit(bytes);
        self.session.heard_ms = now;
        self.session.bytes_received += bytes as u64;
    }

    pub(in super::super) fn sent(&mut self, bytes: usize, now: u64) {
        self.output.sent(bytes);
        let session = &mut self.session;
        session.bytes_sent += bytes as u64;
        if bytes > 0 {
            session.progress_ms = now;
        }
        if self.output.drained() && (session.blocked || session.owes_updates()) {
            session.blocked = false;
            session.has_work = true;
        }
    }

    /// Ends it: at once, or when the output is sent.
    pub(in super::super) fn end(&mut self, at_once: bool) {
        self.session.closing = true;
        if at_once {
            self.output.discard();
        }
    }

    pub(in super::super) fn shrink(&mut self) {
        self.input.shrink();
    }
}

/// Circuits of one class of priority that want to be served, first come first served.
#[derive(Clone, Copy)]
struct Queue {
    first: u16,
    last: u16,
}

/// No slot.
const NO_SLOT: u16 = u16::MAX;
/// Classes of priority: 0..=24, 25..=49, 50..=74, 75..=99.
const CLASSES: usize = 4;

/// All circuits.
pub(in super::super) struct Circuits {
    table: Vec<Option<Circuit>>,
    generation: u16,
    queues: [Queue; CLASSES],
    count: u32,
}

impl Circuits {
    pub(in super::super) const fn new() -> Self {
        Circuits {
            table: Vec::new(),
            generation: 0,
            queues: [Queue { first: NO_SLOT, last: NO_SLOT }; CLASSES],
            count: 0,
        }
    }

    pub(in super::super) const fn len(&self) -> u32 {
        self.count
    }

    /// Bytes of heap that a circuit takes, its two buffers of `buffer` bytes each included.
    pub(in super::super) const fn cost(buffer: usize) -> usize {
        2 * buffer + size_of::<Circuit>()
    }

    /// Bytes that one more circuit may ask of the heap: its own, and a longer table.
    pub(in super::super) const fn growth(&self, buffer: usize) -> usize {
        let table = if self.table.len() == self.table.capacity() { doubled(self.table.len()) } else { 0 };
        Self::cost(buffer) + table * size_of::<Option<Circuit>>()
    }

    /// The circuit of an id that is still valid.
    pub(in super::super) fn get(&self, id: CircuitId) -> Option<&Circuit> {
        self.at(id.slot).filter(|c| c.generation == id.generation)
    }

    /// The same to change it.
    pub(in super::super) fn get_mut(&mut self, id: CircuitId) -> Option<&mut Circuit> {
        self.at_mut(id.slot).filter(|c| c.generation == id.generation)
    }

    #[inline]
    pub(in super::super) fn at(&self, slot: u16) -> Option<&Circuit> {
        self.table.get(usize::from(slot))?.as_ref()
    }

    #[inline]
    pub(in super::super) fn at_mut(&mut self, slot: u16) -> Option<&mut Circuit> {
        self.table.get_mut(usize::from(slot))?.as_mut()
    }

    /// All circuits.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = &Circuit> {
        self.table.iter().flatten()
    }

    /// Number of circuits from one address.
    pub(in super::super) fn count_from(&self, address: u32) -> usize {
        self.iter().filter(|c| c.session.peer.address == address).count()
    }

    /// Some circuit wants to be served.
    pub(in super::super) fn has_ready(&self) -> bool {
        self.queues.iter().any(|q| q.first != NO_SLOT)
    }

    /// Number of slots in use or used before.
    pub(in super::super) fn slots(&self) -> u16 {
        self.table.len() as u16
    }

    /// Opens a circuit; its VERSION message is queued at once, since a client that searches over TCP waits for it.
    pub(in super::super) fn open(
        &mut self,
        peer: Peer,
        buffer: usize,
        limit: u16,
        now: u64,
    ) -> Result<CircuitId, Refusal> {
        let vacant = self.table.iter().position(Option::is_none);
        let slot = vacant.unwrap_or(self.table.len());
        if slot >= usize::from(limit) {
            return Err(Refusal::TooMany);
        }
        if vacant.is_none() {
            self.table.try_reserve(1).map_err(|_| Refusal::Memory)?;
        }
        let mut output = Output::new(buffer).ok_or(Refusal::Memory)?;
        let input = Input::new(buffer).ok_or(Refusal::Memory)?;
        output.bare(Header::new(command::VERSION).typed(0, u32::from(MINOR)));
        self.generation = self.generation.wrapping_add(1);
        let id = CircuitId { slot: slot as u16, generation: self.generation };
        let session = Session { peer, heard_ms: now, progress_ms: now, opened_ms: now, ..Session::default() };
        let circuit = Circuit { generation: id.generation, input, output, session };
        match self.table.get_mut(slot) {
            Some(place) => *place = Some(circuit),
            None => self.table.push(Some(circuit)),
        }
        self.count += 1;
        self.mark_ready(id.slot);
        Ok(id)
    }

    /// Takes a circuit out of the table.
    pub(in super::super) fn remove(&mut self, slot: u16) {
        let Some(circuit) = self.at_mut(slot) else { return };
        if circuit.session.ready {
            self.unlink_ready(slot);
        }
        if let Some(place) = self.table.get_mut(usize::from(slot)) {
            *place = None;
            self.count -= 1;
        }
        while self.table.last().is_some_and(Option::is_none) {
            self.table.pop();
        }
        if self.table.len() * 4 <= self.table.capacity() {
            self.table.shrink_to(self.table.len() * 2);
        }
    }

    /// Puts a circuit into the queue of those that want to be served, unless it is there.
    pub(in super::super) fn mark_ready(&mut self, slot: u16) {
        let Some(circuit) = self.at_mut(slot) else { return };
        if circuit.session.ready {
            return;
        }
        circuit.session.ready = true;
        circuit.session.next_ready = NO_SLOT;
        let class = class_of(circuit);
        let Some(queue) = self.queues.get_mut(class) else { return };
        let last = core::mem::replace(&mut queue.last, slot);
        if last == NO_SLOT {
            queue.first = slot;
        } else if let Some(before) = self.at_mut(last) {
            before.session.next_ready = slot;
        }
    }

    /// Takes the next circuit to be served, by class of priority.
    pub(in super::super) fn next_ready(&mut self) -> Option<CircuitId> {
        let class = self.queues.iter().rposition(|q| q.first != NO_SLOT)?;
        let slot = self.queues.get(class)?.first;
        let circuit = self.at_mut(slot)?;
        circuit.session.ready = false;
        let (next, generation) = (circuit.session.next_ready, circuit.generation);
        if let Some(queue) = self.queues.get_mut(class) {
            queue.first = next;
            if next == NO_SLOT {
                queue.last = NO_SLOT;
            }
        }
        Some(CircuitId { slot, generation })
    }

    /// Takes a circuit out of whichever queue it is in.
    fn unlink_ready(&mut self, slot: u16) {
        let Some(circuit) = self.at_mut(slot) else { return };
        circuit.session.ready = false;
        let next = circuit.session.next_ready;
        for class in 0..CLASSES {
            let Some(queue) = self.queues.get(class).copied() else { continue };
            let (mut at, mut before) = (queue.first, NO_SLOT);
            while at != NO_SLOT && at != slot {
                before = at;
                at = self.at(at).map_or(NO_SLOT, |c| c.session.next_ready);
            }
            if at == NO_SLOT {
                continue;
            }
            if let Some(circuit) = self.at_mut(before) {
                circuit.session.next_ready = next;
            }
            if let Some(queue) = self.queues.get_mut(class) {
                if queue.first == slot {
                    queue.first = next;
                }
                if queue.last == slot {
                    queue.last = before;
                }
            }
            return;
        }
    }
}

fn class_of(circuit: &Circuit) -> usize {
    usize::from(circuit.session.priority / 25).min(CLASSES - 1)
}
