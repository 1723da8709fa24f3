// SPDX-License-Identifier: BSD-2-Clause
//! What Linux says about this process.

#![allow(unsafe_code)]

use crate::os::Descriptors;

/// Open file descriptors and their limit.
pub fn descriptors() -> Option<Descriptors> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local that getrlimit fills in.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return None;
    }
    // The directory itself is open while it is read.
    let used = std::fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
    Some(Descriptors { used: used as u32, limit: u32::try_from(limit.rlim_cur).unwrap_or(u32::MAX) })
}

#[cfg(test)]
mod tests {
    #[test]
    fn descriptors_are_counted() {
        let found = super::descriptors().unwrap();
        assert!(found.used >= 3 && found.used < found.limit);
    }
}
