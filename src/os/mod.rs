// SPDX-License-Identifier: BSD-2-Clause
//! The only place that knows the operating system.
//!
//! The rest of the package sees it through the traits here: [`System`] is the family of types and calls that one
//! operating system supplies. `hosted` is Linux; `rtems` is RTEMS with either of its network stacks; the unit tests
//! bring a scripted one. So `net`, `tcpecho` and `shell` compile for a target that has neither.

#[cfg(feature = "server")]
mod bell;
#[cfg(feature = "server")]
pub mod boot;
#[cfg(feature = "server")]
mod media;
#[cfg(feature = "server")]
mod readiness;
#[cfg(feature = "server")]
pub mod socket;
#[cfg(feature = "server")]
mod system;

#[cfg(all(feature = "board", not(feature = "hosted")))]
pub mod board;
#[cfg(any(feature = "hosted", all(feature = "rtems", feature = "server")))]
mod c_block;
/// The heap hooks need no header of RTEMS, so the board archives have them, and their gates, without one.
#[cfg(all(feature = "board", not(feature = "hosted")))]
#[path = "rtems/hooks.rs"]
pub mod heap_hooks;
#[cfg(feature = "hosted")]
pub mod hosted;
pub mod raw_memory;
#[cfg(all(feature = "rtems", not(feature = "hosted")))]
pub mod rtems;

#[cfg(feature = "server")]
pub use bell::Bell;
#[cfg(feature = "server")]
pub use media::Media;
#[cfg(feature = "server")]
pub use readiness::{Interest, Poller, Readiness, Wake};
#[cfg(feature = "server")]
pub use system::{CpuTime, Descriptors, Identity, Interface, Lock, Role, SpawnError, System, Task};
