// SPDX-License-Identifier: BSD-2-Clause
//! A server on ports of its own: ours, or EPICS base's softIoc (rsrv) to compare with.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::circuit;
use super::deadline::PATIENCE;
use super::ports::free_ports;
use super::process::{self, Process};
use super::python::Clients;
use super::repeater::Repeater;

/// tcpecho takes this many ports in a row: echo, discard, source.
pub const ECHO_PORTS: u16 = 3;

/// The ports at which one server, its clients and a repeater meet.
pub struct Site {
    /// UDP and TCP port of the server.
    pub port: u16,
    /// tcpecho's first port; only ours has it.
    pub echo_port: u16,
    repeater: Repeater,
}

impl Site {
    /// Free ports and a running repeater.
    ///
    /// # Errors
    /// If no socket is to be had.
    pub fn new() -> Result<Self, String> {
        // The repeater has its port already, and the server's are chosen together: none is chosen twice.
        let repeater = Repeater::start()?;
        let port = free_ports(1 + ECHO_PORTS);
        Ok(Self { port, echo_port: port + 1, repeater })
    }

    /// Sets a client's environment so that it looks for this server and no other.
    pub fn client(&self, mut command: Command) -> Command {
        command
            .env("EPICS_CA_ADDR_LIST", format!("127.0.0.1:{}", self.port))
            .env("EPICS_CA_AUTO_ADDR_LIST", "NO")
            .env("EPICS_CA_SERVER_PORT", self.port.to_string())
            .env("EPICS_CA_REPEATER_PORT", self.repeater.port().to_string())
            .env("PYTHONUNBUFFERED", "1");
        command
    }

    /// Sets a server's environment: loopback only, beacons to the repeater.
    pub fn server(&self, mut command: Command) -> Command {
        command
            .env("EPICS_CAS_INTF_ADDR_LIST", "127.0.0.1")
            .env("EPICS_CAS_SERVER_PORT", self.port.to_string())
            .env("EPICS_CAS_BEACON_ADDR_LIST", format!("127.0.0.1:{}", self.repeater.port()))
            .env("EPICS_CAS_AUTO_BEACON_ADDR_LIST", "NO");
        command
    }
}

/// A running server that answers searches.
pub struct Server {
    /// Where it is.
    pub site: Site,
    /// The program.
    pub process: Process,
}

/// Our program, as cargo built it for this test.
pub fn program() -> Command {
    process::command(env!("CARGO_BIN_EXE_rtems-ioc"))
}

/// A start under valgrind with a fragmented heap takes its time.
const START_LIMIT: Duration = super::deadline::LONG_PATIENCE;

/// How often a server is started anew because somebody took its port meanwhile.
const ATTEMPTS: usize = 5;

impl Server {
    /// Our server with `options` after `serve`; ready when it answers a search for `known`.
    ///
    /// # Errors
    /// If it does not come up; the text holds what it printed.
    pub fn ours(options: &[&str], known: &str) -> Result<Self, String> {
        Self::wrapped(&[], options, known)
    }

    /// As [`Server::ours`] under another program (valgrind, say): `wrapper` is that program and its options.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn wrapped(wrapper: &[&str], options: &[&str], known: &str) -> Result<Self, String> {
        let start = |site: &Site| {
            let mut command = match wrapper.split_first() {
                Some((tool, rest)) => {
                    let mut command = process::command(tool);
                    command.args(rest).arg(env!("CARGO_BIN_EXE_rtems-ioc"));
                    command
                }
                None => program(),
            };
            command
                .args(["serve", "--port", &site.port.to_string()])
                .args(["--echo-port", &site.echo_port.to_string()])
                .args(options);
            site.server(command)
        };
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            let server = Self::start(start, known)?;
            // The echo service starts after the searches are answered, and is announced when it listens.
            let listens = format!(":{}", server.site.echo_port + ECHO_PORTS - 1);
            match server.process.wait_for_line(0, START_LIMIT, |line| line.contains(&listens)) {
                Ok(_) => return Ok(server),
                // Somebody took one of its ports meanwhile.
                Err(text) if text.contains("in use") => last = text,
                Err(text) => return Err(text),
            }
        }
        Err(last)
    }

    /// softIoc with the records of `db`.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn rsrv(clients: &Clients, db: &Path, known: &str) -> Result<Self, String> {
        Self::softioc(|| clients.tool("softIoc"), db, known)
    }

    /// softIoc with options of the caller's, records among them.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn rsrv_with(clients: &Clients, options: &[&str], known: &str) -> Result<Self, String> {
        let start = |site: &Site| {
            let mut command = clients.tool("softIoc");
            command.args(options);
            site.server(command)
        };
        Self::start(start, known)
    }

    /// As [`Server::rsrv`], but not allowed to lock its memory, which softIoc does when it runs as root: untouched stacks
    /// would count as resident.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn rsrv_unlocked(clients: &Clients, db: &Path, known: &str) -> Result<Self, String> {
        let tool = clients.tool("softIoc");
        let program = || {
            let mut command = process::command("prlimit");
            command.args(["--memlock=0:0", "setpriv", "--bounding-set=-ipc_lock"]);
            command.arg(tool.get_program()).args(tool.get_args());
            command
        };
        Self::softioc(program, db, known)
    }

    /// Any other server, which `program` starts; the ports are in its environment.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn of(program: impl Fn() -> Command, known: &str) -> Result<Self, String> {
        Self::start(|site: &Site| site.server(program()), known)
    }

    fn softioc(program: impl Fn() -> Command, db: &Path, known: &str) -> Result<Self, String> {
        let start = |site: &Site| {
            let mut command = program();
            // Its shell ends with its standard input, and the program with it.
            command.arg("-d").arg(db);
            site.server(command)
        };
        Self::start(start, known)
    }

    fn start(command: impl Fn(&Site) -> Command, known: &str) -> Result<Self, String> {
        let mut printed = String::new();
        for _ in 0..ATTEMPTS {
            let site = Site::new()?;
            let mut process = Process::start(command(&site))?;
            let found = super::deadline::retry(START_LIMIT, || {
                if process.ended().is_some() {
                    return Some(None);
                }
                circuit::search(site.port, known, super::deadline::MOMENT).map(Some)
            });
            match found {
                Some(Some(_)) => return Ok(Self { site, process }),
                Some(None) => printed = process.finish(PATIENCE)?.text,
                None => {
                    return Err(format!(
                        "no answer to a search for {known}; it printed:\n{}",
                        process.text()
                    ));
                }
            }
            if !printed.contains("in use") {
                break;
            }
        }
        Err(format!("the server did not start; it printed:\n{printed}"))
    }

    /// The port for circuits, as a search finds it.
    ///
    /// # Errors
    /// If `known` is not served.
    pub fn tcp_port(&self, known: &str) -> Result<u16, String> {
        circuit::search(self.site.port, known, PATIENCE).ok_or_else(|| format!("{known}: not found"))
    }
}
