// SPDX-License-Identifier: BSD-2-Clause
//! A box whose allocation may fail.

use super::OutOfMemory;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// Owns one `T` on the heap; as small as a `Box`.
#[derive(Debug)]
pub(super) struct Boxed<T>(Box<[T; 1]>);

impl<T> Boxed<T> {
    pub(super) fn new(value: T) -> Result<Self, OutOfMemory> {
        let mut one = Vec::new();
        one.try_reserve_exact(1).map_err(|_| OutOfMemory)?;
        one.push(value);
        one.into_boxed_slice().try_into().map(Boxed).map_err(|_| OutOfMemory)
    }
}

impl<T> Deref for Boxed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0[0]
    }
}

impl<T> DerefMut for Boxed<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0[0]
    }
}

/// The box in `slot`, made if need be.
pub(super) fn made<T>(slot: &mut Option<Boxed<T>>, value: impl FnOnce() -> T) -> Result<&mut T, OutOfMemory> {
    if slot.is_none() {
        *slot = Some(Boxed::new(value())?);
    }
    match slot {
        Some(boxed) => Ok(boxed),
        None => Err(OutOfMemory),
    }
}
