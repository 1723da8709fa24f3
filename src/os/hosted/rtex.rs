// SPDX-License-Identifier: BSD-2-Clause
//! The first-touch demonstration on Linux: the C library's own malloc, and the kernel's page faults.
//!
//! It goes round the program's global allocator on purpose: a model of another heap in memory that was touched long ago
//! would show nothing.
#![allow(unsafe_code)]

use crate::os::c_block::{CBlock, Cool};
use crate::rtex::{Block, Platform, Refused, Stack};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// Bytes walked to push everything else out of the data cache.
const CACHE_BYTES: usize = 64 * 1024 * 1024;
/// Shortest cache line in use, bytes.
const CACHE_LINE: usize = 32;

/// Linux under the demonstration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux;

impl Cool for Linux {
    fn cool(_: NonNull<u8>, _: usize) -> bool {
        // No program may flush a cache here: something larger pushes the block out.
        let Some(mut sweep) = CBlock::<Linux>::allocate(CACHE_BYTES) else { return false };
        sweep.touch(CACHE_LINE);
        true
    }
}

impl Platform for Linux {
    type Block = CBlock<Linux>;

    fn now_ns(&self) -> u64 {
        let mut now = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: clock_gettime writes the whole struct when it returns 0, and CLOCK_MONOTONIC always exists.
        let now = unsafe {
            if libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr()) != 0 {
                return 0;
            }
            now.assume_init()
        };
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    fn faults(&self) -> u64 {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: getrusage writes the whole struct when it returns 0.
        unsafe {
            if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
                return 0;
            }
            usage.assume_init().ru_minflt as u64
        }
    }

    fn has_paging(&self) -> bool {
        true
    }

    fn page_bytes(&self) -> usize {
        // SAFETY: sysconf only answers.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(bytes).unwrap_or(4096)
    }

    fn stack(&self) -> Stack {
        let mut here = 0_u8;
        let here = core::ptr::addr_of_mut!(here) as usize;
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        let (mut lowest, mut size) = (core::ptr::null_mut(), 0);
        // SAFETY: the attributes are used only after pthread_getattr_np has initialised them, and destroyed after.
        unsafe {
            if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
                return Stack { size: 0, free: 0 };
            }
            libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut size);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
        }
        Stack { size, free: here.saturating_sub(lowest as usize) }
    }

    fn stack_high_water(&self) -> Option<usize> {
        None
    }

    fn largest_block(&self) -> usize {
        // SAFETY: sysconf only answers.
        let pages = unsafe { libc::sysconf(libc::_SC_AVPHYS_PAGES) };
        usize::try_from(pages).unwrap_or(0).saturating_mul(self.page_bytes())
    }

    fn allocate(&mut self, bytes: usize) -> Option<CBlock<Linux>> {
        CBlock::allocate(bytes)
    }

    fn keep_heap(&mut self) -> Result<(), Refused> {
        // SAFETY: mallopt changes settings of malloc only.
        let accepted = unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, -1) == 1 && libc::mallopt(libc::M_MMAP_MAX, 0) == 1
        };
        if accepted { Ok(()) } else { Err(Refused("this C library does not know the settings")) }
    }

    fn lock_memory(&mut self) -> Result<(), Refused> {
        // SAFETY: mlockall changes no contents.
        if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } == 0 {
            return Ok(());
        }
        Err(Refused(match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EPERM) => "not permitted (run as root)",
            Some(libc::ENOMEM) => "more than may be locked (ulimit -l; run as root)",
            _ => "refused by the system",
        }))
    }
}
