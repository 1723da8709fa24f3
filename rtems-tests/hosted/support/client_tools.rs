// SPDX-License-Identifier: BSD-2-Clause
//! Runs a real client against a server to its end.

use std::process::Command;
use std::time::Duration;

use super::deadline::PATIENCE;
use super::process::{Finished, Process};
use super::python::Clients;
use super::server::Server;

/// Runs `command` against `server`.
///
/// # Errors
/// If it does not end in `limit`.
pub fn run(server: &Server, command: Command, limit: Duration) -> Result<Finished, String> {
    let mut process = Process::start(server.site.client(command))?;
    process.close_stdin();
    process.finish(limit)
}

/// Runs one of EPICS base's tools, which must succeed; what it printed.
///
/// # Errors
/// If it fails.
pub fn tool(clients: &Clients, server: &Server, name: &str, arguments: &[&str]) -> Result<String, String> {
    let mut command = clients.tool(name);
    command.args(arguments);
    success(run(server, command, PATIENCE)?, name, arguments)
}

/// Runs a program of a Python package, which must succeed; what it printed.
///
/// # Errors
/// If it fails.
pub fn script(clients: &Clients, server: &Server, name: &str, arguments: &[&str]) -> Result<String, String> {
    let mut command = clients.script(name);
    command.args(arguments);
    success(run(server, command, PATIENCE)?, name, arguments)
}

fn success(finished: Finished, name: &str, arguments: &[&str]) -> Result<String, String> {
    if finished.status.success() {
        return Ok(finished.text);
    }
    Err(format!("{name} {}: {}; it printed:\n{}", arguments.join(" "), finished.status, finished.text))
}
