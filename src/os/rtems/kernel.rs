// SPDX-License-Identifier: BSD-2-Clause
//! Name, version and processor time of the kernel.

#![allow(unsafe_code)]

use core::ffi::{CStr, c_char};

use super::settings::setting;
use crate::os::{CpuTime, Identity};
use crate::value::Text;

unsafe extern "C" {
    /// kernel.h
    fn rtems_ioc_cpu_time(total: *mut u64, idle: *mut u64, own: *mut u64);
    /// kernel.h
    fn rtems_ioc_kernel_version() -> *const c_char;
}

/// Processor time so far.
pub fn cpu_time() -> Option<CpuTime> {
    let mut time = CpuTime::default();
    // SAFETY: three pointers to a local that the call fills in.
    unsafe { rtems_ioc_cpu_time(&mut time.total, &mut time.idle, &mut time.own) };
    Some(time)
}

/// Name and version of the kernel.
pub fn version() -> &'static str {
    // SAFETY: a C string of the kernel that stays for ever.
    unsafe { CStr::from_ptr(rtems_ioc_kernel_version()) }.to_str().unwrap_or("RTEMS")
}

/// Who this is.
pub fn identity() -> Identity {
    Identity {
        host: Text::from(setting("name").unwrap_or("rtems-ioc")),
        kernel: Text::from(version()),
        processors: Some(1),
        process: None,
    }
}
