// SPDX-License-Identifier: BSD-2-Clause
//! A block of the C library's own heap, as the first-touch demonstration wants it.
#![allow(unsafe_code)]

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::rtex::Block;

unsafe extern "C" {
    /// The C library.
    fn malloc(bytes: usize) -> *mut c_void;
    /// The C library.
    fn free(block: *mut c_void);
}

/// How an operating system throws memory out of the data cache.
pub trait Cool {
    /// Does it to these bytes as far as a program may; false if it may not. Their contents stay.
    fn cool(start: NonNull<u8>, bytes: usize) -> bool;
}

/// A block that malloc gave; dropping it gives it back.
#[derive(Debug)]
pub struct CBlock<C> {
    start: NonNull<u8>,
    bytes: usize,
    cache: PhantomData<C>,
}

impl<C> CBlock<C> {
    /// Takes one; `None` if there is none of that size.
    pub fn allocate(bytes: usize) -> Option<Self> {
        // SAFETY: any size may be asked of malloc.
        let start = unsafe { malloc(bytes) };
        // So that the compiler cannot pair it with the free and leave both out.
        let start = core::hint::black_box(start);
        NonNull::new(start.cast::<u8>()).map(|start| CBlock { start, bytes, cache: PhantomData })
    }
}

impl<C: Cool> Block for CBlock<C> {
    fn fill(&mut self, byte: u8) -> &mut [u8] {
        // SAFETY: `start` and `bytes` are what `allocate` got from malloc and asked it for; all of it is written before it
        // is lent, and `&mut self` says that nobody else has it.
        unsafe {
            self.start.as_ptr().write_bytes(byte, self.bytes);
            core::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes)
        }
    }

    fn touch(&mut self, stride: usize) {
        for offset in (0..self.bytes).step_by(stride.max(1)) {
            // SAFETY: offset < bytes, so this is within the block (see `fill`); volatile, as nobody reads it again.
            unsafe { self.start.as_ptr().add(offset).write_volatile(0) };
        }
    }

    fn cool(&mut self) -> bool {
        C::cool(self.start, self.bytes)
    }
}

impl<C> Drop for CBlock<C> {
    fn drop(&mut self) {
        // SAFETY: `allocate` got it from malloc; it is freed here only.
        unsafe { free(self.start.as_ptr().cast::<c_void>()) };
    }
}
