// SPDX-License-Identifier: BSD-2-Clause
//! Files of the image: in memory, or on whatever was mounted.

#![allow(unsafe_code)]

use alloc::ffi::CString;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_long, c_void};

/// The largest file that is read.
const LARGEST: usize = 1 << 20;
/// Read at first where the file system does not know how long a file is.
const GUESS: usize = 16 << 10;

unsafe extern "C" {
    /// files.h
    fn rtems_ioc_file_size(path: *const c_char) -> c_long;
    /// files.h
    fn rtems_ioc_file_read(path: *const c_char, buffer: *mut c_void, room: usize) -> c_long;
    /// files.h
    fn rtems_ioc_file_error() -> *const c_char;
    /// files.h
    fn rtems_ioc_files_install() -> *const c_char;
    /// files.h
    fn rtems_ioc_default(name: *const c_char) -> *const c_char;
}

fn why() -> String {
    // SAFETY: strerror returns a C string that stays as it is until the next call; it is copied at once.
    unsafe { CStr::from_ptr(rtems_ioc_file_error()) }.to_string_lossy().into_owned()
}

/// The content of a file.
pub fn read(path: &str) -> Result<Vec<u8>, String> {
    let name = CString::new(path).map_err(|_| "a path with a NUL in it".to_string())?;
    // SAFETY: a C string that lives during the call.
    let size = unsafe { rtems_ioc_file_size(name.as_ptr()) };
    let Ok(size) = usize::try_from(size) else { return Err(why()) };
    let mut room = if size > 0 { size } else { GUESS };
    loop {
        if room > LARGEST {
            return Err("larger than 1 MiB".to_string());
        }
        let mut content = Vec::new();
        // One byte more shows that the file has grown, or how long it is at all.
        content.try_reserve_exact(room + 1).map_err(|_| "out of memory".to_string())?;
        content.resize(room + 1, 0);
        // SAFETY: the pointer and the number describe `content`, which nobody else touches during the call.
        let got = unsafe { rtems_ioc_file_read(name.as_ptr(), content.as_mut_ptr().cast(), content.len()) };
        let Ok(got) = usize::try_from(got) else { return Err(why()) };
        if got <= room {
            content.truncate(got);
            return Ok(content);
        }
        room = room.saturating_mul(2);
    }
}

/// Puts the files of the image where they belong.
pub fn install() -> Result<(), String> {
    // SAFETY: takes nothing; returns NULL or a C string that stays for ever.
    let failed = unsafe { rtems_ioc_files_install() };
    if failed.is_null() {
        return Ok(());
    }
    // SAFETY: not NULL, and a path of a table in the image.
    let path = unsafe { CStr::from_ptr(failed) }.to_string_lossy();
    Err(alloc::format!("{path}: {}", why()))
}

/// A setting of the image's own, which counts when nobody else says anything.
pub fn default(name: &str) -> Option<&'static str> {
    let name = CString::new(name).ok()?;
    // SAFETY: a C string that lives during the call.
    let value = unsafe { rtems_ioc_default(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: not NULL, and a text of a table in the image.
    unsafe { CStr::from_ptr(value) }.to_str().ok()
}
