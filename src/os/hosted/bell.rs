// SPDX-License-Identifier: BSD-2-Clause
//! An eventfd as a bell.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;

use crate::os::Bell;

/// Counts the rings since the last wait.
#[derive(Debug)]
pub struct EventBell(File);

impl EventBell {
    /// A bell that was not rung.
    pub fn new() -> std::io::Result<EventBell> {
        // SAFETY: takes integers and returns a descriptor of its own.
        let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the descriptor was opened by the call above and belongs to nobody else.
        Ok(EventBell(unsafe { File::from_raw_fd(descriptor) }))
    }
}

impl Bell for EventBell {
    fn ring(&self) {
        // The counter would have to reach 2^64 - 1 before this waited.
        let _ = (&self.0).write(&1u64.to_ne_bytes());
    }

    fn wait(&self) {
        let mut count = [0; 8];
        // A signal ends the wait early, which is as good as a ring.
        let _ = (&self.0).read(&mut count);
    }
}
