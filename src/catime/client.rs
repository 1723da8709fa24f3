// SPDX-License-Identifier: BSD-2-Clause
//! Channels over one circuit per server: search, connect, put, get, and waiting for what is under way.

use super::circuit::{Circuit, SEND_AT};
use super::error::ClientError;
use super::names::Names;
use super::network::Network;
use super::payloads::{DataType, Payloads};
use super::search::{Search, Sought};
use crate::ca::wire::{Header, MINOR, command, padded, status};
use crate::os::Interest;
use crate::os::socket::{Address, Descriptor, SocketError, Stream};
use alloc::vec::Vec;
use core::hint::black_box;

/// Bytes of the largest search reply; what does not fit is lost and asked for again.
const REPLY: usize = 1472;

/// Where a channel stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Sought,
    Creating,
    Connected,
    Gone,
}

/// One channel.
#[derive(Clone, Copy, Debug)]
struct Channel {
    state: State,
    circuit: u16,
    tries: u16,
    native: u16,
    count: u32,
    sid: u32,
}

impl Sought for Channel {
    fn wanted(&self) -> bool {
        self.state == State::Sought
    }
    fn asked(&mut self) {
        self.tries = self.tries.saturating_add(1);
    }
}

/// What the replies change.
#[derive(Debug, Default)]
struct Ledger {
    channels: Vec<Channel>,
    /// Channels that are not connected yet, or replies that are owed.
    owed: u32,
    /// Requests so far: the next get's identifier.
    requests: u32,
    /// The first identifier of those under way.
    oldest: u32,
    errors: u64,
    last_error: u32,
    lost: Option<u32>,
    /// Where values read are put, in this machine's byte order.
    values: Vec<u8>,
}

/// A client with all channels of one run.
pub struct Client<'a, N: Network> {
    network: N,
    names: Names<'a>,
    circuits: Vec<Circuit<N::Stream>>,
    waits: Vec<(Descriptor, Interest)>,
    ledger: Ledger,
}

impl<'a, N: Network> Client<'a, N> {
    /// Channels that are not looked for yet.
    pub fn new(network: N, names: Names<'a>, channels: u32) -> Result<Self, ClientError> {
        let mut ledger = Ledger { owed: channels, ..Ledger::default() };
        ledger.channels.try_reserve_exact(channels as usize).map_err(|_| ClientError::NoMemory)?;
        let channel = Channel { state: State::Sought, circuit: 0, tries: 0, native: 0, count: 0, sid: 0 };
        ledger.channels.resize(channels as usize, channel);
        Ok(Client { network, names, circuits: Vec::new(), waits: Vec::new(), ledger })
    }

    /// Monotonic time, nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.network.now_ns()
    }

    /// Searches and connects all channels; gives up after `timeout_ns` if there is one.
    pub fn connect(&mut self, timeout_ns: Option<u64>) -> Result<(), ClientError> {
        let start = self.now_ns();
        let end = timeout_ns.map(|ns| start.saturating_add(ns));
        let mut search = Search::new(start).map_err(|_| ClientError::NoMemory)?;
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(REPLY).map_err(|_| ClientError::NoMemory)?;
        buffer.resize(REPLY, 0);
        while self.ledger.owed > 0 {
            let now = self.now_ns();
            if end.is_some_and(|end| now >= end) {
                return Err(ClientError::TimedOut);
            }
            while let Some(datagram) = search.next(&mut self.ledger.channels, &self.names, now) {
                self.network.search(datagram).map_err(ClientError::Search)?;
            }
            self.read_replies(&mut search, &mut buffer)?;
            self.service()?;
            if self.ledger.owed > 0 {
                let until = end.map_or(search.deadline_ns(), |end| end.min(search.deadline_ns()));
                let ms = until.saturating_sub(self.now_ns()).div_ceil(1_000_000);
                // At once if a whole try was answered: the next one is due.
                if !search.complete() || self.ledger.channels.iter().all(|channel| !channel.wanted()) {
                    self.wait(Some(ms.max(1)))?;
                }
            }
        }
        Ok(())
    }

    /// Takes all search replies that have come, and creates their channels.
    fn read_replies(&mut self, search: &mut Search, buffer: &mut [u8]) -> Result<(), ClientError> {
        loop {
            match self.network.reply(buffer) {
                Ok((bytes, from)) => self.read_datagram(&buffer[..bytes], from, search)?,
                Err(SocketError::Interrupted | SocketError::Refused) => {}
                Err(SocketError::WouldBlock | SocketError::NoBuffers) => return Ok(()),
                Err(error) => return Err(ClientError::Search(error)),
            }
        }
    }

    fn read_datagram(&mut self, bytes: &[u8], from: Address, search: &mut Search) -> Result<(), ClientError> {
        let mut rest = bytes;
        let mut sequence = None;
        while let Ok((header, size)) = Header::parse(rest, false) {
            match header.command {
                command::VERSION if header.data_type & command::SEQUENCE_VALID != 0 => {
                    sequence = Some(header.p1)
                }
                command::SEARCH => {
                    let ip = if header.p1 == command::SENDER_ADDRESS { from.ip } else { header.p1 };
                    self.found(header.p2, Address::new(ip, header.data_type), sequence, search)?;
                }
                _ => {}
            }
            let Some(after) = rest.get(size + header.payload as usize..) else { return Ok(()) };
            rest = after;
        }
        Ok(())
    }

    /// A server has this channel: ask it to create it.
    fn found(
        &mut self,
        cid: u32,
        server: Address,
        sequence: Option<u32>,
        search: &mut Search,
    ) -> Result<(), ClientError> {
        if !self.ledger.channels.get(cid as usize).is_some_and(Channel::wanted) {
            // Several servers, or an answer that came late.
            return Ok(());
        }
        search.answer(sequence);
        let circuit = match self.circuits.iter().position(|circuit| circuit.peer == server) {
            Some(circuit) => circuit,
            None => self.open(server)?,
        };
        let mut buffer = super::names::NameBuffer::default();
        let name = self.names.get(cid, &mut buffer);
        let header = Header::new(command::CREATE_CHAN).ids(cid, u32::from(MINOR));
        let field = self.circuits[circuit].message(header, name.len() + 1)?;
        field[..name.len()].copy_from_slice(name);
        let channel = &mut self.ledger.channels[cid as usize];
        channel.state = State::Creating;
        channel.circuit = circuit as u16;
        Ok(())
    }

    fn open(&mut self, server: Address) -> Result<usize, ClientError> {
        if self.circuits.len() > usize::from(u16::MAX) {
            return Err(ClientError::NoMemory);
        }
        self.circuits.try_reserve(1).map_err(|_| ClientError::NoMemory)?;
        self.waits.try_reserve(1).map_err(|_| ClientError::NoMemory)?;
        let stream = self.network.connect(server).map_err(|error| ClientError::Circuit(server, error))?;
        let circuit = Circuit::new(stream, server, self.network.identity(), N::TELLS_STATE)?;
        self.circuits.push(circuit);
        Ok(self.circuits.len() - 1)
    }

    /// Sends and receives what goes without waiting.
    fn service(&mut self) -> Result<(), ClientError> {
        let ledger = &mut self.ledger;
        for circuit in &mut self.circuits {
            circuit.flush()?;
            circuit.receive(|header, payload| ledger.take(header, payload))?;
        }
        match self.ledger.lost {
            Some(channel) => Err(ClientError::Channel(channel)),
            None => Ok(()),
        }
    }

    fn wait(&mut self, timeout_ms: Option<u64>) -> Result<(), ClientError> {
        self.waits.clear();
        for circuit in &self.circuits {
            let interest = Interest { read: true, write: circuit.pending() > 0 };
            self.waits.push((circuit.stream.descriptor(), interest));
        }
        self.network.wait(&self.waits, timeout_ms).map_err(ClientError::Search)
    }

    /// Sends all that is gathered, reading meanwhile: a server that is read from by nobody stops reading.
    pub fn flush(&mut self) -> Result<(), ClientError> {
        loop {
            for circuit in &mut self.circuits {
                circuit.flush()?;
            }
            if self.circuits.iter().all(|circuit| circuit.pending() == 0) {
                return Ok(());
            }
            self.service()?;
            if self.circuits.iter().any(|circuit| circuit.pending() > 0) {
                self.wait(None)?;
            }
        }
    }

    /// Waits until every reply has come.
    pub fn wait_for_replies(&mut self, timeout_ns: Option<u64>) -> Result<(), ClientError> {
        for circuit in &mut self.circuits {
            circuit.flush()?;
        }
        let mut end = None;
        while self.ledger.owed > 0 {
            let left_ms = match timeout_ns {
                None => None,
                Some(timeout) => {
                    let now = self.now_ns();
                    let end = *end.get_or_insert(now.saturating_add(timeout));
                    if now >= end {
                        return Err(ClientError::TimedOut);
                    }
                    Some((end - now).div_ceil(1_000_000))
                }
            };
            self.wait(left_ms)?;
            self.service()?;
        }
        self.ledger.oldest = self.ledger.requests;
        Ok(())
    }

    /// One turn with nothing to do, as `ca_pend_event` with no time: sends what is gathered, takes what has come.
    pub fn idle_turn(&mut self) -> Result<(), ClientError> {
        self.service()
    }

    /// Writes a channel's element, repeated, without asking for a reply.
    #[inline]
    pub(super) fn put(
        &mut self,
        channel: u32,
        payloads: &Payloads,
        data_type: DataType,
    ) -> Result<(), ClientError> {
        let Channel { sid, count, circuit, .. } = self.ledger.channels[channel as usize];
        let bytes = payloads.put_bytes(count);
        let header = Header::new(command::WRITE).typed(data_type.dbr(), count).ids(sid, channel);
        let circuit = &mut self.circuits[usize::from(circuit)];
        payloads.emit(channel, count, circuit.message(header, bytes)?);
        if circuit.pending() >= SEND_AT { self.flush() } else { Ok(()) }
    }

    /// Asks for a channel's value.
    #[inline]
    pub(super) fn get(&mut self, channel: u32, data_type: DataType, count: u32) -> Result<(), ClientError> {
        let Channel { sid, circuit, .. } = self.ledger.channels[channel as usize];
        let ioid = self.ledger.requests;
        self.ledger.requests = ioid.wrapping_add(1);
        self.ledger.owed += 1;
        let header = Header::new(command::READ_NOTIFY).typed(data_type.dbr(), count).ids(sid, ioid);
        let circuit = &mut self.circuits[usize::from(circuit)];
        circuit.message(header, 0)?;
        if circuit.pending() < SEND_AT {
            return Ok(());
        }
        self.flush()?;
        self.service()
    }

    /// Tells the server that the channel is not needed any more; the reply is not waited for.
    pub(super) fn clear(&mut self, channel: u32) -> Result<(), ClientError> {
        let Channel { sid, circuit, .. } = self.ledger.channels[channel as usize];
        self.ledger.channels[channel as usize].state = State::Gone;
        let circuit = &mut self.circuits[usize::from(circuit)];
        circuit.message(Header::new(command::CLEAR_CHANNEL).ids(sid, channel), 0)?;
        if circuit.pending() >= SEND_AT { self.flush() } else { Ok(()) }
    }

    /// Native type and element count of a channel.
    pub fn values(&self, channel: u32) -> super::Values {
        let Channel { native, count, .. } = self.ledger.channels[channel as usize];
        super::Values { native, count }
    }

    /// Search requests that a channel took.
    pub fn tries(&self, channel: u32) -> u32 {
        u32::from(self.ledger.channels[channel as usize].tries)
    }

    /// Errors that the server reported since this was last asked, and the last of them.
    pub fn errors(&mut self) -> (u64, u32) {
        (core::mem::take(&mut self.ledger.errors), self.ledger.last_error)
    }
}

impl Ledger {
    fn error(&mut self, status: u32) {
        self.errors += 1;
        self.last_error = status;
    }

    /// One message from a server.
    #[inline]
    fn take(&mut self, header: &Header, payload: &[u8]) {
        match header.command {
            command::READ_NOTIFY => self.value(header, payload),
            command::CREATE_CHAN => {
                if let Some(channel) = self.channels.get_mut(header.p1 as usize)
                    && channel.state == State::Creating
                {
                    channel.state = State::Connected;
                    channel.sid = header.p2;
                    channel.native = header.data_type;
                    channel.count = header.count;
                    self.owed = self.owed.saturating_sub(1);
                }
            }
            command::CREATE_CH_FAIL | command::SERVER_DISCONN if self.is_in_use(header.p1) => {
                self.lost = Some(header.p1);
            }
            command::ERROR => self.error(header.p2),
            // VERSION, ACCESS_RIGHTS, the reply to CLEAR_CHANNEL, ECHO.
            _ => {}
        }
    }

    fn is_in_use(&self, channel: u32) -> bool {
        self.channels.get(channel as usize).is_some_and(|channel| channel.state != State::Gone)
    }

    /// A reply to a get.
    fn value(&mut self, header: &Header, payload: &[u8]) {
        // Only what is under way counts: requests - oldest identifiers from the oldest on.
        if header.p2.wrapping_sub(self.oldest) >= self.requests.wrapping_sub(self.oldest) {
            return self.error(status::INTERNAL);
        }
        self.owed = self.owed.saturating_sub(1);
        if header.p1 != status::NORMAL {
            return self.error(header.p1);
        }
        let width = match header.data_type {
            1 => 2,
            2 => 4,
            6 => 8,
            _ => 1,
        };
        let bytes = if header.data_type == 0 { 40 } else { width } * header.count as usize;
        if padded(bytes) < bytes || payload.len() < bytes {
            return self.error(status::BADCOUNT);
        }
        if self.values.len() < bytes {
            if self.values.try_reserve(bytes).is_err() {
                return self.error(status::ALLOCMEM);
            }
            self.values.resize(bytes, 0);
        }
        let values = &mut self.values[..bytes];
        values.copy_from_slice(&payload[..bytes]);
        if width > 1 && cfg!(target_endian = "little") {
            values.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        black_box(values);
    }
}
