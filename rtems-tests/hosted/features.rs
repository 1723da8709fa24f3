// SPDX-License-Identifier: BSD-2-Clause
//! The table of features in the README, row by row: each row of ours is probed here on the running program, or shown by a
//! test that is run from here or beside this one. What stands there of other servers was probed on 2026-11-30: rsrv of EPICS
//! base 7.0.8.1, pcas of pcaspy 0.8.1, caproto 1.3.0 and epics-ca-rs 0.33.

mod probes;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::support::circuit::Circuit;
use crate::{Test, ours, security};
use probes::*;

/// Tests here.
pub const TESTS: &[(&str, Test)] = &[
    ("features::each_row_is_as_the_readme_says", each_row_is_as_the_readme_says),
    ("features::the_readme_has_this_table", the_readme_has_this_table),
];

/// How a row is shown.
enum Shown {
    /// By a probe of the running program.
    Here(fn(&mut Probe) -> Result<(), String>),
    /// By a test of this program: it is in its list, and so runs with it.
    Trial(&'static str),
    /// By a test of another program, which is run here: `--lib` or the name of a file in `rtems-tests/hosted`, and the test.
    By(&'static str, &'static str),
    /// By a test of an image: the file that lists it, and its name. The runner says how it went.
    Image(&'static str, &'static str),
    /// Not yet.
    Later,
}

/// Feature; rsrv, pcas, caproto, epics-ca-rs; ours in a few words; how it is shown.
struct Row(&'static str, [&'static str; 4], &'static str, Shown);

use Shown::{By, Here, Image, Later, Trial};

const ROWS: &[Row] = &[
    Row("protocol version", ["4.13", "4.13", "4.13", "4.13"], "4.13", Here(version)),
    Row("searches in batches, sequence echoed", ["yes", "yes", "always 1", "yes"], "yes", Here(searches)),
    Row(
        "search over TCP, NOT_FOUND",
        ["yes", "port 0, no NOT_FOUND", "yes", "yes"],
        "yes",
        Here(search_by_tcp),
    ),
    Row(
        "beacons from 0.02 s, doubling",
        ["yes", "3 at once", "yes", "yes"],
        "yes",
        Trial("beacons_count_up_while_their_period_doubles"),
    ),
    Row(
        "interface, beacon and ignore lists, multicast",
        ["yes", "no multicast", "no ignore list", "yes"],
        "yes",
        By("--lib", "net::plan::tests::a_multicast_group_is_joined_where_it_is_heard"),
    ),
    Row(
        "priority of circuits",
        ["by thread", "no", "no", "checked"],
        "order of service",
        By("--lib", "ca::tests::circuits::circuits_of_higher_priority_are_served_first"),
    ),
    Row("requests before VERSION", ["no", "yes", "yes", "no"], "yes", Here(before_version)),
    Row("count 0: current length", ["yes", "yes", "yes", "yes"], "yes", Here(autosize)),
    Row(
        "arrays beyond 16 kB, extended headers",
        ["yes", "if configured", "yes", "yes"],
        "yes",
        Here(large_arrays),
    ),
    Row("counts checked against the payload", ["no", "no", "cut", "closes"], "a status", Here(counts)),
    Row("unknown server id", ["closes", "a status", "dies", "closes"], "a status", Here(unknown_sid)),
    Row("READ, READ_SYNC of old clients", ["yes", "yes", "no", "yes"], "yes", Here(old_reads)),
    Row("PUT_ACKT, PUT_ACKS, STSACK", ["yes", "no", "partly", "partly"], "yes", Here(acknowledge)),
    Row("CLASS_NAME", ["yes", "yes", "yes", "yes"], "yes", Here(class_name)),
    Row("EVENTS_OFF keeps the newest value", ["yes", "yes", "yes", "yes"], "yes", Here(events_off)),
    Row("masks VALUE, LOG, ALARM, PROPERTY", ["yes", "yes", "yes", "yes"], "yes", Here(masks)),
    Row("deadbands MDEL, ADEL", ["yes", "yes", "yes", "yes"], "yes", Here(deadbands)),
    Row(
        "alarms: limits, hysteresis, acknowledgement",
        ["yes", "no acknowledgement", "yes", "yes"],
        "yes",
        Trial("alarms::sequences_are_as_rsrvs"),
    ),
    Row("names of states, checked", ["yes", "not checked", "yes", "yes"], "yes", Here(states)),
    Row("long strings: `$`, lsi, lso", ["yes", "CHAR only", "yes", "yes"], "yes", Here(long_strings)),
    Row("channel filters", ["yes", "no", "yes", "yes"], "later", Later),
    Row(
        "put-callback when processing has ended",
        ["one per channel", "yes", "yes", "yes"],
        "yes",
        By("application", "handlers_decide_and_puts_end_later"),
    ),
    Row(
        "access security files",
        ["yes", "yes", "a hook", "yes"],
        "without INP, CALC; by address",
        Trial("security::rights_are_as_rsrvs"),
    ),
    Row("log of puts", ["by a module", "no", "no", "yes"], "ring and log", Trial("puts_are_logged")),
    Row(
        "limits per client",
        ["memory only", "no", "subscriptions", "channels"],
        "circuits, channels, monitors",
        By("--lib", "ca::tests::limits::channels_on_one_circuit_and_in_total"),
    ),
    Row(
        "a client that does not read",
        ["blocks its thread", "blocks all", "drops", "limited"],
        "is not read either",
        By("--lib", "ca::tests::circuits::a_client_that_does_not_read_is_not_read_either_and_loses_nothing"),
    ),
    Row("report of clients", ["casr", "show", "log", "casr, HTTP"], "casr, status PVs", Here(report)),
    Row("pause and run", ["yes", "no", "no", "yes"], "yes", Here(pause)),
    Row(
        "threads per client",
        ["2", "0", "0", "0 to 2"],
        "0",
        By("ca_sockets", "a_hundred_clients_at_once_are_all_served"),
    ),
    Row(
        "PVs of an application, set without waiting",
        ["device support", "one loop", "one loop", "yes"],
        "wait-free, Rust and C",
        By("application", "the_c_interface_does_the_same"),
    ),
    Row(
        "RTEMS",
        ["yes", "C++", "no", "ARM only"],
        "PowerPC, ARM; no_std",
        Image("rtems-tests/target/pv_tests.c", "pv-tasks"),
    ),
];

/// The tests of this program, as it runs them.
pub static TRIALS: OnceLock<Vec<String>> = OnceLock::new();

/// Runs one test of another test program; what it says of itself must be that this one passed.
fn passes(program: &str, name: &str) -> Result<(), String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--locked"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    match program {
        "--lib" => cargo.arg("--lib"),
        file => cargo.args(["--test", file]),
    };
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.args(["--", "--exact", name]).output().map_err(|error| format!("cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains("test result: ok. 1 passed") {
        return Ok(());
    }
    Err(format!("{program} {name}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn each_row_is_as_the_readme_says() -> Result<(), String> {
    let mut text = String::new();
    for Row(feature, _, _, shown) in ROWS {
        let result = match shown {
            Here(run) => {
                let server = security::ours(&[])?;
                let circuit = Circuit::connect_as(server.tcp_port(security::KNOWN)?, "ann", "console1")?;
                run(&mut Probe { server, circuit })
            }
            Trial(name) => {
                match TRIALS.get().is_some_and(|trials| trials.iter().any(|known| known == name)) {
                    true => Ok(()),
                    false => Err(format!("this program has no test {name}")),
                }
            }
            By(program, name) => passes(program, name),
            Image(file, name) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
                let source = std::fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
                let listed = source.contains(&format!("{{ \"{name}\", "));
                if listed { Ok(()) } else { Err(format!("{file} does not list {name}")) }
            }
            Later => Ok(()),
        };
        if let Err(error) = result {
            let _ = writeln!(text, "{feature}: {error}");
        }
    }
    // The comparison's records are there with the other server, too.
    drop(ours()?);
    if text.is_empty() { Ok(()) } else { Err(text) }
}

/// The table as it stands in the README.
fn table() -> String {
    let mut text =
        String::from("| feature | rsrv | pcas | caproto | epics-ca-rs | ours |\n|---|---|---|---|---|---|\n");
    for Row(feature, [rsrv, pcas, caproto, rust], ours, _) in ROWS {
        let _ = writeln!(text, "| {feature} | {rsrv} | {pcas} | {caproto} | {rust} | {ours} |");
    }
    text
}

fn the_readme_has_this_table() -> Result<(), String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&readme).map_err(|error| error.to_string())?;
    if readme.contains(&table()) { Ok(()) } else { Err(format!("README.md should have:\n{}", table())) }
}
