// SPDX-License-Identifier: BSD-2-Clause
//! RTEMS: the operating system of the boards, with libbsd, with the legacy network stack or with no network.
//!
//! The C files beside this one hold what only C can say (the configuration table, the wrapped heap functions, the start
//! of the network); everything else is here. `config` are the numbers of the BSP's file in bsp-config.

#[cfg(feature = "server")]
mod bell;
#[cfg(feature = "server")]
pub(super) mod clock;
#[cfg(feature = "server")]
mod commands;
pub mod config;
#[cfg(feature = "server")]
pub mod console;
#[cfg(feature = "server")]
mod descriptors;
#[cfg(feature = "server")]
mod echo;
#[cfg(feature = "server")]
mod files;
#[cfg(feature = "server")]
mod interfaces;
#[cfg(feature = "server")]
mod kernel;
#[cfg(feature = "server")]
mod measure;
#[cfg(feature = "server")]
mod mutex;
#[cfg(feature = "server")]
mod services;
#[cfg(feature = "server")]
mod settings;
#[cfg(feature = "server")]
mod system;
#[cfg(feature = "server")]
mod task;
#[cfg(all(feature = "server", not(feature = "legacy-network")))]
pub(super) mod timeout;

#[cfg(feature = "server")]
pub use self::{mutex::Mutex, system::Rtems, task::RtemsTask};
