// SPDX-License-Identifier: BSD-2-Clause
//! The C interface of the pool: see `include/rtems_ioc.h` for its documentation.
//!
//! No struct is returned by value: compilers disagree on how PowerPC returns small ones.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::fmt;

use super::{Policy, Snapshot, pool};

/// Tells a check of the finished image that this implementation was linked, and not EPICS's.
// SAFETY: the name belongs to this package and nothing else defines it.
#[unsafe(no_mangle)]
pub static rtems_ioc_pool_tracker_present: c_int = 1;

/// EPICS's question, in EPICS's spelling.
// SAFETY: no two of these names are defined in one image: taking the place of EPICS's definition is their purpose.
#[unsafe(no_mangle)]
pub extern "C" fn osiSufficentSpaceInPool(contiguous_block_size: usize) -> c_int {
    c_int::from(pool().admits(contiguous_block_size))
}

/// The same, spelt correctly.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn osiSufficientSpaceInPool(contiguous_block_size: usize) -> c_int {
    c_int::from(pool().admits(contiguous_block_size))
}

/// Fills in the first `bytes` of `status`. Returns 0, or -1 without a heap or for a null pointer.
///
/// # Safety
/// `status` is null or points to `bytes` writable bytes.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pool_snapshot(status: *mut Snapshot, bytes: usize) -> c_int {
    let Some(snapshot) = pool().snapshot().filter(|_| !status.is_null()) else { return -1 };
    let count = bytes.min(size_of::<Snapshot>());
    // SAFETY: the caller gives `bytes` writable bytes, and `count` is neither more than that nor than the source has; the
    // snapshot is ours alone, so they do not overlap.
    unsafe { core::ptr::copy_nonoverlapping((&raw const snapshot).cast::<u8>(), status.cast::<u8>(), count) };
    0
}

/// Who takes a report, piece by piece: context, text, bytes.
pub type WriteCall = unsafe extern "C" fn(*mut c_void, *const c_char, usize);

/// Text for a [`WriteCall`].
pub struct CallWriter {
    write: WriteCall,
    context: *mut c_void,
}

impl CallWriter {
    /// # Safety
    /// `write` may be called with `context` as long as this lives.
    pub unsafe fn new(write: WriteCall, context: *mut c_void) -> Self {
        CallWriter { write, context }
    }
}

impl fmt::Write for CallWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the contract of `new`; pointer and length describe `text`.
        unsafe { (self.write)(self.context, text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

/// What `poolstat` shows, `poolstat -w` with `walk` not 0. Returns 0, or -1 for a null `write`.
///
/// # Safety
/// `write` may be called with `context` until this returns.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pool_report(
    walk: c_int,
    write: Option<WriteCall>,
    context: *mut c_void,
) -> c_int {
    let Some(write) = write else { return -1 };
    // SAFETY: the contract of this function is that of the writer.
    let mut out = unsafe { CallWriter::new(write, context) };
    if super::write_report(walk != 0, &mut out).is_ok() { 0 } else { -1 }
}

/// The largest free block exactly, in bytes with header.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_pool_largest() -> usize {
    pool().largest().unwrap_or(0)
}

/// The largest free block as the tracker knows it without a lock or a walk; 0 if it does not.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_pool_free_space() -> usize {
    pool().free_space().unwrap_or(0)
}

/// Bytes that have to be left after a request.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_pool_reserve() -> usize {
    pool().reserve()
}

/// Sets the reserve.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_pool_set_reserve(bytes: usize) {
    pool().set_reserve(bytes);
}

/// Sets how questions are answered; unknown numbers are refused with -1.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_pool_set_policy(policy: c_uint) -> c_int {
    match Policy::ALL.into_iter().find(|known| *known as c_uint == policy) {
        Some(policy) => {
            pool().set_policy(policy);
            0
        }
        None => -1,
    }
}

#[cfg(all(feature = "board", not(feature = "hosted")))]
unsafe extern "Rust" {
    /// Defined by `os/rtems`: the heap of the image. A link-time seam, so that `pool` does not depend on `os`.
    // SAFETY: the definition has this very signature and no preconditions.
    safe fn rtems_ioc_heap_source() -> &'static dyn super::Source;
}

/// The heap that this archive brings.
#[cfg(all(feature = "board", not(feature = "hosted")))]
pub(super) fn linked_source() -> &'static dyn super::Source {
    rtems_ioc_heap_source()
}
