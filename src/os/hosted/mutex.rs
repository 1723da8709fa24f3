// SPDX-License-Identifier: BSD-2-Clause
//! The mutex of std as a [`Lock`].

use std::sync::{Mutex as StdMutex, PoisonError};

use crate::os::Lock;

/// A mutex that ignores poisoning: a task that panicked has said so already, and `casr` must go on working.
#[derive(Debug, Default)]
pub struct Mutex<T>(StdMutex<T>);

impl<T: Send + 'static> Lock<T> for Mutex<T> {
    fn new(value: T) -> Self {
        Mutex(StdMutex::new(value))
    }

    fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
