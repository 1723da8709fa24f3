// SPDX-License-Identifier: BSD-2-Clause
//! What the hosted tests and the comparison benches share: real clients, servers on free ports, a raw CA client.
//!
//! Nothing here uses a fixed port or a sleep as synchronisation, and nothing it starts outlives the test: every child
//! is killed when its guard goes, and by the kernel when the test program itself dies.
#![allow(dead_code)] // Each test or bench program uses its own part of this module.

pub mod alone;
pub mod catime;
pub mod circuit;
pub mod client_tools;
pub mod deadline;
pub mod message;
pub mod ports;
pub mod process;
pub mod procfs;
pub mod python;
pub mod repeater;
pub mod server;
