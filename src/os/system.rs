// SPDX-License-Identifier: BSD-2-Clause
//! The family of types and calls that one operating system supplies.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::socket::{Address, Datagram, DatagramOptions, Listener, SocketError, Stream};
use super::{Bell, Media, Poller};
use crate::value::{Stamp, Text};

/// An operating system: clock, tasks, mutexes and sockets.
pub trait System: Clone + Send + Sync + 'static {
    /// A connected TCP socket.
    type Stream: Stream;
    /// A listening TCP socket.
    type Listener: Listener<Stream = Self::Stream>;
    /// A UDP socket.
    type Datagram: Datagram;
    /// Waits for sockets.
    type Poller: Poller;
    /// A mutex that blocks (with priority inheritance where priorities are fixed); never a spin lock.
    type Mutex<T: Send + 'static>: Lock<T>;
    /// A running task.
    type Task: Task;
    /// What calls a task from any other one.
    type Bell: Bell;

    /// Milliseconds since some fixed moment; never steps back.
    fn monotonic_ms(&self) -> u64;

    /// Nanoseconds on the clock of [`System::monotonic_ms`], as fine as the system has them.
    fn monotonic_ns(&self) -> u64;

    /// The time of day; [`Stamp::UNSET`] until the clock is set.
    fn wall(&self) -> Stamp;

    /// Sleeps at least so long.
    fn sleep_ms(&self, milliseconds: u64);

    /// Opens a non-blocking listening socket (`SO_REUSEADDR`). Port 0 takes any free one.
    fn listen(&self, at: Address, backlog: u16) -> Result<Self::Listener, SocketError>;

    /// Opens a non-blocking UDP socket.
    fn datagram(&self, at: Address, options: DatagramOptions) -> Result<Self::Datagram, SocketError>;

    /// Starts to connect and does not wait: once the stream is writable, [`Stream::error`] says how it went.
    fn connect(&self, to: Address) -> Result<Self::Stream, SocketError>;

    /// A poller with nothing in it.
    fn poller(&self) -> Result<Self::Poller, SocketError>;

    /// A bell that nobody waits for yet.
    fn bell(&self) -> Self::Bell;

    /// The content of a file; the error says why not.
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Visits the IPv4 interfaces that are up.
    fn interfaces(&self, visit: &mut dyn FnMut(Interface)) -> Result<(), SocketError>;

    /// Visits the interfaces that are up, but not loopback, by name, with what their drivers say of the cables.
    fn media(&self, visit: &mut dyn FnMut(&str, Media));

    /// Starts a task. Its stack and priority are the platform's business and follow from the role.
    fn spawn(&self, role: Role, entry: impl FnOnce() + Send + 'static) -> Result<Self::Task, SpawnError>;

    /// Who and where this is.
    fn identity(&self) -> Identity {
        Identity::UNKNOWN
    }

    /// Processor time so far; `None` if the system does not account for it.
    fn cpu_time(&self) -> Option<CpuTime> {
        None
    }

    /// File descriptors in use and the most there can be; `None` if nobody knows.
    fn descriptors(&self) -> Option<Descriptors>;
}

/// A mutex around a value.
pub trait Lock<T>: Send + Sync + 'static {
    /// Wraps a value.
    fn new(value: T) -> Self;

    /// Runs `use_it` with the value while no other task can.
    fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R;
}

/// A task that was started.
pub trait Task: Send + 'static {
    /// Waits for its end.
    fn join(self);
}

/// The tasks there are; each platform knows their stacks and priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The event loop of the Channel Access server.
    CaServer,
    /// The echo, discard and source services.
    TcpEcho,
    /// Between an application's tasks and the server's.
    Courier,
}

impl Role {
    /// At most 15 bytes, so that it fits wherever tasks have names.
    pub const fn name(self) -> &'static str {
        match self {
            Role::CaServer => "CAsrv",
            Role::TcpEcho => "tcpecho",
            Role::Courier => "courier",
        }
    }
}

/// The operating system would not start another task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnError {
    /// Which one.
    pub role: Role,
    /// The system's own error number.
    pub code: i32,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot start task {}: error {}", self.role.name(), self.code)
    }
}

/// An IPv4 interface that is up. Addresses in host order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its own address.
    pub address: u32,
    /// Where a broadcast to its network goes; `None` if it cannot broadcast.
    pub broadcast: Option<u32>,
    /// The loopback interface.
    pub loopback: bool,
}

/// File descriptors of the process or image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors {
    /// Open now.
    pub used: u32,
    /// The most that can be open.
    pub limit: u32,
}

/// Host and system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identity {
    /// Name of the host.
    pub host: Text,
    /// Name and version of the operating system.
    pub kernel: Text,
    /// Number of processors, if known.
    pub processors: Option<u32>,
    /// Number of the process, where there are processes.
    pub process: Option<u32>,
}

impl Identity {
    /// Nothing is known.
    pub const UNKNOWN: Identity =
        Identity { host: Text::EMPTY, kernel: Text::EMPTY, processors: None, process: None };
}

/// Processor time since the start of the system, in any one unit, all processors together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// All of it.
    pub total: u64,
    /// Spent idle.
    pub idle: u64,
    /// Spent by this program.
    pub own: u64,
}
