// SPDX-License-Identifier: BSD-2-Clause
//! Linux: the operating system of the hosted program.

pub mod accounting;
pub mod allocator;
mod bell;
mod clock;
pub mod console;
mod epoll;
pub mod interfaces;
mod mutex;
mod process;
pub mod rtex;
pub mod signals;
mod task;
pub mod tcp_info;

use super::socket::{SocketError, on_bsd_sockets};
use super::{CpuTime, Descriptors, Identity, Interface, Media, Role, SpawnError, System};
use crate::value::Stamp;

pub use epoll::EpollSet;
pub use mutex::Mutex;
pub use task::Thread;

/// Linux as a [`System`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Hosted;

impl System for Hosted {
    on_bsd_sockets!(EpollSet);

    type Mutex<T: Send + 'static> = Mutex<T>;
    type Task = Thread;
    type Bell = bell::EventBell;

    fn monotonic_ms(&self) -> u64 {
        clock::monotonic_ms()
    }

    fn wall(&self) -> Stamp {
        clock::wall()
    }

    fn monotonic_ns(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn sleep_ms(&self, milliseconds: u64) {
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
    }

    fn bell(&self) -> bell::EventBell {
        // A process that has no descriptor left at its start cannot serve anybody either.
        bell::EventBell::new().expect("an eventfd")
    }

    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(path).map_err(|error| error.to_string())
    }

    fn interfaces(&self, visit: &mut dyn FnMut(Interface)) -> Result<(), SocketError> {
        interfaces::visit(visit)
    }

    fn media(&self, visit: &mut dyn FnMut(&str, Media)) {
        interfaces::media(visit);
    }

    fn spawn(&self, role: Role, entry: impl FnOnce() + Send + 'static) -> Result<Thread, SpawnError> {
        task::spawn(role, entry)
    }

    fn identity(&self) -> Identity {
        process::identity()
    }

    fn cpu_time(&self) -> Option<CpuTime> {
        process::cpu_time()
    }

    fn descriptors(&self) -> Option<Descriptors> {
        process::descriptors()
    }
}
