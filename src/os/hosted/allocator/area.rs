// SPDX-License-Identifier: BSD-2-Clause
//! The address range of the pool: reserved as a whole, made usable from its begin onwards.
#![allow(unsafe_code)]

use core::cell::Cell;
use core::ops::Range;
use core::ptr;

/// Room for the heap's control block, in front of the heap: one page.
const CONTROL_BYTES: usize = 4096;

/// A reserved address range. It is never given back.
pub(super) struct Area {
    begin: usize,
    bytes: usize,
    /// Where the part in use ends, counted from `begin`.
    used: Cell<usize>,
}

impl Area {
    /// Reserves addresses for a heap of up to `bytes`; only what is touched later costs memory.
    pub(super) fn reserve(bytes: usize) -> Option<Self> {
        let bytes = bytes.checked_add(CONTROL_BYTES)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
        let begin = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        if begin == libc::MAP_FAILED {
            return None;
        }
        let area = Self { begin: begin.expose_provenance(), bytes, used: Cell::new(0) };
        area.grow(CONTROL_BYTES)?;
        Some(area)
    }

    /// The address of the control block.
    pub(super) fn control(&self) -> usize {
        self.begin
    }

    /// Makes the next `bytes` usable and returns their addresses.
    pub(super) fn grow(&self, bytes: usize) -> Option<Range<usize>> {
        let used = self.used.get();
        let end = used.checked_add(bytes).filter(|end| *end <= self.bytes)?;
        let start = self.begin + used;
        // The kernel wants whole pages: the one at the begin may be usable already.
        let page = start & !(CONTROL_BYTES - 1);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the pages from `page` to `begin + end` lie in the mapping that `reserve` made, which is ours alone.
        let failed = unsafe {
            libc::mprotect(ptr::with_exposed_provenance_mut(page), self.begin + end - page, protection)
        };
        (failed == 0).then(|| {
            self.used.set(end);
            start..self.begin + end
        })
    }
}
