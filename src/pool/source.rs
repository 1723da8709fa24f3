// SPDX-License-Identifier: BSD-2-Clause
//! The heap behind the pool: what `os/` supplies for questions that the published bound does not answer.

use crate::heap::Snapshot;
use crate::heap::tier_b::Searches;
use crate::heap::walk::Totals;

/// A heap that can be asked. Every method takes the heap's lock; all sizes are those of blocks, with their header.
pub trait Source: Sync {
    /// Whether there is a free block of at least `bytes`, exactly.
    fn has_block(&self, bytes: usize) -> bool;

    /// The largest free block in bytes, exactly.
    fn largest(&self) -> usize;

    /// The state of the heap.
    fn snapshot(&self) -> Snapshot;

    /// The searches made because nothing was published: tier B's.
    fn searches(&self) -> Searches;

    /// Totals by a walk over every block: the work of `malloc_info()`.
    fn walk(&self) -> Totals;

    /// Totals by a walk over the free list: the work of `malloc_free_space()`.
    fn free_list(&self) -> Totals;
}

/// The source that is part of a board's archive. It needs no registration: an EPICS image has no place where our
/// initialisation could run before its first question.
#[cfg(all(feature = "board", not(feature = "hosted")))]
pub(super) fn linked() -> Option<&'static dyn Source> {
    Some(super::c_abi::linked_source())
}

/// A program on a desk registers its heap, if it has one.
#[cfg(not(all(feature = "board", not(feature = "hosted"))))]
pub(super) fn linked() -> Option<&'static dyn Source> {
    None
}
