// SPDX-License-Identifier: BSD-2-Clause
//! Boundary tags, size-class index and tracker of RTEMS's first-fit heap: pure, no OS call.
//!
//! RTEMS keeps its C heap as a sequence of blocks with a boundary tag each, and the free ones among them in a list. To
//! find the largest free block one has to walk. The [`Tracker`] never does: it is told of each heap operation (by the
//! linker's `--wrap` on RTEMS, by the model on a desk) and derives from the block and its two neighbours which free
//! blocks the operation removed and added. That is exact because RTEMS always coalesces: no two free blocks are ever
//! adjacent.
//!
//! | module | what it knows |
//! |---|---|
//! | [`layout`] | where each RTEMS version keeps its fields |
//! | [`memory`] | how to read a word: raw memory on a board, a slice in a test |
//! | [`tags`] | how to read a block and its neighbours |
//! | [`index`] | how many free blocks there are per size class, and the highest class |
//! | [`tracker`] | what each heap operation does to the free blocks |
//! | [`tier_b`] | how to find a block without having been told anything |
//! | [`walk`] | the walks that EPICS does today, for comparison |
//! | [`model`] | a faithful copy of RTEMS's heap to test against, and to run on under Linux |

pub mod index;
pub mod layout;
pub mod memory;
pub mod model;
pub mod tags;
pub mod tier_b;
pub mod tracker;
pub mod walk;
pub mod watch;

pub use layout::{
    Configured, Family, Layout, Native, Rtems4_7, Rtems4_10, Rtems4_11, Rtems4_11Protected, Version,
};
pub use memory::{Memory, MemoryMut, SliceMemory};
pub use tracker::{AttachError, FreeNote, NOTHING_FREE, ResizeNote, Snapshot, State, Tracker};
pub use watch::Watch;
