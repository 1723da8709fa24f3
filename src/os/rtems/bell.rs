// SPDX-License-Identifier: BSD-2-Clause
//! A bell that costs who rings it one store; the clock's interrupt does the rest (bell.c).

#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU32, Ordering};

use crate::os::Bell;

/// `struct rtems_ioc_bell`.
#[repr(C)]
#[derive(Debug, Default)]
pub struct EventBell {
    rung: AtomicU32,
    task: AtomicU32,
    timer: AtomicU32,
}

unsafe extern "C" {
    /// bell.h
    fn rtems_ioc_bell_wait(bell: *const EventBell);
    /// bell.h
    fn rtems_ioc_bell_close(bell: *const EventBell);
}

impl Bell for EventBell {
    fn ring(&self) {
        self.rung.store(1, Ordering::SeqCst);
    }

    fn wait(&self) {
        // SAFETY: the bell is shared words only, and its owner keeps it until `close` has ended the interrupt's use of it.
        unsafe { rtems_ioc_bell_wait(self) };
    }

    fn close(&self) {
        // SAFETY: as above.
        unsafe { rtems_ioc_bell_close(self) };
    }
}
