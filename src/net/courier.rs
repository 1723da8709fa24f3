// SPDX-License-Identifier: BSD-2-Clause
//! The task between an application's tasks and the server's: hears the bell, which never makes anybody wait, and ends the
//! server's wait for its sockets, which may take the network stack's locks.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};

use super::service::{Machine, Service};
use crate::app::Ring;
use crate::os::{Bell, Lock, Role, SpawnError, System, Task};

/// The bell as the application's handles know it.
struct Rope<S: System>(Arc<S::Bell>);

impl<S: System> Ring for Rope<S> {
    fn ring(&self) {
        self.0.ring();
    }
}

/// See the module's description.
pub struct Courier<S: System> {
    system: S,
    bell: Arc<S::Bell>,
    stop: Arc<AtomicBool>,
    task: S::Mutex<Option<S::Task>>,
}

impl<S: System> Courier<S> {
    /// A courier that does not run yet.
    pub fn new(system: S) -> Self {
        let bell = Arc::new(system.bell());
        Courier { system, bell, stop: Arc::new(AtomicBool::new(false)), task: Lock::new(None) }
    }

    /// What handles ring.
    pub fn ring(&self) -> Arc<dyn Ring> {
        Arc::new(Rope::<S>(Arc::clone(&self.bell)))
    }

    /// Starts the task unless it runs.
    pub fn start<M: Machine<S>>(&self, service: &Service<S, M>) -> Result<(), SpawnError> {
        self.task.with(|task| {
            if task.is_some() {
                return Ok(());
            }
            self.stop.store(false, Ordering::Release);
            let (bell, stop, waker) = (Arc::clone(&self.bell), Arc::clone(&self.stop), service.wake_handle());
            *task = Some(self.system.spawn(Role::Courier, move || {
                loop {
                    bell.wait();
                    if stop.load(Ordering::Acquire) {
                        bell.close();
                        return;
                    }
                    waker.wake();
                }
            })?);
            Ok(())
        })
    }

    /// Ends the task.
    pub fn stop(&self) {
        self.task.with(|task| {
            if let Some(task) = task.take() {
                self.stop.store(true, Ordering::Release);
                self.bell.ring();
                task.join();
            }
        });
    }
}

impl<S: System> Drop for Courier<S> {
    fn drop(&mut self) {
        self.stop();
    }
}
