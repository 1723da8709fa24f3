// SPDX-License-Identifier: BSD-2-Clause
//! The only place that knows the operating system: clock, tasks, console, sockets, heap access.

#[cfg(all(feature = "board", not(feature = "hosted")))]
pub mod board;
#[cfg(feature = "hosted")]
pub mod hosted;
