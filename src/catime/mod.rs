// SPDX-License-Identifier: BSD-2-Clause
//! The Channel Access benchmark that everybody has numbers of, as a client of its own.
//!
//! Same arguments, tests and rows as EPICS's `catime`, on this package's wire code, so that a board can be the client too.
//! What libca does with two threads per circuit is one loop on a board. On a desk the same loop has threads between it and
//! the sockets (`threads`), so that its rows mean what libca's mean.
//!
//! ```text
//!  benchmark (order of the tests, clock)  ->  report (rows, table, JSON)
//!      client (channels, pending replies)
//!          search (datagrams, pace)   circuit (bytes of one TCP connection)
//!              network (sockets of os, or scripted)
//! ```

mod benchmark;
mod circuit;
mod client;
mod command;
mod error;
#[cfg(feature = "hosted")]
pub mod hosted;
mod names;
mod network;
mod payloads;
mod report;
mod search;
mod spread;
#[cfg(feature = "hosted")]
mod threads;

pub use benchmark::{Abort, run};
pub use client::Client;
pub use command::{Environment, command, open};
pub use error::ClientError;
pub use names::Names;
pub use network::{Network, Sockets};
pub use report::{Event, JsonReport, Operation, Outcome, Row, TableReport, TextReport, Values};
pub use spread::Spread;

/// Channels if the command line does not say.
pub const DEFAULT_CHANNELS: u32 = 10_000;

/// What the command line says: `catime <PV name> [<channel count> [<append number to pv name if true>]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// Name of the process variable.
    pub name: &'a str,
    /// Number of channels, at least 1.
    pub channels: u32,
    /// Append 000000, 000001 ... to the name; else every channel is of the same process variable.
    pub append: bool,
}

/// The usage line.
pub const USAGE: &str = "usage: catime <PV name> [<channel count> [<append number to pv name if true>]]\n";

impl<'a> Arguments<'a> {
    /// From the words behind the command's name; the error is what to print.
    pub fn parse(words: &[&'a str]) -> Result<Arguments<'a>, &'static str> {
        let (&name, rest) = words.split_first().ok_or(USAGE)?;
        if rest.len() > 2 {
            return Err(USAGE);
        }
        let channels = match rest.first() {
            None => DEFAULT_CHANNELS,
            Some(text) => text.parse().map_err(|_| "expected second argument to be a channel count\n")?,
        };
        if channels == 0 {
            return Err("channel count was zero\n");
        }
        let append = match rest.get(1) {
            None => false,
            Some(text) => text.parse::<i32>().map_err(|_| "expected third argument to be a number\n")? != 0,
        };
        Ok(Arguments { name, channels, append })
    }
}

#[cfg(test)]
mod tests;
