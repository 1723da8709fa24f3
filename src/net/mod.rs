// SPDX-License-Identifier: BSD-2-Clause
//! Joins the protocol to sockets: one task, one event loop, all circuits.

pub mod acceptor;
mod admission;
mod circuits;
mod clocked;
pub mod configuration;
mod courier;
mod hosting;
pub mod plan;
pub mod provider;
pub mod server;
pub mod service;
pub mod settings;
pub mod status;
mod udp;

pub use admission::PoolAdmission;
pub use clocked::Clocked;
pub use courier::Courier;
pub use hosting::Hosting;
