// SPDX-License-Identifier: BSD-2-Clause
//! Sockets as the servers see them: non-blocking, IPv4, with the few errors that make a difference.
//!
//! `bsd` is the one implementation on BSD socket calls, for Linux and both RTEMS stacks; `scripted` plays faults.

use core::fmt;

#[cfg(any(feature = "hosted", all(feature = "rtems", not(feature = "legacy-network"))))]
pub mod alarm;
#[cfg(any(feature = "hosted", feature = "rtems"))]
pub mod bsd;
#[cfg(all(feature = "legacy-network", not(feature = "hosted")))]
mod buffers;
#[cfg(any(feature = "hosted", feature = "rtems"))]
mod on_bsd;
#[cfg(any(feature = "hosted", all(feature = "rtems", not(feature = "legacy-network"))))]
pub mod poll;
#[cfg(all(test, feature = "hosted"))]
mod readiness_tests;
#[cfg(test)]
pub mod scripted;
#[cfg(any(feature = "hosted", feature = "rtems"))]
#[allow(unsafe_code)]
mod sys;
#[cfg(all(feature = "legacy-network", not(feature = "hosted")))]
pub mod wakeup;

#[cfg(any(feature = "hosted", all(feature = "rtems", feature = "server")))]
pub(super) use on_bsd::on_bsd_sockets;

/// The operating system's number of a socket.
pub type Descriptor = i32;

/// An IPv4 address and a port, both in host order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// IPv4 address.
    pub ip: u32,
    /// TCP or UDP port.
    pub port: u16,
}

impl Address {
    /// Any interface.
    pub const ANY: u32 = 0;
    /// 127.0.0.1
    pub const LOOPBACK: u32 = 0x7f00_0001;

    /// From its parts.
    pub const fn new(ip: u32, port: u16) -> Address {
        Address { ip, port }
    }

    /// 224.0.0.0 to 239.255.255.255.
    pub const fn is_multicast(self) -> bool {
        self.ip >> 28 == 0xe
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Dotted(self.ip), self.port)
    }
}

/// Shows an address in host order as a dotted quad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dotted(pub u32);

impl fmt::Display for Dotted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.0.to_be_bytes();
        write!(f, "{a}.{b}.{c}.{d}")
    }
}

/// Why a socket call did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketError {
    /// Nothing to read or no room to send now.
    WouldBlock,
    /// A signal came first; call again.
    Interrupted,
    /// The stack has no buffers at the moment (ENOBUFS, ENOMEM): transient.
    NoBuffers,
    /// The peer is gone or the connection was reset.
    Closed,
    /// Nobody listens there.
    Refused,
    /// A connect goes on.
    InProgress,
    /// Not connected: with a stack from BSD, as long as a connect goes on (Linux says "would block").
    NotConnected,
    /// No more descriptors in this process or system (EMFILE, ENFILE).
    TooManyDescriptors,
    /// Somebody else has the port.
    AddressInUse,
    /// No interface has this address.
    AddressNotAvailable,
    /// A privileged port, or a firewall.
    NotPermitted,
    /// Anything else, by its errno.
    Other(i32),
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SocketError::WouldBlock => f.write_str("would block"),
            SocketError::Interrupted => f.write_str("interrupted"),
            SocketError::NoBuffers => f.write_str("no network buffers"),
            SocketError::Refused => f.write_str("connection refused"),
            SocketError::InProgress => f.write_str("connecting"),
            SocketError::NotConnected => f.write_str("not connected"),
            SocketError::Closed => f.write_str("connection closed"),
            SocketError::TooManyDescriptors => f.write_str("no more file descriptors"),
            SocketError::AddressInUse => f.write_str("address in use"),
            SocketError::AddressNotAvailable => f.write_str("no interface has this address"),
            SocketError::NotPermitted => f.write_str("not permitted"),
            SocketError::Other(code) => write!(f, "errno {code}"),
        }
    }
}

/// Which way of a connection to shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// No more sending: the peer reads the end.
    Write,
    /// Neither way.
    Both,
}

/// A connected TCP socket, closed when dropped.
pub trait Stream: Send + 'static {
    /// For [`super::Poller::watch`].
    fn descriptor(&self) -> Descriptor;

    /// Reads what is there; 0 is the end of the stream.
    fn recv(&mut self, buffer: &mut [u8]) -> Result<usize, SocketError>;

    /// Sends as much as there is room for, at least one byte.
    fn send(&mut self, bytes: &[u8]) -> Result<usize, SocketError>;

    /// Shuts one way or both; errors do not matter.
    fn shutdown(&mut self, how: Shutdown);

    /// The error that the connection has met and not reported yet (`SO_ERROR`); how a connect ended.
    fn error(&mut self) -> Result<(), SocketError>;

    /// `TCP_NODELAY`: small writes leave at once.
    fn set_no_delay(&mut self, on: bool) -> Result<(), SocketError>;

    /// `SO_KEEPALIVE`: a vanished peer is noticed some day.
    fn set_keep_alive(&mut self, on: bool) -> Result<(), SocketError>;
}

/// A listening TCP socket, closed when dropped.
pub trait Listener: Send + 'static {
    /// What it hands out.
    type Stream: Stream;

    /// For [`super::Poller::watch`].
    fn descriptor(&self) -> Descriptor;

    /// Takes a waiting connection, non-blocking, and says who it is.
    fn accept(&mut self) -> Result<(Self::Stream, Address), SocketError>;

    /// Where it listens, with the port that port 0 became.
    fn local(&self) -> Address;
}

/// A UDP socket, closed when dropped.
pub trait Datagram: Send + 'static {
    /// For [`super::Poller::watch`].
    fn descriptor(&self) -> Descriptor;

    /// Reads one datagram; what does not fit is lost.
    fn recv_from(&mut self, buffer: &mut [u8]) -> Result<(usize, Address), SocketError>;

    /// Sends one datagram.
    fn send_to(&mut self, bytes: &[u8], to: Address) -> Result<(), SocketError>;

    /// Receives what is sent to this multicast group, on the interface with that address.
    fn join(&mut self, group: u32, interface: u32) -> Result<(), SocketError>;

    /// Where it is bound, with the port that port 0 became.
    fn local(&self) -> Address;
}

/// How to open a UDP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramOptions {
    /// Let other servers on this host use the same port (`SO_REUSEADDR` and `SO_REUSEPORT`).
    pub shared: bool,
    /// May send to broadcast addresses.
    pub broadcast: bool,
    /// Bytes of `SO_RCVBUF` wanted; the stack may give less.
    pub receive_buffer: u32,
    /// `IP_MULTICAST_TTL`.
    pub multicast_ttl: u8,
}
