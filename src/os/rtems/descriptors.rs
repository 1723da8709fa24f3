// SPDX-License-Identifier: BSD-2-Clause
//! File descriptors of the image: sockets are among them on both network stacks.

#![allow(unsafe_code)]

use crate::os::Descriptors;

/// Open descriptors and the most there can be.
pub fn descriptors() -> Option<Descriptors> {
    // SAFETY: a constant of the image's configuration table.
    let limit = unsafe { rtems_sys::rtems_libio_number_iops };
    // SAFETY: F_GETFL takes no argument and reads nothing of ours; a closed descriptor is an error.
    let used =
        (0..limit).filter(|&each| unsafe { rtems_sys::fcntl(each as i32, rtems_sys::F_GETFL) } >= 0).count();
    Some(Descriptors { used: used as u32, limit })
}
