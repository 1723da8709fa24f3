// SPDX-License-Identifier: BSD-2-Clause
//! Joins the protocol to sockets: one task, one event loop, all circuits.

pub mod acceptor;
pub mod plan;
pub mod provider;
pub mod service;
pub mod settings;
