// SPDX-License-Identifier: BSD-2-Clause
//! Why the client cannot go on.

use crate::os::socket::{Address, SocketError};
use core::fmt;

/// Why the client cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientError {
    /// No memory for a channel, a circuit or an array.
    NoMemory,
    /// The circuit to this server broke.
    Circuit(Address, SocketError),
    /// The server sent what is no message.
    Damaged(Address),
    /// A search datagram could not be sent.
    Search(SocketError),
    /// The server would not create this channel, or has deleted it.
    Channel(u32),
    /// The reply did not come in time.
    TimedOut,
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::NoMemory => f.write_str("no memory"),
            ClientError::Circuit(peer, error) => write!(f, "circuit to {peer}: {error}"),
            ClientError::Damaged(peer) => write!(f, "circuit to {peer}: damaged message"),
            ClientError::Search(error) => write!(f, "name search: {error}"),
            ClientError::Channel(channel) => {
                write!(f, "channel {channel}: the server has no such channel any more")
            }
            ClientError::TimedOut => f.write_str("User specified timeout on IO operation expired"),
        }
    }
}
