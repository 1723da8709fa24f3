// SPDX-License-Identifier: BSD-2-Clause
//! The circuits: one TCP connection each, with its buffers and what is known of its client.

mod input;
mod output;
mod session;
mod table;

pub(super) use input::Input;
pub(super) use output::{NoRoom, Output};
pub(super) use session::Session;
pub(super) use table::{Circuit, Circuits};
pub use table::{CircuitId, CircuitState, Refusal};
