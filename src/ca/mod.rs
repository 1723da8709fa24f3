// SPDX-License-Identifier: BSD-2-Clause
//! Channel Access, sans-I/O: bytes in, bytes out.

mod provider;

pub use provider::{Access, Change, ChannelInfo, Client, Provider, PutOutcome, PvError, PvId};
