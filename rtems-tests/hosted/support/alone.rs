// SPDX-License-Identifier: BSD-2-Clause
//! Tests that look at or change the whole process, in a process of their own.

use std::process::Command;

/// Says to the process that it is the one.
const MARK: &str = "RTEMS_IOC_ALONE";

/// Runs a test of this program again in a process of its own; true if this is that process. The caller returns if not.
///
/// # Panics
/// If the test fails there.
pub fn alone(test: &str) -> bool {
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let this = std::env::current_exe().expect("the path of this program");
    let status = Command::new(this).args(["--exact", test, "--nocapture"]).env(MARK, "1").status();
    assert!(status.expect("this program starts").success());
    false
}
