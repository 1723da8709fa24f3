// SPDX-License-Identifier: BSD-2-Clause
//! A server as a task that can be started, stopped and looked at from another one.
//!
//! The server's state stays in a mutex that its task holds during a turn and releases while it waits, so that a shell
//! command sees it between two turns. Stopping sets a flag, wakes the task and waits for its end: the task itself
//! closes its sockets, so no descriptor is closed under a task that waits on it.

use alloc::sync::Arc;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::os::socket::SocketError;
use crate::os::{Lock, Poller, Role, SpawnError, System, Task, Wake};

/// A server without its task: what it does when it gets the CPU.
pub trait Machine<S: System>: Send + 'static {
    /// What it is told at each start.
    type Options;
    /// Why it could not open its sockets.
    type Error;

    /// Opens the sockets and registers them.
    fn open(&mut self, system: &S, poller: &mut S::Poller, options: Self::Options)
    -> Result<(), Self::Error>;

    /// Serves what the last wait found and whatever is due. Returns how long to wait at most, in milliseconds; `None`
    /// until something comes.
    fn turn(&mut self, poller: &mut S::Poller, now: u64) -> Option<u64>;

    /// Shuts all connections and closes every socket.
    fn close(&mut self, poller: &mut S::Poller);
}

/// Why a service did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError<E> {
    /// It runs already.
    Running,
    /// No poller.
    Poller(SocketError),
    /// The server could not open its sockets.
    Open(E),
    /// No task.
    Spawn(SpawnError),
}

impl<E: fmt::Display> fmt::Display for StartError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Running => f.write_str("it is running already"),
            StartError::Poller(error) => write!(f, "cannot wait for sockets: {error}"),
            StartError::Open(error) => error.fmt(f),
            StartError::Spawn(error) => error.fmt(f),
        }
    }
}

struct Shared<S: System, M: Machine<S>> {
    system: S,
    machine: S::Mutex<M>,
    stop: AtomicBool,
}

struct Running<S: System> {
    task: S::Task,
    waker: <S::Poller as Poller>::Waker,
}

/// A machine and, while it runs, its task.
pub struct Service<S: System, M: Machine<S>> {
    role: Role,
    shared: Arc<Shared<S, M>>,
    running: Arc<S::Mutex<Option<Running<S>>>>,
}

/// Ends a service's waits from another task, whether it runs or not.
pub struct WakeHandle<S: System>(Arc<S::Mutex<Option<Running<S>>>>);

impl<S: System> WakeHandle<S> {
    /// Ends the current wait. May wait for a start or stop that is going on.
    pub fn wake(&self) {
        self.0.with(|running| {
            if let Some(running) = running {
                running.waker.wake();
            }
        });
    }
}

impl<S: System, M: Machine<S>> Service<S, M> {
    /// A service that does not run yet.
    pub fn new(system: S, role: Role, machine: M) -> Self {
        let shared = Shared { system, machine: Lock::new(machine), stop: AtomicBool::new(false) };
        Service { role, shared: Arc::new(shared), running: Arc::new(Lock::new(None)) }
    }

    /// Opens the sockets, then starts the task; returns when it accepts clients.
    pub fn start(&self, options: M::Options) -> Result<(), StartError<M::Error>> {
        self.running.with(|running| {
            if running.is_some() {
                return Err(StartError::Running);
            }
            let mut poller = self.shared.system.poller().map_err(StartError::Poller)?;
            let waker = poller.waker().map_err(StartError::Poller)?;
            let system = &self.shared.system;
            self.shared
                .machine
                .with(|machine| machine.open(system, &mut poller, options))
                .map_err(StartError::Open)?;
            self.shared.stop.store(false, Ordering::Relaxed);
            let shared = Arc::clone(&self.shared);
            let spawned = system.spawn(self.role, move || run(&shared, poller));
            match spawned {
                Ok(task) => {
                    *running = Some(Running { task, waker });
                    Ok(())
                }
                Err(error) => {
                    // The poller went with the entry that was not run; a fresh one does for closing.
                    if let Ok(mut poller) = system.poller() {
                        self.shared.machine.with(|machine| machine.close(&mut poller));
                    }
                    Err(StartError::Spawn(error))
                }
            }
        })
    }

    /// Ends the task and all its connections; false if it did not run. Returns when every socket is closed.
    pub fn stop(&self) -> bool {
        self.running.with(|running| {
            let Some(Running { task, waker }) = running.take() else { return false };
            self.shared.stop.store(true, Ordering::Release);
            waker.wake();
            task.join();
            true
        })
    }

    /// The task is there.
    pub fn is_running(&self) -> bool {
        self.running.with(|running| running.is_some())
    }

    /// Ends the current wait, so that changes made by other tasks are served now.
    pub fn wake(&self) {
        self.wake_handle().wake();
    }

    /// What other tasks keep to do that.
    pub fn wake_handle(&self) -> WakeHandle<S> {
        WakeHandle(Arc::clone(&self.running))
    }

    /// Looks at or changes the machine between two turns.
    pub fn with<R>(&self, use_it: impl FnOnce(&mut M) -> R) -> R {
        self.shared.machine.with(use_it)
    }
}

impl<S: System, M: Machine<S>> Drop for Service<S, M> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How long to leave a poller alone that failed: it must not become a busy loop.
const POLL_FAILURE_PAUSE_MS: u64 = 100;

fn run<S: System, M: Machine<S>>(shared: &Shared<S, M>, mut poller: S::Poller) {
    let mut complained = false;
    while !shared.stop.load(Ordering::Acquire) {
        let now = shared.system.monotonic_ms();
        let timeout = shared.machine.with(|machine| machine.turn(&mut poller, now));
        match poller.wait(timeout) {
            Ok(()) => complained = false,
            Err(error) => {
                if !complained {
                    log::error!("waiting for sockets failed: {error}");
                    complained = true;
                }
                shared.system.sleep_ms(POLL_FAILURE_PAUSE_MS);
            }
        }
    }
    shared.machine.with(|machine| machine.close(&mut poller));
}
