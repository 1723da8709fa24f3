// SPDX-License-Identifier: BSD-2-Clause
//! Threads of std as tasks. Linux gives them their stacks.

#![allow(unsafe_code)]

use std::thread::{Builder, JoinHandle};

use crate::os::{Role, SpawnError, Task};

/// A running thread.
#[derive(Debug)]
pub struct Thread(JoinHandle<()>);

/// Starts a thread.
pub fn spawn(role: Role, entry: impl FnOnce() + Send + 'static) -> Result<Thread, SpawnError> {
    Builder::new()
        .name(role.name().into())
        .spawn(move || {
            if let Some(priority) = real_time_priority(role) {
                make_real_time(priority);
            }
            entry();
        })
        .map(Thread)
        .map_err(|error| SpawnError { role, code: error.raw_os_error().unwrap_or(0) })
}

/// As an IOC's CA server does on Linux, ours asks for real-time scheduling, so that other programs do not hold it up;
/// it gets that only where the user may (`ulimit -r`). EPICS's own variable turns it off here as well.
fn real_time_priority(role: Role) -> Option<i32> {
    let allowed = std::env::var("EPICS_ALLOW_POSIX_THREAD_PRIORITY_SCHEDULING");
    if allowed.is_ok_and(|value| value.eq_ignore_ascii_case("no")) {
        return None;
    }
    match role {
        // EPICS's epicsThreadPriorityCAServerLow as it maps it to Linux.
        Role::CaServer => Some(16),
        // A client that floods it must not take the processor from everything else.
        Role::TcpEcho => None,
        // Above the server, or a flood of requests would keep values of the application waiting.
        Role::Courier => Some(17),
    }
}

fn make_real_time(priority: i32) {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: 0 is the calling thread, and the pointer is to a local that is read during the call.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) } != 0 {
        log::info!("real-time scheduling is not permitted: other programs may delay the server");
    }
}

impl Task for Thread {
    fn join(self) {
        if self.0.join().is_err() {
            log::error!("a task ended by a panic");
        }
    }
}
