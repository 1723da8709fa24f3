// SPDX-License-Identifier: BSD-2-Clause
//! Readiness on the legacy BSD stack, which has no poll(2), and whose select() stops at its own FD_SETSIZE.
//!
//! A socket option, `SO_RCVWAKEUP` or `SO_SNDWAKEUP`, has the stack call a function whenever a socket's buffer changes.
//! Ours marks the socket's place and sends one event to the waiting task:
//!
//! ```text
//! network task:  packet -> sowakeup -> mark place, send event --+
//! our task:      recv until EWOULDBLOCK, wait <-----------------+   next_ready: the marked places
//! ```
//!
//! So the number of circuits is bounded by descriptors alone, and a wait costs nothing per socket. A mark tells of a
//! change, not of a state: callers go on until a call would block before they wait again. What is watched anew counts as
//! marked, and once a second every place does, so that no mistake in that lasts.

#![allow(unsafe_code)]

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::sys;
use super::{Descriptor, SocketError};
use crate::os::{Interest, Poller, Readiness, Wake};

/// Told to the waiting task. Not RTEMS_EVENT_24, which the stack itself uses up to RTEMS 4.10.
const EVENT: u32 = rtems_sys::RTEMS_EVENT_25 as u32;
/// rtems_bsdnet.h: the stack calls back when the receive buffer changes.
const SO_RCVWAKEUP: i32 = 0x1021;
/// rtems_bsdnet.h: the stack calls back when the send buffer changes.
const SO_SNDWAKEUP: i32 = 0x1020;
/// The longest wait between two looks at every socket.
const SWEEP_MS: u64 = 1000;

/// rtems_bsdnet.h: `struct sockwakeup`.
#[repr(C)]
struct SockWakeup {
    function: Option<unsafe extern "C" fn(socket: *mut c_void, argument: *mut c_void)>,
    argument: *mut c_void,
}

/// Who waits, shared with the wakers.
#[derive(Default)]
struct Waiter {
    /// The task in `wait`, once it has been there.
    task: AtomicU32,
    /// A waker was used since the last wait.
    woken: AtomicBool,
}

impl Waiter {
    fn notify(&self) {
        let task = self.task.load(Ordering::Acquire);
        if task != 0 {
            // SAFETY: takes integers; a task that has ended is an error without effect.
            unsafe { rtems_sys::rtems_event_send(task, EVENT) };
        }
    }
}

/// What the network task may touch of a watched socket.
struct Shared {
    waiter: Arc<Waiter>,
    readable: AtomicBool,
    writable: AtomicBool,
}

/// One watched socket.
struct Place {
    descriptor: Descriptor,
    interest: Interest,
    /// One element that never moves: the stack keeps its address until the place is forgotten.
    shared: Vec<Shared>,
}

/// A set of sockets to wait for.
pub struct WakeSet {
    places: Vec<Option<Place>>,
    waiter: Arc<Waiter>,
    /// When every place was marked last, in milliseconds.
    swept_ms: u64,
}

impl WakeSet {
    /// A set with nothing in it.
    pub fn new() -> Result<WakeSet, SocketError> {
        Ok(WakeSet { places: Vec::new(), waiter: Arc::new(Waiter::default()), swept_ms: 0 })
    }

    /// Something is marked that somebody is interested in.
    fn any_marked(&self) -> bool {
        self.places.iter().flatten().any(|place| {
            place.shared.first().is_some_and(|shared| {
                place.interest.read && shared.readable.load(Ordering::Acquire)
                    || place.interest.write && shared.writable.load(Ordering::Acquire)
            })
        })
    }

    fn mark_all(&self) {
        for shared in self.places.iter().flatten().filter_map(|place| place.shared.first()) {
            shared.readable.store(true, Ordering::Release);
            shared.writable.store(true, Ordering::Release);
        }
    }

    /// Waits for the event, at most so long.
    fn receive(timeout_ms: u64) {
        let tick_us = crate::os::rtems::config::CLOCK_MICROSECONDS_PER_TICK as u64;
        let ticks = u32::try_from(timeout_ms * 1000 / tick_us + 1).unwrap_or(u32::MAX);
        let option = (rtems_sys::RTEMS_EVENT_ANY | rtems_sys::RTEMS_WAIT) as u32;
        let mut received = 0;
        // SAFETY: the pointer is to a local that the call fills in.
        unsafe { rtems_sys::rtems_event_receive(EVENT, option, ticks, &mut received) };
    }
}

impl Poller for WakeSet {
    const TELLS_STATE: bool = false;
    type Waker = EventWaker;

    fn watch(&mut self, token: usize, descriptor: Descriptor, interest: Interest) -> Result<(), SocketError> {
        if token >= self.places.len() {
            let more = token + 1 - self.places.len();
            self.places.try_reserve(more).map_err(|_| SocketError::NoBuffers)?;
            self.places.resize_with(token + 1, || None);
        }
        if let Some(place) = &mut self.places[token]
            && place.descriptor == descriptor
        {
            let shared = &place.shared[0];
            if interest.read && !place.interest.read {
                shared.readable.store(true, Ordering::Release);
            }
            if interest.write && !place.interest.write {
                shared.writable.store(true, Ordering::Release);
            }
            place.interest = interest;
            return Ok(());
        }
        self.forget(token);
        let mut shared = Vec::new();
        shared.try_reserve_exact(1).map_err(|_| SocketError::NoBuffers)?;
        shared.push(Shared {
            waiter: Arc::clone(&self.waiter),
            readable: AtomicBool::new(true),
            writable: AtomicBool::new(true),
        });
        let place = Place { descriptor, interest, shared };
        let argument = (&raw const place.shared[0]).cast_mut().cast();
        // The place comes first, so that a failure between the two options takes back what was set.
        self.places[token] = Some(place);
        let set = option(descriptor, SO_RCVWAKEUP, Some(readable), argument)
            .and_then(|()| option(descriptor, SO_SNDWAKEUP, Some(writable), argument));
        if set.is_err() {
            self.forget(token);
        }
        set
    }

    fn forget(&mut self, token: usize) {
        if let Some(slot) = self.places.get_mut(token)
            && let Some(place) = slot.take()
        {
            // The stack calls back under its own semaphore, which setsockopt takes as well: after these two calls
            // nobody uses the memory of `place` any more.
            let _ = option(place.descriptor, SO_RCVWAKEUP, None, core::ptr::null_mut());
            let _ = option(place.descriptor, SO_SNDWAKEUP, None, core::ptr::null_mut());
        }
    }

    fn wait(&mut self, timeout_ms: Option<u64>) -> Result<(), SocketError> {
        // SAFETY: takes nothing.
        self.waiter.task.store(unsafe { rtems_sys::rtems_task_self() }, Ordering::Release);
        if self.waiter.woken.swap(false, Ordering::AcqRel) || self.any_marked() || timeout_ms == Some(0) {
            return Ok(());
        }
        Self::receive(timeout_ms.map_or(SWEEP_MS, |ms| ms.min(SWEEP_MS)));
        self.waiter.woken.store(false, Ordering::Release);
        // By the clock: callers that wake up more often than that are to be swept for as well.
        let now = crate::os::rtems::clock::monotonic_ns() / 1_000_000;
        if now.saturating_sub(self.swept_ms) >= SWEEP_MS {
            self.swept_ms = now;
            self.mark_all();
        }
        Ok(())
    }

    fn next_ready(&mut self, from: &mut usize) -> Option<(usize, Readiness)> {
        while let Some(slot) = self.places.get(*from) {
            let token = *from;
            *from += 1;
            let Some(place) = slot else { continue };
            let Some(shared) = place.shared.first() else { continue };
            let ready = Readiness {
                read: place.interest.read && shared.readable.swap(false, Ordering::AcqRel),
                write: place.interest.write && shared.writable.swap(false, Ordering::AcqRel),
            };
            if ready.read || ready.write {
                return Some((token, ready));
            }
        }
        None
    }

    fn waker(&self) -> Result<EventWaker, SocketError> {
        Ok(EventWaker(Arc::clone(&self.waiter)))
    }
}

impl Drop for WakeSet {
    fn drop(&mut self) {
        for token in 0..self.places.len() {
            self.forget(token);
        }
    }
}

/// Sets one of the two wake-up options.
fn option(
    descriptor: Descriptor,
    name: i32,
    function: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    argument: *mut c_void,
) -> Result<(), SocketError> {
    let wakeup = SockWakeup { function, argument };
    // SAFETY: `wakeup` is readable for its size during the call, which copies it. `argument` is the memory of a place,
    // which stays where it is until `forget` has set the option back.
    let result = unsafe {
        sys::setsockopt(
            descriptor,
            sys::SOL_SOCKET,
            name,
            (&raw const wakeup).cast(),
            size_of::<SockWakeup>() as sys::socklen_t,
        )
    };
    if result < 0 { Err(super::bsd::last_error()) } else { Ok(()) }
}

/// The stack calls it in its own task when a receive buffer changes.
unsafe extern "C" fn readable(_socket: *mut c_void, argument: *mut c_void) {
    // SAFETY: `watch` gave this address of a place's memory, and `forget` takes the option back before that memory goes.
    let shared = unsafe { &*argument.cast::<Shared>() };
    shared.readable.store(true, Ordering::Release);
    shared.waiter.notify();
}

/// The stack calls it in its own task when a send buffer changes.
unsafe extern "C" fn writable(_socket: *mut c_void, argument: *mut c_void) {
    // SAFETY: as for `readable`.
    let shared = unsafe { &*argument.cast::<Shared>() };
    shared.writable.store(true, Ordering::Release);
    shared.waiter.notify();
}

/// Wakes a [`WakeSet`].
pub struct EventWaker(Arc<Waiter>);

impl Wake for EventWaker {
    fn wake(&self) {
        self.0.woken.store(true, Ordering::Release);
        self.0.notify();
    }
}
