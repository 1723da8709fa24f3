// SPDX-License-Identifier: BSD-2-Clause
//! The measuring commands on RTEMS: first touch without paging, the tasks' processor time, the benchmark as a client.

#![allow(unsafe_code)]

use alloc::string::ToString;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::fmt::Write;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::console::Stdout;
use super::{Rtems, clock, config, kernel, settings};
use crate::net::settings::dotted;
use crate::os::System;
use crate::os::c_block::{CBlock, Cool};
use crate::rtex::{self, Platform, Refused, Stack};
use crate::shell::{self, Diagnosis};
use crate::spy::{self, Accounting, Task};
use crate::{catime, pool};

/// `struct rtems_ioc_task` of measure.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawTask {
    cpu_ns: u64,
    id: u32,
    idle: u32,
    name: [u8; 16],
}

unsafe extern "C" {
    /// measure.h
    fn rtems_ioc_tasks(tasks: *mut RawTask, room: usize) -> usize;
    /// measure.h
    fn rtems_ioc_stack(lowest: *mut usize, bytes: *mut usize);
    /// measure.h
    fn rtems_ioc_stack_used() -> usize;
    /// measure.h
    fn rtems_ioc_cool(begin: *const c_void, bytes: usize);
    /// measure.h
    fn rtems_ioc_cache_line() -> usize;
}

/// The measuring commands of an image.
pub struct Kit;

impl Diagnosis for Kit {
    fn rtex(&self, out: &mut dyn Write, arguments: &[&str]) -> i32 {
        // In RTEMS's own test format, so that a tester can run it; it is no test that could fail.
        let begun = write!(
            out,
            "\n*** BEGIN OF TEST IOC RTEX ***\n*** TEST VERSION: {}\n*** TEST STATE: BENCHMARK\n*** TEST BUILD: {}\n",
            kernel::version(),
            config::BSP_NAME
        );
        let status = rtex::command(&mut Board, out, arguments);
        if begun.is_err() || out.write_str("*** END OF TEST IOC RTEX ***\n\n").is_err() {
            return shell::FAILED;
        }
        status
    }

    fn catime(&self, out: &mut dyn Write, arguments: &[&str]) -> i32 {
        let get = |name: &str| settings::setting(name).map(ToString::to_string);
        let environment = catime::Environment { get: &get, resolve: &dotted };
        catime::command(Rtems, &environment, out, arguments)
    }

    fn spy(&self, out: &mut dyn Write, arguments: &[&str]) -> i32 {
        spy::command(&Board, out, arguments)
    }
}

/// rtems_ioc_server.h: the benchmark as EPICS's `catime` is called.
///
/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_catime(name: *const c_char, count: c_uint, append: c_int) -> c_int {
    if name.is_null() {
        return -1;
    }
    // SAFETY: not NULL by the line above, and a C string by this function's contract.
    let Ok(name) = unsafe { CStr::from_ptr(name) }.to_str() else { return -1 };
    let (count, append) = (count.to_string(), append.to_string());
    match Kit.catime(&mut Stdout, &[name, &count, &append]) {
        shell::OK => 0,
        _ => -1,
    }
}

/// The board under the measuring commands.
struct Board;

impl Cool for Board {
    fn cool(start: NonNull<u8>, bytes: usize) -> bool {
        // SAFETY: the call takes a range and changes no contents; lines that reach over its ends are written back first.
        unsafe { rtems_ioc_cool(start.as_ptr().cast::<c_void>(), bytes) };
        // SAFETY: takes nothing.
        unsafe { rtems_ioc_cache_line() > 0 }
    }
}

/// What every remedy against paging is here.
const NOTHING_TO_DO: Refused = Refused("RTEMS has no paging: nothing to do");

impl Platform for Board {
    type Block = CBlock<Board>;

    fn now_ns(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn faults(&self) -> u64 {
        0
    }

    fn has_paging(&self) -> bool {
        false
    }

    fn page_bytes(&self) -> usize {
        // SAFETY: takes nothing.
        unsafe { rtems_ioc_cache_line() }.max(32)
    }

    fn stack(&self) -> Stack {
        let here = 0_u8;
        let here = (&raw const here) as usize;
        let (mut lowest, mut size) = (0, 0);
        // SAFETY: two pointers to locals that the call fills in.
        unsafe { rtems_ioc_stack(&mut lowest, &mut size) };
        Stack { size, free: here.saturating_sub(lowest) }
    }

    fn stack_high_water(&self) -> Option<usize> {
        // SAFETY: reads the calling task's own stack.
        match unsafe { rtems_ioc_stack_used() } {
            0 => None,
            used => Some(used),
        }
    }

    fn largest_block(&self) -> usize {
        pool::pool().largest().unwrap_or(0)
    }

    fn allocate(&mut self, bytes: usize) -> Option<CBlock<Board>> {
        CBlock::allocate(bytes)
    }

    fn keep_heap(&mut self) -> Result<(), Refused> {
        Err(NOTHING_TO_DO)
    }

    fn lock_memory(&mut self) -> Result<(), Refused> {
        Err(NOTHING_TO_DO)
    }
}

/// Tasks that may come while the list is made.
const SLACK: usize = 16;

impl Accounting for Board {
    fn now_ns(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn processors(&self) -> u32 {
        1
    }

    fn tasks(&self, visit: &mut dyn FnMut(Task)) -> Result<(), &'static str> {
        // The kernel lends its list under a lock: nothing is allocated while it does.
        // SAFETY: without room nothing is written.
        let count = unsafe { rtems_ioc_tasks(core::ptr::null_mut(), 0) } + SLACK;
        let mut tasks: Vec<MaybeUninit<RawTask>> = Vec::new();
        tasks.try_reserve_exact(count).map_err(|_| "no memory for the list of tasks")?;
        // SAFETY: the vector has room for `count` tasks.
        let found = unsafe { rtems_ioc_tasks(tasks.as_mut_ptr().cast(), count) }.min(count);
        // SAFETY: the call has written `found` tasks, and no more than there was room for.
        unsafe { tasks.set_len(found) };
        for task in &tasks {
            // SAFETY: written by the call above.
            let RawTask { cpu_ns, id, idle, name } = unsafe { task.assume_init() };
            visit(Task { id: id.into(), name, cpu_ns, idle: idle != 0 });
        }
        Ok(())
    }

    fn sleep_ms(&self, milliseconds: u64) {
        Rtems.sleep_ms(milliseconds);
    }
}
