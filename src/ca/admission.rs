// SPDX-License-Identifier: BSD-2-Clause
//! May the server take on more? The one question it asks of the memory.

use super::circuits::Circuits;
use super::config::Limits;

/// Answers whether memory for another client, channel or subscription can be spared. Asked once per name search, so it
/// must be quick and must not walk anything.
pub trait Admission {
    /// May `bytes` contiguous bytes be allocated now, the reserve left untouched?
    fn admits(&self, bytes: usize) -> bool;
}

/// For so many other clients a large message leaves room.
const OTHERS: usize = 4;

/// Whether so many bytes can be spared for one large message of one client, so that others are served all the same.
pub(super) fn sparing<'a, A: Admission>(
    admission: &'a A,
    limits: &Limits,
) -> impl Fn(usize) -> bool + Copy + use<'a, A> {
    let others = OTHERS * Circuits::cost(limits.buffer_bytes as usize);
    move |bytes| admission.admits(bytes.saturating_add(others))
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
