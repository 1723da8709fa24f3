// SPDX-License-Identifier: BSD-2-Clause
//! The bytes of Channel Access: headers, command and status codes, data types.

pub mod command;
pub mod dbr;
mod header;
pub mod status;

pub use header::{Header, Need};

/// Minor version of the protocol that this server speaks (CA V4.13).
pub const MINOR: u16 = 13;

/// Rounds a payload up to the multiple of 8 in which it travels.
#[inline]
pub const fn padded(bytes: usize) -> usize {
    (bytes + 7) & !7
}
