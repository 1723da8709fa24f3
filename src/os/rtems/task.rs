// SPDX-License-Identifier: BSD-2-Clause
//! Classic tasks, with the stacks and priorities of bsp-config.

#![allow(unsafe_code)]

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::cell::UnsafeCell;
use core::mem::zeroed;

use super::config;
use crate::os::{Role, SpawnError, Task};

/// What a task runs, boxed twice so that one word carries it.
type Entry = Box<dyn FnOnce() + Send>;

/// Set once when the task has ended.
struct Ended(UnsafeCell<rtems_sys::_Semaphore_Control>);

// SAFETY: the kernel serialises the semaphore calls, and nothing else touches the control block.
unsafe impl Sync for Ended {}
// SAFETY: see Sync.
unsafe impl Send for Ended {}

impl Ended {
    fn post(&self) {
        // SAFETY: the control block is initialised (zero: count 0, nobody waiting) and outlives the call by the Arc.
        unsafe { rtems_sys::_Semaphore_Post(self.0.get()) }
    }

    fn wait(&self) {
        // SAFETY: as for `post`.
        unsafe { rtems_sys::_Semaphore_Wait(self.0.get()) }
    }
}

/// A running task.
pub struct RtemsTask(Arc<Ended>);

impl Task for RtemsTask {
    fn join(self) {
        self.0.wait();
    }
}

// It sends one datagram for the application; below the server, a flood of requests would keep values waiting.
const _: () = assert!(config::TASK_COURIER_PRIORITY < config::TASK_SERVER_PRIORITY);

/// Stack in bytes and priority of a role.
const fn dimensions(role: Role) -> (usize, usize) {
    match role {
        Role::CaServer => (config::TASK_SERVER_STACK, config::TASK_SERVER_PRIORITY),
        Role::TcpEcho => (config::TASK_TCPECHO_STACK, config::TASK_TCPECHO_PRIORITY),
        Role::Courier => (config::TASK_COURIER_STACK, config::TASK_COURIER_PRIORITY),
    }
}

/// Up to four characters as the kernel packs them.
fn name(role: Role) -> u32 {
    let mut packed = [b' '; 4];
    for (to, from) in packed.iter_mut().zip(role.name().bytes()) {
        *to = from;
    }
    u32::from_be_bytes(packed)
}

/// Starts a task.
pub fn spawn(role: Role, entry: impl FnOnce() + Send + 'static) -> Result<RtemsTask, SpawnError> {
    // SAFETY: all zeroes is the initial value of a semaphore with count 0.
    let ended = Arc::new(Ended(UnsafeCell::new(unsafe { zeroed() })));
    let signal = Arc::clone(&ended);
    let run: Entry = Box::new(move || {
        entry();
        signal.post();
    });
    let argument = Box::into_raw(Box::new(run));
    let (stack, priority) = dimensions(role);
    let mut id = 0;
    // SAFETY: `id` is a local that the call fills in; the rest are integers. Every task has a floating point context: the
    // compiler may use the registers for anything.
    let mut status = unsafe {
        rtems_sys::rtems_task_create(
            name(role),
            priority as _,
            stack as _,
            rtems_sys::RTEMS_SYS_DEFAULT_MODES as _,
            rtems_sys::RTEMS_SYS_FLOATING_POINT as _,
            &mut id,
        )
    };
    if status == rtems_sys::RTEMS_SUCCESSFUL {
        // SAFETY: the task was just created and not started; `trampoline` takes the box over.
        status = unsafe { rtems_sys::rtems_task_start(id, Some(trampoline), argument as usize as _) };
        if status != rtems_sys::RTEMS_SUCCESSFUL {
            // SAFETY: the task never ran.
            unsafe { rtems_sys::rtems_task_delete(id) };
        }
    }
    if status != rtems_sys::RTEMS_SUCCESSFUL {
        // SAFETY: no task took the box over.
        drop(unsafe { Box::from_raw(argument) });
        return Err(SpawnError { role, code: status as i32 });
    }
    Ok(RtemsTask(ended))
}

/// Where a task starts: runs the box and ends the task.
unsafe extern "C" fn trampoline(argument: rtems_sys::rtems_task_argument) {
    // SAFETY: `spawn` made this pointer by Box::into_raw and gave it to this task alone.
    let run = unsafe { Box::from_raw(argument as usize as *mut Entry) };
    run();
    // SAFETY: the task deletes itself; nothing on its stack needs dropping any more.
    unsafe { rtems_sys::rtems_task_delete(rtems_sys::RTEMS_SYS_SELF as _) };
}
