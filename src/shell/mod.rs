// SPDX-License-Identifier: BSD-2-Clause
//! The commands, the same on the RTEMS shell and hosted.
//!
//! [`COMMANDS`] is the table: RTEMS registers each of its rows with its own shell, the hosted program looks lines up
//! in it. What a command acts on is registered once at the start ([`register`]). Commands need little stack (an RTEMS
//! shell may have 16 KiB) and never print while they hold a server up: a slow console must not stop the circuits.

mod access;
mod application;
mod commands;
mod diagnosis;
mod echo;
mod ioc;
mod page;
mod prompt;

pub use commands::COMMANDS;
pub use diagnosis::{Diagnosis, register_diagnosis};
pub use echo::{Echo, EchoCommands, TCPECHO, register_echo};
pub use ioc::{CaServer, Ioc};
pub use page::Page;
pub use prompt::{Outcome, run_line};

use core::fmt;

/// A command as the RTEMS shell wants it.
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// The group in which the RTEMS shell's `help` lists it.
    pub topic: &'static str,
    /// Arguments and purpose, in one line or a few.
    pub usage: &'static str,
    /// Runs it; the arguments do not include the name. Returns [`OK`], [`FAILED`] or [`USAGE`].
    pub run: fn(out: &mut dyn fmt::Write, arguments: &[&str]) -> i32,
}

/// Done.
pub const OK: i32 = 0;
/// Not done; the output says why.
pub const FAILED: i32 = 1;
/// The arguments are wrong; the output says how they should be.
pub const USAGE: i32 = 2;

/// The group in which the RTEMS shell lists the commands.
const TOPIC: &str = "ioc";
/// What an operator can switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Nobody may write.
    ReadOnly,
    /// Every put is logged.
    LogAll,
}

/// What the commands act on.
pub trait Services: Sync {
    /// Shows the Channel Access server; each level (0 to 4) shows more.
    fn server_report(&self, level: u8, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Starts the Channel Access server again.
    fn start_server(&self, out: &mut dyn fmt::Write) -> i32;

    /// Stops it: circuits are closed, searches are not answered.
    fn stop_server(&self, out: &mut dyn fmt::Write) -> i32;

    /// Stops answering searches and sending beacons, or goes on with both; circuits stay.
    fn pause_server(&self, paused: bool, out: &mut dyn fmt::Write) -> i32;

    /// Lists the process variables whose names contain the text.
    fn list_names(&self, containing: &str, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Shows who may do what.
    fn access_report(&self, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Takes an access security file into force; without one everybody may do everything.
    fn load_access(&self, path: Option<&str>, out: &mut dyn fmt::Write) -> i32;

    /// Switches what [`Switch`] names.
    fn switch_access(&self, switch: Switch, on: bool, out: &mut dyn fmt::Write) -> i32;

    /// Shows the puts that were logged.
    fn put_log(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

static SERVICES: spin::Once<&'static dyn Services> = spin::Once::new();

/// Says what the commands act on; the first call counts. To be called before any other task runs a command.
pub fn register(services: &'static dyn Services) {
    SERVICES.call_once(|| services);
}

/// What was registered.
fn services() -> Option<&'static dyn Services> {
    SERVICES.get().copied()
}

/// Says that a command has nothing to act on.
fn nothing_runs(out: &mut dyn fmt::Write) -> i32 {
    let _ = out.write_str("nothing is running yet\n");
    FAILED
}

/// Says how a command is used.
fn wrong_arguments(out: &mut dyn fmt::Write, usage: &str) -> i32 {
    let _ = writeln!(out, "usage: {usage}");
    USAGE
}

/// Says why a service did not start.
fn refused(out: &mut dyn fmt::Write, what: &str, error: &dyn fmt::Display) -> i32 {
    let _ = writeln!(out, "{what}: {error}");
    FAILED
}

/// Says whether a service was stopped.
fn stopped(out: &mut dyn fmt::Write, what: &str, stopped: bool) -> i32 {
    let _ = writeln!(out, "{what}: {}", if stopped { "stopped" } else { "it is not running" });
    if stopped { OK } else { FAILED }
}
