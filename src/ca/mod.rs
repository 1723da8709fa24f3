// SPDX-License-Identifier: BSD-2-Clause
//! Channel Access, sans-I/O: bytes in, bytes out.
//!
//! [`Server`] gets datagrams, bytes of circuits and the time as arguments and gives back what is to be sent. It knows
//! no socket, no clock and no record: those are the caller's and the [`Provider`]'s. One request goes through
//! [`wire`] (header, checks), a channel found by index, the provider, and is answered in the circuit's output buffer;
//! nothing is allocated on that way.

mod admission;
mod beacon;
mod changes;
mod channels;
mod circuits;
mod config;
mod monitors;
mod notes;
mod payload;
mod peer;
mod provider;
mod puts;
mod report;
mod requests;
mod search;
mod server;
mod slab;
mod statistics;
#[cfg(test)]
mod tests;
mod updates;
pub mod wire;

pub use admission::{Admission, AdmitAll};
pub use circuits::{CircuitId, CircuitState, Refusal};
pub use config::{Config, Limits};
pub use peer::Peer;
pub use provider::{
    Access, Acknowledge, Acknowledgement, Change, ChannelInfo, Client, Notice, Provider, PutOutcome, PvError,
    PvId,
};
pub use report::ReportPosition;
pub use server::Server;
pub use statistics::Statistics;
