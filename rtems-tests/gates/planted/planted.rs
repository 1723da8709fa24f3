// SPDX-License-Identifier: BSD-2-Clause
//! What a heap hook of the package might call one day by mistake: each function has one fault, `planted_quiet` has none.
#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use core::alloc::{GlobalAlloc, Layout};

unsafe extern "C" {
    fn malloc(size: usize) -> *mut u8;
    fn free(block: *mut u8);
    fn rtems_fatal_error_occurred(code: u32) -> !;
}

struct Heap;

// SAFETY: malloc() aligns for every type that is allocated here.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: C's malloc() takes any size.
        unsafe { malloc(layout.size()) }
    }

    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        // SAFETY: the block is one of malloc()'s.
        unsafe { free(block) }
    }
}

#[global_allocator]
static HEAP: Heap = Heap;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: takes any code and does not return.
    unsafe { rtems_fatal_error_occurred(1) }
}

static SIZES: [u32; 4] = [8, 16, 32, 64];

/// Looks into a table, checked without a panic.
// SAFETY: nothing is linked with this.
#[unsafe(no_mangle)]
pub extern "C" fn planted_quiet(class: u32) -> u32 {
    SIZES.get(class as usize).copied().unwrap_or(0)
}

/// The same by an index out of bounds: a panic.
// SAFETY: nothing is linked with this.
#[unsafe(no_mangle)]
pub extern "C" fn planted_index(class: u32) -> u32 {
    SIZES[class as usize]
}

/// A value that may not be there: a panic by another way.
// SAFETY: nothing is linked with this.
#[unsafe(no_mangle)]
pub extern "C" fn planted_unwrap(class: u32) -> u32 {
    SIZES.get(class as usize).copied().unwrap()
}

/// A zero divisor: a panic nobody has written.
// SAFETY: nothing is linked with this.
#[unsafe(no_mangle)]
pub extern "C" fn planted_division(class: u32) -> u32 {
    64 / class
}

/// Memory from the heap whose hook this is.
// SAFETY: nothing is linked with this.
#[unsafe(no_mangle)]
pub extern "C" fn planted_allocation(class: u32) -> u32 {
    *core::hint::black_box(Box::new(class))
}
