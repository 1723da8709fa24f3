// SPDX-License-Identifier: BSD-2-Clause
//! pyepics and caproto, the clients that scientists write with.

use crate::ClientTest;
use crate::support::client_tools::{run, script};
use crate::support::deadline::PATIENCE;
use crate::support::process::Process;
use crate::support::python::Clients;
use crate::support::server::Server;

/// Name and function of each test here.
pub const TESTS: &[(&str, ClientTest)] = &[
    ("pyepics_session", pyepics_session),
    ("caproto_get_and_put", caproto_get_and_put),
    ("caproto_monitor", caproto_monitor),
    ("caproto_threading_client", caproto_threading_client),
];

fn python(clients: &Clients, server: &Server, program: &str) -> Result<(), String> {
    let mut command = clients.python();
    command.args(["-c", program]);
    let finished = run(server, command, PATIENCE)?;
    if finished.status.success() {
        return Ok(());
    }
    Err(format!("{}:\n{}", finished.status, finished.text))
}

fn pyepics_session(clients: &Clients, server: &Server) -> Result<(), String> {
    python(clients, server, include_str!("pyepics_session.py"))
}

fn caproto_threading_client(clients: &Clients, server: &Server) -> Result<(), String> {
    python(clients, server, include_str!("caproto_session.py"))
}

fn caproto_get_and_put(clients: &Clients, server: &Server) -> Result<(), String> {
    script(clients, server, "caproto-put", &["--no-repeater", "cmp:ao", "5.5"])?;
    let text =
        script(clients, server, "caproto-get", &["--no-repeater", "cmp:ao", "cmp:mbbo", "cmp:stringin"])?;
    for part in ["5.5", "Run", "hello"] {
        if !text.contains(part) {
            return Err(format!("no {part:?} in:\n{text}"));
        }
    }
    Ok(())
}

fn caproto_monitor(clients: &Clients, server: &Server) -> Result<(), String> {
    let mut command = clients.script("caproto-monitor");
    command.args(["--no-repeater", "cmp:longout"]);
    let process = Process::start(server.site.client(command))?;
    process.wait_for_line(0, PATIENCE, |line| line.contains("70000"))?;
    let mark = process.mark();
    script(clients, server, "caproto-put", &["--no-repeater", "cmp:longout", "11"])?;
    process.wait_for_line(mark, PATIENCE, |line| line.contains("11"))?;
    Ok(())
}
