// SPDX-License-Identifier: BSD-2-Clause
//! Network buffers of the legacy BSD stack: asked for before a call that would wait for them.
//!
//! When buffers are missing, this stack's `send` and `accept` wait inside the stack, on non-blocking sockets as well. A
//! server that waits there receives from nobody, so that what its clients have sent keeps the buffers which it waits
//! for. So a reserve is left alone: below it our calls are refused with what other stacks say, "no buffers", and their
//! callers serve the others meanwhile.

#![allow(unsafe_code)]

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use super::SocketError;

unsafe extern "C" {
    /// network.h: 0 when there are too few buffers to send so many bytes, 1 when there are enough, 2 when plenty.
    fn rtems_ioc_network_buffers(bytes: usize) -> c_int;
}

/// The shortage has been logged, and its end not yet.
static SHORT: AtomicBool = AtomicBool::new(false);

/// Are there buffers for a call that moves so many bytes into the stack? A shortage is logged once, and its end.
pub fn ask(bytes: usize) -> Result<(), SocketError> {
    // SAFETY: takes an integer and reads two counters of the stack.
    match unsafe { rtems_ioc_network_buffers(bytes) } {
        0 => {
            if !SHORT.swap(true, Ordering::Relaxed) {
                log::warn!("the network stack runs out of buffers: sending waits, receiving goes on");
            }
            Err(SocketError::NoBuffers)
        }
        2 if SHORT.load(Ordering::Relaxed) => {
            if SHORT.swap(false, Ordering::Relaxed) {
                log::warn!("the network stack has buffers again");
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
