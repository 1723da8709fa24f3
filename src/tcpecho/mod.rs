// SPDX-License-Identifier: BSD-2-Clause
//! Echo, discard and source over TCP: the instrument that finds duplex, loss, Nagle and delayed-ACK faults.
//!
//! One task serves several clients of all three. Echo (port 4445) gives back what it gets, discard (4446) only counts
//! it, source (4447) sends numbered words as fast as they are taken. Each client has one buffer of fixed size, so one
//! that does not read stops its own connection and nothing else.

pub mod classic;
mod connection;
mod counters;
mod server;

pub use connection::{Connection, Progress};
pub use counters::Counters;
pub use server::{OpenError, Options, Server};

use core::fmt;

/// Port of the echo service; discard and source take the next two.
pub const DEFAULT_PORT: u16 = 4445;

/// Whether there are ports for all services from this one on; 0 stands for any free ones.
pub const fn takes_port(port: u16) -> bool {
    port <= u16::MAX - (Kind::ALL.len() as u16 - 1)
}

/// What a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sends back what it receives.
    Echo,
    /// Receives only.
    Discard,
    /// Sends only: 32-bit big-endian words that count up from 0.
    Source,
}

impl Kind {
    /// In the order of their ports.
    pub const ALL: [Kind; 3] = [Kind::Echo, Kind::Discard, Kind::Source];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Echo => "echo",
            Kind::Discard => "discard",
            Kind::Source => "source",
        })
    }
}

/// The service as a task.
pub type TcpEcho<S> = crate::net::service::Service<S, Server<S>>;
