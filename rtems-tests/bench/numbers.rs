// SPDX-License-Identifier: BSD-2-Clause
//! A provider of doubles named "n0", "n1", ..., as small as one can be: what is measured over it is the server.

#[path = "../hosted/support/message.rs"]
#[allow(dead_code)] // Each program uses its own part.
mod message;

pub use message::bytes as message;

use rtems_ioc::ca::{
    Access, AdmitAll, Change, ChannelInfo, CircuitId, Client, Config, Peer, Provider, PutOutcome, PvError,
    PvId, Server,
};
use rtems_ioc::value::{
    Alarm, Elements, EventMask, Metadata, NativeType, Reading, Stamp, WireElements, convert,
};
use std::collections::VecDeque;

/// See the file's description.
pub struct Numbers {
    values: Vec<f64>,
    changes: VecDeque<Change>,
}

impl Numbers {
    /// So many numbers.
    pub fn new(count: usize) -> Self {
        Numbers { values: vec![1.5; count], changes: VecDeque::with_capacity(16) }
    }

    /// Sets one as the application would.
    pub fn set(&mut self, index: u32, value: f64) {
        self.values[index as usize] = value;
        self.changes.push_back(Change { pv: PvId { index, view: 0 }, mask: EventMask::VALUE });
    }
}

impl Provider for Numbers {
    fn capacity(&self) -> u32 {
        self.values.len() as u32
    }

    fn find(&self, name: &[u8]) -> Option<PvId> {
        let index = std::str::from_utf8(name.strip_prefix(b"n")?).ok()?.parse().ok()?;
        (index < self.capacity()).then_some(PvId { index, view: 0 })
    }

    fn info(&self, _pv: PvId) -> ChannelInfo {
        ChannelInfo { native: NativeType::Double, max_count: 1 }
    }

    fn class_name(&self, _pv: PvId) -> &str {
        "number"
    }

    fn access(&self, _pv: PvId, _client: &Client<'_>) -> Access {
        Access { read: true, write: true, logged: false }
    }

    #[inline]
    fn read<R>(&mut self, pv: PvId, visit: impl FnOnce(&Reading<'_>) -> R) -> Result<R, PvError> {
        let value = self.values.get(pv.index as usize).ok_or(PvError::Refused)?;
        Ok(visit(&Reading {
            elements: Elements::Double(std::slice::from_ref(value)),
            alarm: Alarm::NONE,
            stamp: Stamp::UNSET,
            metadata: &Metadata::NONE,
        }))
    }

    fn put(
        &mut self,
        pv: PvId,
        put: &WireElements<'_>,
        _client: &Client<'_>,
        _completion: bool,
    ) -> Result<PutOutcome, PvError> {
        let value = self.values.get_mut(pv.index as usize).ok_or(PvError::Refused)?;
        convert::decode(put, &Metadata::NONE, std::slice::from_mut(value))
            .map_err(|_| PvError::Conversion)?;
        Ok(PutOutcome::Done)
    }

    fn next_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    fn next_completion(&mut self) -> Option<(u32, Result<(), PvError>)> {
        None
    }

    fn watched(&mut self, _pv: PvId, _watched: bool) {}
}

/// A server with one client that reads everything at once.
pub struct Bench<P: Provider = Numbers> {
    /// The server.
    pub server: Server<P>,
    /// The client's circuit.
    pub circuit: CircuitId,
    /// Bytes that the client has received.
    pub received: u64,
    /// The last bytes that it has received, one turn's worth.
    pub last: Vec<u8>,
}

impl Bench {
    /// Serves so many numbers.
    pub fn new(numbers: usize) -> Self {
        Self::serving(Numbers::new(numbers))
    }

    /// Creates a channel to number `index`; returns its server id.
    pub fn create(&mut self, index: usize) -> u32 {
        self.create_by_name(&format!("n{index}"))
    }
}

impl<P: Provider> Bench<P> {
    /// Serves these.
    pub fn serving(provider: P) -> Self {
        let mut server = Server::new(Config::DEFAULT, provider);
        let circuit =
            server.accept(Peer { address: 0x7f00_0001, port: 1 }, &AdmitAll, 0).expect("first client");
        let mut bench = Bench { server, circuit, received: 0, last: Vec::with_capacity(64 << 10) };
        bench.drain();
        bench
    }

    /// Takes what the server has to say.
    pub fn drain(&mut self) {
        loop {
            let output = self.server.output(self.circuit);
            let n = output.len();
            self.last.clear();
            self.last.extend_from_slice(output);
            self.received += n as u64;
            self.server.sent(self.circuit, n, 0);
            if self.server.state(self.circuit).has_work {
                self.server.resume(self.circuit, &AdmitAll, 0);
            } else if self.server.output(self.circuit).is_empty() {
                return;
            }
        }
    }

    /// Sends requests, a buffer at a time.
    pub fn send(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.server.receive_buffer(self.circuit);
            let n = room.len().min(bytes.len());
            room[..n].copy_from_slice(&bytes[..n]);
            self.server.received(self.circuit, n, &AdmitAll, 0);
            bytes = &bytes[n..];
            let output = self.server.output(self.circuit).len();
            if output > 8 << 10 || self.server.state(self.circuit).has_work {
                self.drain();
            }
        }
        self.drain();
    }

    /// Creates a channel; returns its server id.
    pub fn create_by_name(&mut self, name: &str) -> u32 {
        let name = message::name_payload(name);
        let request = message(18, 0, 0, 7, 13, &name);
        let room = self.server.receive_buffer(self.circuit);
        room[..request.len()].copy_from_slice(&request);
        self.server.received(self.circuit, request.len(), &AdmitAll, 0);
        let output = self.server.output(self.circuit);
        let sid = output[28..32].try_into().map(u32::from_be_bytes).expect("two replies");
        self.drain();
        sid
    }
}
