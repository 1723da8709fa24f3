// SPDX-License-Identifier: BSD-2-Clause
//! RTEMS's self-contained mutex (priority inheritance) as a [`Lock`].

#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::mem::zeroed;

use crate::os::Lock;

/// A mutex that lies where its owner lies: no kernel object, nothing to run out of.
pub struct Mutex<T> {
    control: UnsafeCell<rtems_sys::_Mutex_Control>,
    value: UnsafeCell<T>,
}

// SAFETY: `with` is the only way to the value, and the kernel lets one task at a time through it.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: a mutex that is owned (and so not locked) is plain memory.
unsafe impl<T: Send> Send for Mutex<T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub const fn unlocked(value: T) -> Self {
        // SAFETY: _MUTEX_INITIALIZER is all zeroes: no owner, no waiting task, no name.
        Mutex { control: UnsafeCell::new(unsafe { zeroed() }), value: UnsafeCell::new(value) }
    }
}

impl<T: Send + 'static> Lock<T> for Mutex<T> {
    fn new(value: T) -> Self {
        Self::unlocked(value)
    }

    fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the control block was initialised by `unlocked` and cannot move while `self` is borrowed.
        unsafe { rtems_sys::_Mutex_Acquire(self.control.get()) };
        // SAFETY: this task owns the mutex since the line before, so nobody else has a reference to the value.
        let result = use_it(unsafe { &mut *self.value.get() });
        // SAFETY: acquired above by this task. A panic in between ends the image, so it cannot stay locked.
        unsafe { rtems_sys::_Mutex_Release(self.control.get()) };
        result
    }
}
