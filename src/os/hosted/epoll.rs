// SPDX-License-Identifier: BSD-2-Clause
//! Readiness by epoll: what a wait costs does not grow with the number of circuits.

#![allow(unsafe_code)]

use std::vec::Vec;

use crate::os::socket::alarm::{Alarm, SocketWaker};
use crate::os::socket::bsd::last_error;
use crate::os::socket::{Descriptor, SocketError};
use crate::os::{Interest, Poller, Readiness};

/// Events taken by one wait; the others stay in the kernel for the next.
const EVENTS: usize = 256;
/// The waker's token, which no caller uses.
const WAKER: u64 = u64::MAX;

/// What the kernel knows of one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Watched {
    /// -1 while the kernel does not know it.
    descriptor: Descriptor,
    events: u32,
}

const UNKNOWN: Watched = Watched { descriptor: -1, events: 0 };

/// A set of sockets to wait for.
pub struct EpollSet {
    epoll: Descriptor,
    alarm: Alarm,
    /// By token.
    watched: Vec<Watched>,
    /// What the last wait found, by token.
    events: Vec<libc::epoll_event>,
}

impl Drop for EpollSet {
    fn drop(&mut self) {
        // SAFETY: `new` opened this descriptor for this value alone.
        unsafe { libc::close(self.epoll) };
    }
}

impl EpollSet {
    /// A set with nothing but its waker.
    pub fn new() -> Result<EpollSet, SocketError> {
        let alarm = Alarm::new()?;
        // SAFETY: takes a flag only.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(last_error());
        }
        let set = EpollSet { epoll, alarm, watched: Vec::new(), events: Vec::with_capacity(EVENTS) };
        set.control(libc::EPOLL_CTL_ADD, set.alarm.descriptor(), libc::EPOLLIN as u32, WAKER)?;
        Ok(set)
    }

    fn control(
        &self,
        operation: i32,
        descriptor: Descriptor,
        events: u32,
        token: u64,
    ) -> Result<(), SocketError> {
        let mut event = libc::epoll_event { events, u64: token };
        // SAFETY: both descriptors are integers to the kernel; `event` is read during the call.
        let result = unsafe { libc::epoll_ctl(self.epoll, operation, descriptor, &mut event) };
        if result < 0 { Err(last_error()) } else { Ok(()) }
    }
}

impl Poller for EpollSet {
    const TELLS_STATE: bool = true;
    type Waker = SocketWaker;

    fn watch(&mut self, token: usize, descriptor: Descriptor, interest: Interest) -> Result<(), SocketError> {
        if token >= self.watched.len() {
            let more = token + 1 - self.watched.len();
            self.watched.try_reserve(more).map_err(|_| SocketError::NoBuffers)?;
            self.watched.resize(token + 1, UNKNOWN);
        }
        let mut events = 0;
        if interest.read {
            events |= libc::EPOLLIN as u32;
        }
        if interest.write {
            events |= libc::EPOLLOUT as u32;
        }
        let before = self.watched[token];
        let wanted = Watched { descriptor, events };
        if before == wanted {
            return Ok(());
        }
        let same = before.descriptor == descriptor;
        if !same {
            self.forget(token);
        }
        // Without interest a dead connection would still report a hang-up for ever: leave it out altogether.
        if events == 0 {
            self.forget(token);
            return Ok(());
        }
        let operation = if same { libc::EPOLL_CTL_MOD } else { libc::EPOLL_CTL_ADD };
        self.control(operation, descriptor, events, token as u64)?;
        self.watched[token] = wanted;
        Ok(())
    }

    fn forget(&mut self, token: usize) {
        let Some(watched) = self.watched.get_mut(token) else { return };
        let descriptor = core::mem::replace(watched, UNKNOWN).descriptor;
        if descriptor >= 0 {
            // It fails only for a descriptor that is closed already, which the kernel has then forgotten itself.
            let _ = self.control(libc::EPOLL_CTL_DEL, descriptor, 0, 0);
        }
        // What the last wait found on it is no longer true.
        self.events.retain(|event| event.u64 != token as u64);
    }

    fn wait(&mut self, timeout_ms: Option<u64>) -> Result<(), SocketError> {
        let timeout = timeout_ms.map_or(-1, |ms| i32::try_from(ms).unwrap_or(i32::MAX));
        self.events.clear();
        // SAFETY: the vector has room for EVENTS events, and the kernel writes no more than that.
        let found = unsafe { libc::epoll_wait(self.epoll, self.events.as_mut_ptr(), EVENTS as i32, timeout) };
        if found < 0 {
            return match last_error() {
                SocketError::Interrupted => Ok(()),
                other => Err(other),
            };
        }
        // SAFETY: the kernel has just filled in `found` events, at most EVENTS.
        unsafe { self.events.set_len(found as usize) };
        if self.events.iter().any(|event| event.u64 == WAKER) {
            self.alarm.silence();
            self.events.retain(|event| event.u64 != WAKER);
        }
        // The caller's order of tokens is the order in which it serves.
        self.events.sort_unstable_by_key(|event| event.u64);
        Ok(())
    }

    fn next_ready(&mut self, from: &mut usize) -> Option<(usize, Readiness)> {
        let event = self.events.iter().find(|event| event.u64 >= *from as u64)?;
        let (token, events) = (event.u64 as usize, event.events);
        *from = token + 1;
        // Errors and hang-ups show in the next recv or send, so they count as ready for both.
        let read = events & !(libc::EPOLLOUT as u32) != 0;
        let write = events & !(libc::EPOLLIN as u32) != 0;
        Some((token, Readiness { read, write }))
    }

    fn waker(&self) -> Result<SocketWaker, SocketError> {
        Ok(self.alarm.waker())
    }
}
