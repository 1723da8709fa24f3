// SPDX-License-Identifier: BSD-2-Clause
//! RTEMS as a [`System`].

use alloc::string::String;
use alloc::vec::Vec;

use super::{bell, clock, descriptors, files, interfaces, kernel, mutex, task};
#[cfg(not(feature = "legacy-network"))]
use crate::os::socket::poll::PollSet as Readiness;
#[cfg(feature = "legacy-network")]
use crate::os::socket::wakeup::WakeSet as Readiness;
use crate::os::socket::{SocketError, on_bsd_sockets};
use crate::os::{CpuTime, Descriptors, Identity, Interface, Media, Role, SpawnError, System};
use crate::value::Stamp;

/// RTEMS.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rtems;

impl System for Rtems {
    on_bsd_sockets!(Readiness);

    type Mutex<T: Send + 'static> = mutex::Mutex<T>;
    type Task = task::RtemsTask;
    type Bell = bell::EventBell;

    fn monotonic_ms(&self) -> u64 {
        clock::monotonic_ns() / 1_000_000
    }

    fn monotonic_ns(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn wall(&self) -> Stamp {
        clock::wall()
    }

    fn sleep_ms(&self, milliseconds: u64) {
        clock::sleep_ms(milliseconds);
    }

    fn bell(&self) -> bell::EventBell {
        bell::EventBell::default()
    }

    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        files::read(path)
    }

    fn interfaces(&self, visit: &mut dyn FnMut(Interface)) -> Result<(), SocketError> {
        interfaces::visit(visit)
    }

    fn media(&self, visit: &mut dyn FnMut(&str, Media)) {
        interfaces::media(visit);
    }

    fn spawn(
        &self,
        role: Role,
        entry: impl FnOnce() + Send + 'static,
    ) -> Result<task::RtemsTask, SpawnError> {
        task::spawn(role, entry)
    }

    fn identity(&self) -> Identity {
        kernel::identity()
    }

    fn cpu_time(&self) -> Option<CpuTime> {
        kernel::cpu_time()
    }

    fn descriptors(&self) -> Option<Descriptors> {
        descriptors::descriptors()
    }
}
