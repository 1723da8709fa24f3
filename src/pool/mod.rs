// SPDX-License-Identifier: BSD-2-Clause
//! `osdPoolStatus`: may n contiguous bytes be allocated? Policy and C ABI on top of the tracker.
//!
//! The question comes with each search that names a PV of this server, so it has to be cheap: one load of the published
//! bound and a comparison. The answer "yes" means that an allocation of that size would succeed now and leave the reserve;
//! "no" is wrong at most while the need lies within one size class (3.1 %) of the largest block.
//!
//! ```text
//! os/ (owner of the heap) --publish(bound)--> Pool <--admits(n)-- net, osiSufficentSpaceInPool
//!                          <--has_block(n)--         only while nothing is published: tier B
//! ```

mod c_abi;
mod policy;
mod report;
mod source;

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::heap::{Configured, NOTHING_FREE, Version};

pub use crate::heap::Snapshot;
pub use c_abi::{CallWriter, WriteCall};
pub use policy::{Policy, UnknownPolicy};
pub use report::write as write_report;
pub use source::Source;

/// Bytes that have to be left after the request, unless set otherwise: EPICS's figure.
pub const DEFAULT_RESERVE: usize = 50_000;

/// Bytes of a free block that a request needs beyond its own.
const OVERHEAD: usize = Configured::LAYOUT.overhead();

/// The pool of one heap: what is published of it, and how questions are answered.
pub struct Pool {
    /// There is a free block of at least this size (with header); [`NOTHING_FREE`] if there is none, which answers every
    /// question without the heap's lock, and 0 if nothing is known.
    published: AtomicUsize,
    /// Reserve and block overhead: what a request needs beyond its own bytes.
    margin: AtomicUsize,
    policy: AtomicU8,
    registered: spin::Once<&'static dyn Source>,
}

/// The pool of this program.
static POOL: Pool = Pool::new();

impl Pool {
    /// A pool about which nothing is known.
    pub const fn new() -> Self {
        Self {
            published: AtomicUsize::new(0),
            margin: AtomicUsize::new(DEFAULT_RESERVE + OVERHEAD),
            policy: AtomicU8::new(Policy::Tracker as u8),
            registered: spin::Once::new(),
        }
    }

    /// Whether `bytes` can be allocated in one piece and the reserve is left. Saturating: an absurd size is refused.
    #[inline]
    pub fn admits(&self, bytes: usize) -> bool {
        // Relaxed: the word stands for itself, nothing else is read on the strength of it.
        let need = bytes.saturating_add(self.margin.load(Ordering::Relaxed));
        if self.policy.load(Ordering::Relaxed) == Policy::Tracker as u8 {
            let published = self.published.load(Ordering::Relaxed);
            if published != 0 {
                return need <= published;
            }
        }
        self.consult(need)
    }

    /// The answer when none is published: tier B, or the walk that was asked for.
    #[cold]
    fn consult(&self, need: usize) -> bool {
        let policy = self.policy();
        if matches!(policy, Policy::Always) {
            return true;
        }
        // Without a heap to ask, the allocation itself will tell.
        let Some(source) = self.source() else { return true };
        match policy {
            Policy::Always => true,
            Policy::Walk => source.walk().free_bytes >= need,
            Policy::LargestWalk => source.free_list().largest_free >= need,
            Policy::Tracker => source.has_block(need),
        }
    }

    /// Makes the bound known that the tracker found. To be called by the owner of the heap after each operation.
    #[inline(always)]
    pub fn publish(&self, largest_lower_bound: usize) {
        self.published.store(largest_lower_bound, Ordering::Relaxed);
    }

    /// The published bound of the largest free block in bytes (with header); 0 if nothing is known, [`NOTHING_FREE`] if
    /// nothing is free.
    #[inline]
    pub fn published(&self) -> usize {
        self.published.load(Ordering::Relaxed)
    }

    /// The largest free block exactly, in bytes with header; `None` without a heap. Takes the heap's lock.
    pub fn largest(&self) -> Option<usize> {
        self.source().map(Source::largest)
    }

    /// What `malloc_free_space()` should return, if the pool knows it: the largest free block with header, from below.
    pub fn free_space(&self) -> Option<usize> {
        Some(self.published()).filter(|bound| *bound > NOTHING_FREE)
    }

    /// The state of the heap, `None` without one. Takes the heap's lock.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.source().map(Source::snapshot)
    }

    /// The searches made because nothing was published, `None` without a heap. Takes the heap's lock.
    pub fn searches(&self) -> Option<crate::heap::tier_b::Searches> {
        self.source().map(Source::searches)
    }

    /// Totals by a walk over every block, `None` without a heap. Takes the heap's lock for as long as that lasts.
    pub fn walk(&self) -> Option<crate::heap::walk::Totals> {
        self.source().map(Source::walk)
    }

    /// Bytes that have to be left after a request.
    pub fn reserve(&self) -> usize {
        self.margin.load(Ordering::Relaxed).saturating_sub(OVERHEAD)
    }

    /// Sets the reserve in bytes. A reserve larger than the heap refuses everything.
    pub fn set_reserve(&self, bytes: usize) {
        self.margin.store(bytes.saturating_add(OVERHEAD), Ordering::Relaxed);
    }

    /// How questions are answered.
    pub fn policy(&self) -> Policy {
        Policy::from_number(self.policy.load(Ordering::Relaxed))
    }

    /// Sets how questions are answered.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy as u8, Ordering::Relaxed);
    }

    /// Names the heap that is to be asked when the published bound is not enough. The first one stays. To be called
    /// before other tasks start.
    pub fn register(&self, source: &'static dyn Source) {
        self.registered.call_once(|| source);
    }

    fn source(&self) -> Option<&'static dyn Source> {
        self.registered.get().copied().or_else(source::linked)
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether `bytes` can be allocated in one piece and the reserve is left. See [`Pool::admits`].
#[inline]
pub fn admits(bytes: usize) -> bool {
    POOL.admits(bytes)
}

/// The pool of this program, for its owner in `os/`, the shell and the status PVs.
#[inline]
pub fn pool() -> &'static Pool {
    &POOL
}

#[cfg(test)]
mod tests;
