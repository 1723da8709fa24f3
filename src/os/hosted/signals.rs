// SPDX-License-Identifier: BSD-2-Clause
//! SIGINT and SIGTERM as something to wait for instead of something that interrupts.

#![allow(unsafe_code)]

/// SIGINT, SIGTERM and SIGHUP, blocked in every thread.
pub struct Termination(libc::sigset_t);

impl Termination {
    /// Blocks the signals in this thread and in every thread that it starts afterwards: call it first in main.
    pub fn block() -> Termination {
        // SAFETY: sigset_t is plain data that sigemptyset fills in; all pointers are to that local.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            Termination(set)
        }
    }

    /// Waits for one of them and returns its number.
    pub fn wait(&self) -> i32 {
        let mut signal = 0;
        // SAFETY: both pointers are valid during the call.
        while unsafe { libc::sigwait(&self.0, &mut signal) } != 0 {}
        signal
    }
}
