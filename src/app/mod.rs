// SPDX-License-Identifier: BSD-2-Clause
//! An application's own process variables: set by any of its tasks without waiting, written by clients through it.
//!
//! ```text
//!  any task: Pv::set ──> slot (newest value wins) ──> news bit ──> bell, once per update period
//!  server:   begin_turn ──> each slot with news ──> its record: limits, alarms, deadbands, subscribers
//!  client's put ──> handler: accept, refuse, or later ──> PutToken::complete from any task
//! ```
//!
//! What an application's task executes is wait-free: a bounded number of instructions and no lock, whatever other tasks
//! do meanwhile. Everything else happens in the server's task, and creating and deleting between two of its turns.

mod c_abi;
mod completions;
mod handle;
mod host;
mod news;
mod puts;
mod registry;
mod seats;
mod shared;
mod slot;
#[cfg(test)]
mod tests;
mod update;

pub use completions::PutToken;
pub use handle::Pv;
pub use host::{Host, Puts, register};
pub use news::MAX_PVS;
pub use puts::{Answer, PutHandler, PutRequest};
pub use registry::{Application, CreateError, Ended, PutResult};
pub use shared::Ring;
pub use update::{New, SetError};
