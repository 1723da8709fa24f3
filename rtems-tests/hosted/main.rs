// SPDX-License-Identifier: BSD-2-Clause
//! The hosted tests: real clients against the running program, and what softIoc does with the same records.
//!
//! The tests that need the real clients are skipped, loudly, where those cannot be had. A test named `rsrv::...` runs
//! against softIoc: it proves the test, since the same function then judges our server.

mod support;

mod alarms;
mod beacons;
mod catime;
mod echo;
mod endurance;
mod features;
mod malformed;
mod program;
mod python_clients;
mod security;
mod tools;
mod values;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError, RwLock};

use libtest_mimic::{Arguments, Failed, Trial};
use support::python::Clients;
use support::server::Server;

/// A test that brings all it needs.
type Test = fn() -> Result<(), String>;

/// A test with the real clients against a server that has the records of `records.db`.
type ClientTest = fn(&Clients, &Server) -> Result<(), String>;

/// A record that every server under test has.
const KNOWN: &str = "cmp:ai";

fn records() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/rtems-tests/hosted/records.db"))
}

/// Our server with those records and the benchmark PVs of `ioc`.
fn ours() -> Result<Server, String> {
    let records = records().display().to_string();
    Server::ours(&["--name", "ioc", "--db", &records], KNOWN)
}

/// Most trials run beside each other; one that measures runs while no other does.
static BESIDE: RwLock<()> = RwLock::new(());

fn beside<T>(test: impl FnOnce() -> T) -> T {
    let _beside = BESIDE.read().unwrap_or_else(PoisonError::into_inner);
    test()
}

fn by_itself<T>(test: impl FnOnce() -> T) -> T {
    let _alone = BESIDE.write().unwrap_or_else(PoisonError::into_inner);
    test()
}

/// The trials that need the real clients.
struct WithClients {
    clients: Arc<Result<Clients, String>>,
    trials: Vec<Trial>,
}

impl WithClients {
    fn add(&mut self, name: String, test: impl FnOnce(&Clients) -> Result<(), String> + Send + 'static) {
        self.push(name, move |clients| beside(|| test(clients)));
    }

    fn add_by_itself(
        &mut self,
        name: String,
        test: impl FnOnce(&Clients) -> Result<(), String> + Send + 'static,
    ) {
        self.push(name, move |clients| by_itself(|| test(clients)));
    }

    fn push(&mut self, name: String, test: impl FnOnce(&Clients) -> Result<(), String> + Send + 'static) {
        let clients = Arc::clone(&self.clients);
        let trial = Trial::test(name, move || {
            let clients = clients.as_ref().as_ref().map_err(Failed::from)?;
            test(clients).map_err(Failed::from)
        });
        self.trials.push(trial.with_ignored_flag(self.clients.is_err()));
    }

    fn add_all(&mut self) {
        for &(name, test) in tools::TESTS.iter().chain(python_clients::TESTS) {
            self.add(format!("ours::{name}"), move |clients| judged(clients, ours()?, test));
            self.add(format!("rsrv::{name}"), move |clients| {
                judged(clients, Server::rsrv(clients, records(), KNOWN)?, test)
            });
        }
        for &(name, channels, append) in catime::RUNS {
            self.add_by_itself(format!("ours::{name}"), move |clients| {
                catime::completes(clients, channels, append)
            });
        }
        for &(name, test) in security::CLIENT_TESTS {
            self.add(format!("ours::{name}"), move |clients| judged(clients, ours()?, test));
        }
        self.add("security::rights_are_as_rsrvs".to_owned(), security::rights_are_as_rsrvs);
        self.add("alarms::sequences_are_as_rsrvs".to_owned(), alarms::sequences_are_as_rsrvs);
        self.add("alarms::camonitor_shows_the_same".to_owned(), alarms::camonitor_shows_the_same);
        self.add("alarms::caget_shows_the_same".to_owned(), alarms::caget_shows_the_same);
        self.add("values::gets_are_as_rsrvs".to_owned(), values::gets_are_as_rsrvs);
        self.add("values::puts_are_as_rsrvs".to_owned(), values::puts_are_as_rsrvs);
    }
}

fn judged(clients: &Clients, server: Server, test: ClientTest) -> Result<(), String> {
    test(clients, &server).map_err(|error| format!("{error}\nThe server printed:\n{}", server.process.text()))
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let clients = if arguments.list { Err("only listing".to_owned()) } else { Clients::prepare() };
    let clients = Arc::new(clients);
    let mut real = WithClients { clients: Arc::clone(&clients), trials: Vec::new() };
    real.add_all();
    let mut trials = real.trials;
    if let Err(why) = clients.as_ref()
        && !arguments.list
    {
        report_skips(&trials, why);
    }
    for &(name, test) in [
        program::TESTS,
        malformed::TESTS,
        beacons::TESTS,
        echo::TESTS,
        endurance::TESTS,
        security::TESTS,
        features::TESTS,
    ]
    .concat()
    .iter()
    {
        trials.push(Trial::test(name, move || beside(test).map_err(Failed::from)));
    }
    let names = trials.iter().map(|trial| trial.name().to_owned()).collect();
    features::TRIALS.set(names).expect("set once");
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn report_skips(trials: &[Trial], why: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(stderr, "SKIPPED: {} tests: no real clients: {why}", trials.len());
    for trial in trials {
        let _ = writeln!(stderr, "SKIPPED: {}", trial.name());
    }
}
