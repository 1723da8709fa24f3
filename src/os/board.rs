// SPDX-License-Identifier: BSD-2-Clause
//! What a static library without std has to bring: the panic handler and, with `server`, the allocator.
//!
//! Both rest on the C library of the image alone, so the archive links into any RTEMS from 4.9 on. A panic is a fault of
//! this package: it is printed with its place and ends in RTEMS's fatal error handler, which the board's user extensions see.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int};
use core::fmt::{self, Write};
use core::panic::PanicInfo;

unsafe extern "C" {
    /// Prints without buffering, allocation or locks; usable from any context.
    fn printk(format: *const c_char, ...) -> c_int;
    /// Ends the image through the fatal error extensions; 4.9 to main.
    fn rtems_fatal_error_occurred(error: u32) -> !;
}

/// The code that a panic hands to `rtems_fatal_error_occurred`: "RIOC" in ASCII, to be recognised in a crash report.
pub const PANIC_CODE: u32 = 0x5249_4f43;

/// A panic message of at most this many bytes is shown; the rest is cut.
const MESSAGE_BYTES: usize = 200;

/// A line of text on the stack, always ended by a NUL.
struct Line {
    bytes: [u8; MESSAGE_BYTES],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.iter_mut().take(MESSAGE_BYTES - 1).skip(self.length);
        let mut written = 0;
        for (slot, &byte) in room.zip(text.as_bytes()) {
            *slot = byte;
            written += 1;
        }
        self.length += written;
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let mut line = Line { bytes: [0; MESSAGE_BYTES], length: 0 };
    // A message that does not fit is cut: the place comes first.
    let _ = write!(line, "{info}");
    // SAFETY: the format takes one C string; `Line` never fills its last byte, which stays NUL.
    unsafe {
        printk(c"rtems-ioc: %s\n".as_ptr(), line.bytes.as_ptr());
        rtems_fatal_error_occurred(PANIC_CODE)
    }
}

#[cfg(feature = "server")]
mod allocator {
    use core::alloc::{GlobalAlloc, Layout};
    use core::ffi::{c_int, c_void};
    use core::ptr;

    unsafe extern "C" {
        fn malloc(size: usize) -> *mut c_void;
        fn calloc(count: usize, size: usize) -> *mut c_void;
        fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
        fn free(block: *mut c_void);
        fn posix_memalign(block: *mut *mut c_void, alignment: usize, size: usize) -> c_int;
    }

    /// The alignment that every malloc of RTEMS gives on the boards served (`CPU_HEAP_ALIGNMENT`: 8 or more).
    const MALLOC_ALIGNMENT: usize = 8;

    /// The heap of the image: what Rust allocates is in the tracker's figures like everything else.
    struct CHeap;

    // SAFETY: malloc, posix_memalign, realloc and free of the image's C library obey the contract of `GlobalAlloc`:
    // null on failure, the alignment asked for, and contents kept by realloc up to the smaller size.
    unsafe impl GlobalAlloc for CHeap {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if layout.align() <= MALLOC_ALIGNMENT {
                // SAFETY: any size may be asked; the alignment is what malloc gives.
                return unsafe { malloc(layout.size()) }.cast();
            }
            let mut block = ptr::null_mut();
            // SAFETY: the alignment of a `Layout` is a power of two and here a multiple of the pointer size.
            match unsafe { posix_memalign(&mut block, layout.align(), layout.size()) } {
                0 => block.cast(),
                _ => ptr::null_mut(),
            }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            if layout.align() <= MALLOC_ALIGNMENT {
                // SAFETY: as for malloc.
                return unsafe { calloc(1, layout.size()) }.cast();
            }
            // SAFETY: the caller's contract is the same; the block is at least `size` bytes long.
            unsafe {
                let block = self.alloc(layout);
                if !block.is_null() {
                    ptr::write_bytes(block, 0, layout.size());
                }
                block
            }
        }

        unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
            // SAFETY: the caller hands back a block of `alloc`, which is one of malloc or posix_memalign.
            unsafe { free(block.cast()) }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            if layout.align() <= MALLOC_ALIGNMENT {
                // SAFETY: the block comes from malloc (see `alloc`) and the alignment is malloc's.
                return unsafe { realloc(block.cast(), size) }.cast();
            }
            // SAFETY: the caller guarantees that `size` does not overflow with this alignment; the copy stays within both.
            unsafe {
                let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                if !new.is_null() {
                    ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                new
            }
        }
    }

    #[global_allocator]
    static HEAP: CHeap = CHeap;
}
