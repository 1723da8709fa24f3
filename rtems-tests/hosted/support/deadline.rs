// SPDX-License-Identifier: BSD-2-Clause
//! Bounded waiting: generous limits that a healthy run never comes near.

use std::time::{Duration, Instant};

/// For anything that takes milliseconds when all is well; long enough for a debug build on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// For a whole benchmark client run.
pub const LONG_PATIENCE: Duration = Duration::from_secs(120);

/// For one attempt of several.
pub const MOMENT: Duration = Duration::from_millis(200);

/// Calls `attempt` until it answers or `limit` has passed, pausing briefly between calls.
pub fn retry<T>(limit: Duration, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = attempt() {
            return Some(value);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a condition holds.
///
/// # Panics
/// If [`PATIENCE`] runs out first.
pub fn eventually(mut holds: impl FnMut() -> bool) {
    assert!(retry(PATIENCE, || holds().then_some(())).is_some(), "waited for {PATIENCE:?}");
}
