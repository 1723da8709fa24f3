// SPDX-License-Identifier: BSD-2-Clause
//! Constant-time pool status, tcpecho and a Channel Access server for EPICS on RTEMS.
//!
//! Arrows point one way: `heap` and `value` are leaves; `pool` reads `heap`; `ca` (the protocol) and `pv` (the process
//! variables) share the vocabulary of `value` and do not know each other; `net` joins them to sockets; `os` is the only
//! place that knows the operating system.
#![cfg_attr(not(feature = "hosted"), no_std)]
#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "server")]
extern crate alloc;

pub mod heap;
pub mod pool;

#[cfg(feature = "server")]
pub mod app;
#[cfg(feature = "server")]
pub mod ca;
#[cfg(feature = "server")]
pub mod catime;
#[cfg(feature = "server")]
pub mod net;
#[cfg(feature = "hosted")]
pub mod netcheck;
#[cfg(feature = "server")]
pub mod pv;
#[cfg(feature = "server")]
pub mod rtex;
#[cfg(feature = "server")]
pub mod security;
#[cfg(feature = "server")]
pub mod shell;
#[cfg(feature = "server")]
pub mod spy;
#[cfg(feature = "server")]
pub mod tcpecho;
#[cfg(feature = "server")]
pub mod value;

pub mod os;
