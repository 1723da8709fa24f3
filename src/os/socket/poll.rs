// SPDX-License-Identifier: BSD-2-Clause
//! Readiness by poll(2): Linux, and sockets under libbsd.
//!
//! The array given to poll is indexed by token, so that nothing is searched; unused places hold descriptor -1, which
//! poll skips.

#![allow(unsafe_code)]

use alloc::vec::Vec;

use super::alarm::{Alarm, SocketWaker};
use super::bsd::last_error;
use super::sys::{self, Timeout, pollfd};
use super::{Descriptor, SocketError};
use crate::os::{Interest, Poller, Readiness};

const UNUSED: pollfd = pollfd { fd: -1, events: 0, revents: 0 };

/// A set of sockets to wait for.
pub struct PollSet {
    /// Place 0 is the waker's; place `token + 1` the caller's.
    places: Vec<pollfd>,
    alarm: Alarm,
    timeout: Timeout,
    /// Places that the last wait found ready and that `next_ready` has not returned yet.
    ready: usize,
}

impl PollSet {
    /// A set with nothing but its waker.
    pub fn new() -> Result<PollSet, SocketError> {
        let alarm = Alarm::new()?;
        let mut places = Vec::new();
        places.try_reserve(8).map_err(|_| SocketError::NoBuffers)?;
        places.push(pollfd { fd: alarm.descriptor(), events: sys::POLLIN, revents: 0 });
        let timeout = Timeout::new(alarm.waker());
        Ok(PollSet { places, alarm, timeout, ready: 0 })
    }
}

impl Poller for PollSet {
    const TELLS_STATE: bool = true;
    type Waker = SocketWaker;

    fn watch(&mut self, token: usize, descriptor: Descriptor, interest: Interest) -> Result<(), SocketError> {
        let place = token + 1;
        if place >= self.places.len() {
            let more = place + 1 - self.places.len();
            self.places.try_reserve(more).map_err(|_| SocketError::NoBuffers)?;
            self.places.resize(place + 1, UNUSED);
        }
        let mut events = 0;
        if interest.read {
            events |= sys::POLLIN;
        }
        if interest.write {
            events |= sys::POLLOUT;
        }
        // Without interest a dead connection would still report POLLHUP for ever: leave it out altogether.
        let fd = if events == 0 { -1 } else { descriptor };
        let place = &mut self.places[place];
        place.fd = fd;
        place.events = events;
        Ok(())
    }

    fn forget(&mut self, token: usize) {
        if let Some(place) = self.places.get_mut(token + 1) {
            *place = UNUSED;
        }
        while self.places.len() > 1 && self.places.last().is_some_and(|last| last.fd < 0) {
            self.places.pop();
        }
    }

    fn wait(&mut self, timeout_ms: Option<u64>) -> Result<(), SocketError> {
        let timeout = self.timeout.begin(timeout_ms);
        self.ready = 0;
        // SAFETY: the pointer and the number describe `places`, which nobody else touches during the call.
        let found = unsafe { sys::poll(self.places.as_mut_ptr(), self.places.len() as _, timeout) };
        self.timeout.end();
        if found < 0 {
            return match last_error() {
                SocketError::Interrupted => Ok(()),
                other => Err(other),
            };
        }
        self.ready = found as usize;
        if self.ready > 0 && self.places[0].revents != 0 {
            self.ready -= 1;
            self.alarm.silence();
        }
        Ok(())
    }

    fn next_ready(&mut self, from: &mut usize) -> Option<(usize, Readiness)> {
        while self.ready > 0 {
            let token = *from;
            let place = self.places.get_mut(token + 1)?;
            *from += 1;
            // A place without descriptor may still hold an old answer: poll does not touch it on every system.
            if place.fd < 0 || place.revents == 0 {
                continue;
            }
            self.ready -= 1;
            let revents = place.revents;
            // Errors and hang-ups show in the next recv or send, so they count as ready for both.
            let other = revents & !(sys::POLLIN | sys::POLLOUT) != 0;
            return Some((
                token,
                Readiness {
                    read: other || revents & sys::POLLIN != 0,
                    write: other || revents & sys::POLLOUT != 0,
                },
            ));
        }
        None
    }

    fn waker(&self) -> Result<SocketWaker, SocketError> {
        Ok(self.alarm.waker())
    }
}
