// SPDX-License-Identifier: BSD-2-Clause
//! Threads of std as tasks. Linux gives them their stacks and shares the CPU itself.

use std::thread::{Builder, JoinHandle};

use crate::os::{Role, SpawnError, Task};

/// A running thread.
#[derive(Debug)]
pub struct Thread(JoinHandle<()>);

/// Starts a thread.
pub fn spawn(role: Role, entry: impl FnOnce() + Send + 'static) -> Result<Thread, SpawnError> {
    Builder::new()
        .name(role.name().into())
        .spawn(entry)
        .map(Thread)
        .map_err(|error| SpawnError { role, code: error.raw_os_error().unwrap_or(0) })
}

impl Task for Thread {
    fn join(self) {
        if self.0.join().is_err() {
            log::error!("a task ended by a panic");
        }
    }
}
