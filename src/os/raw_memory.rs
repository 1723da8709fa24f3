// SPDX-License-Identifier: BSD-2-Clause
//! This machine's memory, word by word, for the tracker and for the model of the heap.
#![allow(unsafe_code)]

use core::ptr;

use crate::heap::{Memory, MemoryMut};

/// Memory at its real addresses.
pub struct RawMemory(());

impl RawMemory {
    /// Access to the memory of a heap.
    ///
    /// # Safety
    /// Whoever uses it holds the lock of the heap that is looked at, and hands it only to functions of `heap` together
    /// with the address of that heap's control block: they touch the control block and what lies between its first and
    /// last block, all of which is mapped.
    pub const unsafe fn new() -> Self {
        Self(())
    }
}

impl Memory for RawMemory {
    const WORD: usize = size_of::<usize>();

    #[inline(always)]
    fn word(&self, address: usize) -> usize {
        // SAFETY: mapped by the contract of `RawMemory::new`, and blocks and fields of a heap are word-aligned.
        unsafe { ptr::with_exposed_provenance::<usize>(address).read() }
    }

    #[inline(always)]
    fn count(&self, address: usize) -> u32 {
        // SAFETY: as for `word`.
        unsafe { ptr::with_exposed_provenance::<u32>(address).read() }
    }
}

impl MemoryMut for RawMemory {
    const BIG_ENDIAN: bool = cfg!(target_endian = "big");

    #[inline(always)]
    fn set_word(&mut self, address: usize, value: usize) {
        // SAFETY: as for `word`; the heap's own words belong to whoever holds its lock.
        unsafe { ptr::with_exposed_provenance_mut::<usize>(address).write(value) }
    }

    #[inline(always)]
    fn set_count(&mut self, address: usize, value: u32) {
        // SAFETY: as for `set_word`.
        unsafe { ptr::with_exposed_provenance_mut::<u32>(address).write(value) }
    }
}
