// SPDX-License-Identifier: BSD-2-Clause
//! The benchmark as a shell command: any operating system's sockets, addresses from the environment.

use super::{Arguments, Outcome, Sockets, TableReport, TextReport, run};
use crate::net::settings::search_addresses;
use crate::os::System;
use crate::os::socket::Address;
use crate::shell;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// The environment of the client.
pub struct Environment<'a> {
    /// Value of a variable.
    pub get: &'a dyn Fn(&str) -> Option<String>,
    /// IPv4 address of a host name, in host order.
    pub resolve: &'a dyn Fn(&str) -> Option<u32>,
}

/// Where a client searches, and as whom.
pub struct Way {
    /// Addresses, host or broadcast.
    pub addresses: Vec<Address>,
    /// User name.
    pub user: String,
    /// Host name.
    pub host: String,
}

/// Sockets that search where the environment says. The error is what to print.
pub fn open<S: System>(system: S, environment: &Environment<'_>) -> Result<Sockets<S>, String> {
    let Way { addresses, user, host } = way(&system, environment)?;
    Sockets::open(system, addresses, user, host).map_err(|error| alloc::format!("search socket: {error}"))
}

/// What the environment says. The error is what to print.
pub fn way<S: System>(system: &S, environment: &Environment<'_>) -> Result<Way, String> {
    let mut broadcasts = Vec::new();
    let looked = system.interfaces(&mut |interface| {
        if !interface.loopback && broadcasts.try_reserve(1).is_ok() {
            broadcasts.extend(interface.broadcast);
        }
    });
    looked.map_err(|error| alloc::format!("interfaces: {error}"))?;
    let addresses = search_addresses(environment.get, environment.resolve, &broadcasts)
        .map_err(|error| alloc::format!("{error}"))?;
    let user = (environment.get)("USER").unwrap_or_else(|| String::from("catime"));
    let host = (environment.get)("HOSTNAME").unwrap_or_else(|| String::from("rtems"));
    Ok(Way { addresses, user, host })
}

/// Runs `catime [--table] [--at ADDRESS[:PORT]] NAME [COUNT [APPEND]]`. Failed if it could not run or the server reported
/// errors.
pub fn command<S: System>(
    system: S,
    environment: &Environment<'_>,
    out: &mut dyn Write,
    words: &[&str],
) -> i32 {
    let (table, words) = match words {
        ["--table", words @ ..] => (true, words),
        words => (false, words),
    };
    // A shell of RTEMS may have no way to set a variable.
    let (server, words) = match words {
        ["--at", server, words @ ..] => (Some(*server), words),
        words => (None, words),
    };
    let get = |name: &str| match (server, name) {
        (Some(server), "EPICS_CA_ADDR_LIST") => Some(String::from(server)),
        (Some(_), "EPICS_CA_AUTO_ADDR_LIST") => Some(String::from("NO")),
        (_, name) => (environment.get)(name),
    };
    let environment = &Environment { get: &get, resolve: environment.resolve };
    let arguments = match Arguments::parse(words) {
        Ok(arguments) => arguments,
        Err(text) => {
            let _ = out.write_str(text);
            return shell::USAGE;
        }
    };
    let result = open(system, environment).and_then(|sockets| {
        if !table {
            let mut report = TextReport(out);
            return run(sockets, &arguments, None, &mut |event| report.event(event))
                .map_err(|abort| alloc::format!("{abort}"));
        }
        let mut report = TableReport::default();
        let outcome = run(sockets, &arguments, None, &mut |event| {
            if report.event(event) { Ok(()) } else { Err(fmt::Error) }
        })
        .map_err(|abort| alloc::format!("{abort}"))?;
        report.table(out).map_err(|error| alloc::format!("{error}"))?;
        Ok(outcome)
    });
    match result {
        Ok(Outcome { errors: 0 }) => shell::OK,
        Ok(_) => shell::FAILED,
        Err(text) => {
            let _ = writeln!(out, "catime: {text}");
            shell::FAILED
        }
    }
}
