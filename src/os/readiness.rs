// SPDX-License-Identifier: BSD-2-Clause
//! Waiting for sockets: the interface behind which poll, select and socket wake-ups hide.
//!
//! Callers use a socket first and ask only after it said "would block"; so a spurious "ready" costs one call and a
//! stack whose readiness is coarse (an event without saying which socket) may report every socket.

use super::socket::{Descriptor, SocketError};

/// What a socket is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest {
    /// Bytes, a connection or the end of the stream to be read.
    pub read: bool,
    /// Room to send.
    pub write: bool,
}

impl Interest {
    /// Nothing: the descriptor stays known but does not wake anybody.
    pub const NONE: Interest = Interest { read: false, write: false };
    /// Reading only.
    pub const READ: Interest = Interest { read: true, write: false };
    /// Writing only.
    pub const WRITE: Interest = Interest { read: false, write: true };
}

/// What a socket is ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// `recv` or `accept` will not block (it may fail or report the end).
    pub read: bool,
    /// `send` will not block (it may fail).
    pub write: bool,
}

/// Waits for any of a set of sockets. Tokens are small indices chosen by the caller; each may be used once at a time.
pub trait Poller: Send {
    /// Wakes a [`Poller::wait`] from another task.
    type Waker: Wake;

    /// It tells of a socket for as long as there is something to receive. If not, it tells of each change once: then
    /// one has to receive until that would block, since the end of the stream may have come along with the last bytes.
    const TELLS_STATE: bool;

    /// Registers or changes what a socket is waited for.
    fn watch(&mut self, token: usize, descriptor: Descriptor, interest: Interest) -> Result<(), SocketError>;

    /// Forgets a socket; must happen before its descriptor is closed.
    fn forget(&mut self, token: usize);

    /// Waits until a socket is ready, the waker was used or `timeout_ms` has passed (`None`: for ever, 0: not at all).
    fn wait(&mut self, timeout_ms: Option<u64>) -> Result<(), SocketError>;

    /// The next socket that the last `wait` found ready, looking at tokens from `*from` on and leaving `*from` behind
    /// the one returned.
    fn next_ready(&mut self, from: &mut usize) -> Option<(usize, Readiness)>;

    /// A handle by which other tasks end a `wait`.
    fn waker(&self) -> Result<Self::Waker, SocketError>;
}

/// Ends another task's [`Poller::wait`], now or (if it is not waiting) the next time it does.
pub trait Wake: Send + Sync + 'static {
    /// Never blocks.
    fn wake(&self);
}
