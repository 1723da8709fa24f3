// SPDX-License-Identifier: BSD-2-Clause
//! EPICS's own acceptance test of Channel Access (`acctst`) against our server.
//!
//! It waits for beacons and time-outs in real time, so this is a run of its own and no part of a plain `cargo test`:
//! `cargo test --test acctst` takes about three minutes.

mod support;

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use support::deadline::retry;
use support::process::Process;
use support::python::Clients;
use support::server::{Server, program};

/// A number of type double that can be written.
const NAME: &str = "ioc:catime";
/// Level of interest, channels, repetitions.
const ARGUMENTS: [&str; 4] = [NAME, "1", "200", "1"];
/// Until it asks for the restart, and from there to its end.
const LIMIT: Duration = Duration::from_secs(600);
/// What it prints when a check goes another way than expected, although it goes on.
const COMPLAINTS: [&str; 7] = ["failed", "Unusual", "trange", "didnt", "skipped", "Skipped", "skipping"];

/// How it tells of a check that failed; its thread then stops for ever.
const ASSERTION: &str = "A call to 'assert(";
/// The one check that is about the client's own timer, to a tenth of 0.1 s: on a busy machine it may fail whatever the server.
const OWN_TIMER: &str = "fabs(accuracy) < 10.0";
/// Runs until its timer is good enough.
const ATTEMPTS: usize = 3;

/// acctst completes, with nothing skipped, and through a restart of the server.
#[test]
fn acctst_completes() {
    let clients = Clients::prepare().expect("the real clients");
    for attempt in 1..=ATTEMPTS {
        let (printed, fault) = run(&clients);
        println!("{printed}");
        match fault {
            Some(fault) if fault.contains(OWN_TIMER) && attempt < ATTEMPTS => println!("again: {fault}"),
            Some(fault) => panic!("{fault}"),
            None => return,
        }
    }
}

/// One run: what it printed, and what is wrong.
fn run(clients: &Clients) -> (String, Option<String>) {
    let Server { site, process } = Server::ours(&["--name", "ioc"], NAME).expect("server");
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("acctst-{}.txt", std::process::id()));
    let mut command = site.client(clients.tool("acctst"));
    command.args(ARGUMENTS);
    let file = File::create(&output).expect("output");
    let mut test = Process::start_into(command, Stdio::from(file)).expect("acctst");
    // It asks in the middle of a line.
    let printed = || fs::read_to_string(&output).unwrap_or_default();
    let asked = retry(LIMIT, || printed().contains("force test channel to disconnect").then_some(()));
    if asked.is_none() {
        return (printed(), Some("it did not ask for a disconnect".to_owned()));
    }
    drop(process);
    let mut command = program();
    command.args(["serve", "--name", "ioc", "--port", &site.port.to_string()]);
    command.args(["--echo-port", &site.echo_port.to_string()]);
    let again = Process::start(site.server(command)).expect("server");
    let ended = retry(LIMIT, || match test.ended() {
        Some(status) => Some(Some(status)),
        None => test.text().contains(ASSERTION).then_some(None),
    });
    let printed = printed();
    let _ = fs::remove_file(&output);
    let fault = match ended {
        None => Some("it did not end".to_owned()),
        Some(None) => Some(test.text()),
        Some(Some(status)) if !status.success() => Some(format!("{status}: {}", test.text())),
        Some(Some(_)) if !printed.contains("Test Complete") => Some("it did not complete".to_owned()),
        Some(Some(_)) => {
            let complains = |line: &&str| COMPLAINTS.iter().any(|each| line.contains(each));
            printed.lines().find(complains).map(str::to_owned)
        }
    };
    drop(again);
    (printed, fault)
}
