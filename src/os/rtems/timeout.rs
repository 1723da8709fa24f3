// SPDX-License-Identifier: BSD-2-Clause
//! The end of a wait for sockets, by a timer of the kernel instead of poll's own timeout.
//!
//! libbsd takes poll's timeout for a moment of the uptime and waits for the tick that this moment should have. Each tick
//! that was ever lost (interrupts off for longer than a tick, an emulator that got no processor) then makes every timeout
//! later, for good: seconds, after a while. A timer counts ticks from now, and wakes the waiting task by its socket.

#![allow(unsafe_code)]

use alloc::boxed::Box;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::zeroed;

use super::clock;
use crate::os::Wake;
use crate::os::socket::alarm::SocketWaker;

/// What the timer server uses; lives until that has said that it is done with it.
struct Shared {
    waker: SocketWaker,
    released: UnsafeCell<rtems_sys::_Semaphore_Control>,
}

/// A timer that wakes one waiting task. Without a timer server, or when there are no timers left, poll's timeout is used.
pub struct Timeout(Option<(rtems_sys::rtems_id, Box<Shared>)>);

// SAFETY: the kernel serialises the calls on the timer and on the semaphore; the waker may be used from any task.
unsafe impl Send for Timeout {}

impl Timeout {
    /// For the task that this waker wakes.
    pub fn new(waker: SocketWaker) -> Timeout {
        let mut id = 0;
        // SAFETY: `id` is a local that the call fills in.
        let status = unsafe { rtems_sys::rtems_timer_create(u32::from_be_bytes(*b"poll"), &mut id) };
        if status != rtems_sys::RTEMS_SUCCESSFUL {
            return Timeout(None);
        }
        // SAFETY: all zeroes is the initial value of a semaphore with count 0.
        let released = UnsafeCell::new(unsafe { zeroed() });
        Timeout(Some((id, Box::new(Shared { waker, released }))))
    }

    /// Begins a wait of so long (`None`: for ever): the timeout that poll gets.
    pub fn begin(&self, timeout_ms: Option<u64>) -> i32 {
        let Some(ms) = timeout_ms else { return -1 };
        if ms > 0 && self.fire_after(clock::ticks(ms), wake) {
            return -1;
        }
        i32::try_from(ms).unwrap_or(i32::MAX)
    }

    /// The wait has ended.
    pub fn end(&self) {
        if let Timeout(Some((id, _))) = self {
            // SAFETY: the timer is ours; one that does not run stays as it is.
            unsafe { rtems_sys::rtems_timer_cancel(*id) };
        }
    }

    fn fire_after(
        &self,
        ticks: u32,
        routine: unsafe extern "C" fn(rtems_sys::rtems_id, *mut c_void),
    ) -> bool {
        let Timeout(Some((id, shared))) = self else { return false };
        let argument = (&raw const **shared).cast_mut().cast();
        // SAFETY: the timer is ours, and `shared` stays where it is until `drop` has waited for the timer server.
        let status = unsafe { rtems_sys::rtems_timer_server_fire_after(*id, ticks, Some(routine), argument) };
        status == rtems_sys::RTEMS_SUCCESSFUL
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        // The server runs one routine after the other: when it has come to this one, none that it began before still runs.
        let asked = self.fire_after(1, release);
        let Timeout(Some((id, shared))) = self else { return };
        if asked {
            // SAFETY: the semaphore was initialised by `new`, and `release` posts it once.
            unsafe { rtems_sys::_Semaphore_Wait(shared.released.get()) };
        }
        // SAFETY: the timer is ours and does not run any more.
        unsafe { rtems_sys::rtems_timer_delete(*id) };
    }
}

/// In the timer server: the time is over.
unsafe extern "C" fn wake(_: rtems_sys::rtems_id, argument: *mut c_void) {
    // SAFETY: `fire_after` passed a `Shared` that lives until `drop` has waited for this task.
    unsafe { &*argument.cast::<Shared>() }.waker.wake();
}

/// In the timer server: nothing of this timer runs any more.
unsafe extern "C" fn release(_: rtems_sys::rtems_id, argument: *mut c_void) {
    // SAFETY: as for `wake`; `drop` waits for exactly this post.
    unsafe { rtems_sys::_Semaphore_Post((*argument.cast::<Shared>()).released.get()) };
}
