// SPDX-License-Identifier: BSD-2-Clause
//! May the server take on more? The one question it asks of the memory.

/// Answers whether memory for another client, channel or subscription can be spared. Asked once per name search, so it
/// must be quick and must not walk anything.
pub trait Admission {
    /// May `bytes` contiguous bytes be allocated now, the reserve left untouched?
    fn admits(&self, bytes: usize) -> bool;
}

/// Admits everything: for a host with memory to spare, and for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdmitAll;

impl Admission for AdmitAll {
    #[inline]
    fn admits(&self, _bytes: usize) -> bool {
        true
    }
}
