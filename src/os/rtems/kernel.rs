// SPDX-License-Identifier: BSD-2-Clause
//! Version and processor time of the kernel, and the settings that a boot gives.

#![allow(unsafe_code)]

use core::ffi::{CStr, c_char};

use alloc::ffi::CString;

use crate::os::{CpuTime, Identity};
use crate::value::Text;

unsafe extern "C" {
    /// kernel.h
    fn rtems_ioc_cpu_time(total: *mut u64, idle: *mut u64, own: *mut u64);
    /// kernel.h
    fn rtems_ioc_kernel_version() -> *const c_char;
    /// image.h: from the boot command line, the firmware or bsp-config; NULL when nobody says.
    fn rtems_ioc_setting(name: *const c_char) -> *const c_char;
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

/// A setting by its name; `None` when nobody says or it is no text.
pub fn setting(name: &str) -> Option<&'static str> {
    let name = CString::new(name).ok()?;
    // SAFETY: a C string that lives during the call.
    let value = unsafe { rtems_ioc_setting(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: not NULL, and image.h says that the text lives as long as the image.
    unsafe { CStr::from_ptr(value) }.to_str().ok()
}
