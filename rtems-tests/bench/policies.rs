// SPDX-License-Identifier: BSD-2-Clause
//! What the answer to "is there enough memory?" costs a name search, by pool policy, on a fragmented heap.
//!
//! Instructions per search are counted by callgrind: searches answered minus the same program without them, so that the
//! figure does not depend on the machine's load. catime's own rows by policy stand beside it.
//!
//! `cargo bench --bench policies -- [--fragment BLOCKS] [--runs N] [--no-catime] [--beside POLICY...] [--json FILE]`

#[path = "../hosted/support/mod.rs"]
mod support;

mod report;
mod servers;

use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use report::{Limits, figure, median};
use rustix::process::Signal;
use serde_json::json;
use servers::NAME;
use support::catime;
use support::deadline::LONG_PATIENCE;
use support::message::{self, Message, command};
use support::python::Clients;
use support::server::Server;

/// Compares the pool policies.
#[derive(Parser)]
struct Options {
    /// Free blocks in the heap; about two and a half times as many are in use.
    #[arg(long, default_value_t = 20_000)]
    fragment: u32,
    /// Runs of catime per policy and number of channels; the medians are shown.
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Numbers of channels for catime.
    #[arg(long, default_values_t = [1000, 10_000])]
    channels: Vec<u32>,
    /// Count instructions only.
    #[arg(long)]
    no_catime: bool,
    /// Policies beside `always` and `tracker`.
    #[arg(long, default_values_t = ["largest-walk".to_owned(), "walk".to_owned()], num_args = 0..)]
    beside: Vec<String>,
    /// Also write the figures as JSON (`-`: to standard output).
    #[arg(long)]
    json: Option<PathBuf>,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The policies, and how many searches make the count exact enough in bearable time (a walk costs a hundred thousand
/// instructions, and callgrind slows each down fifty times).
const POLICIES: &[(&str, u32)] =
    &[("always", 20_000), ("tracker", 20_000), ("largest-walk", 800), ("walk", 400)];

/// Instructions per search with the tracker, in parts of those without a question.
const TRACKER_LIMIT: f64 = 1.03;

/// Names per datagram: what fits in libca's 1024 bytes.
const BATCH: u32 = 24;

/// Searches `count` names, each datagram after the answer to the one before.
fn search(port: u16, count: u32) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(text)?;
    socket.connect((Ipv4Addr::LOCALHOST, port)).map_err(text)?;
    socket.set_read_timeout(Some(LONG_PATIENCE)).map_err(text)?;
    let mut next = 0;
    while next < count {
        let end = (next + BATCH).min(count);
        let names: Vec<_> = (next..end).map(|number| format!("{NAME}{:06}", number % 10_000)).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        socket.send(&message::search_datagram(next, next, &names)).map_err(text)?;
        let mut answered = 0;
        while answered < end - next {
            let mut buffer = [0; 2048];
            let length = socket.recv(&mut buffer).map_err(text)?;
            let mut rest = &buffer[..length];
            while let Some((message, length)) = Message::parse(rest) {
                answered += u32::from(message.header.command == command::SEARCH);
                rest = &rest[length..];
            }
        }
        next = end;
    }
    Ok(())
}

/// Instructions of a whole run of the server in which `searches` names were searched.
fn instructions(policy: &str, fragment: &str, searches: u32) -> Result<f64, String> {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("callgrind.{policy}.{searches}"));
    let out = format!("--callgrind-out-file={}", file.display());
    let wrapper = ["valgrind", "--tool=callgrind", &out];
    let options = ["--name", "ioc", "--pool-policy", policy, "--fragment", fragment];
    let server = Server::wrapped(&wrapper, &options, NAME)?;
    search(server.site.port, searches)?;
    let Server { process, .. } = server;
    process.signal(Signal::INT)?;
    process.finish(LONG_PATIENCE)?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let total =
        text.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: ")));
    total
        .and_then(|number| number.trim().parse().ok())
        .ok_or_else(|| format!("no total in {}", file.display()))
}

/// Rows of catime's report that are shown.
const ROWS: &[&str] = &["search", "pend", "FLOAT async put", "FLOAT async get", "FLOAT sync get"];

fn catime_row(
    clients: &Clients,
    policy: &str,
    fragment: &str,
    channels: u32,
    runs: usize,
) -> Result<(Vec<f64>, (f64, f64)), String> {
    let server = Server::ours(&["--name", "ioc", "--pool-policy", policy, "--fragment", fragment], NAME)?;
    let reports: Result<Vec<_>, _> =
        (0..runs).map(|_| catime::run(clients, &server, NAME, channels, true)).collect();
    let reports = reports?;
    let pick = |name: &str| median(&reports.iter().map(|report| report.rows[name]).collect::<Vec<_>>());
    let mean = median(&reports.iter().map(|report| report.tries.0).collect::<Vec<_>>());
    let most = reports.iter().map(|report| report.tries.1).fold(0.0, f64::max);
    Ok((ROWS.iter().map(|name| pick(name)).collect(), (mean, most)))
}

fn main() -> ExitCode {
    report::close(run())
}

fn run() -> Result<Limits, String> {
    let options = Options::parse();
    let wanted =
        |policy: &str| ["always", "tracker"].contains(&policy) || options.beside.iter().any(|p| p == policy);
    let policies: Vec<_> = POLICIES.iter().copied().filter(|&(policy, _)| wanted(policy)).collect();
    let circumstances = report::circumstances();
    let fragment = options.fragment.to_string();
    println!("{circumstances}; heap with --fragment {fragment}\n");
    let mut costs = Vec::new();
    for &(policy, searches) in &policies {
        let base = instructions(policy, &fragment, 0)?;
        costs.push((policy, (instructions(policy, &fragment, searches)? - base) / f64::from(searches)));
    }
    let always = costs[0].1;
    let rows: Vec<_> = costs
        .iter()
        .map(|&(policy, cost)| vec![policy.to_owned(), format!("{cost:.0}"), format!("{:.3}", cost / always)])
        .collect();
    print!("{}", report::table(&["policy", "instructions per search", "of `always`"], &rows));
    let mut catime_rows = Vec::new();
    if !options.no_catime {
        let clients = Clients::prepare()?;
        for &channels in &options.channels {
            for &(policy, _) in &policies {
                let (row, tries) = catime_row(&clients, policy, &fragment, channels, options.runs)?;
                catime_rows.push((channels, policy, row, tries));
            }
        }
        let rows: Vec<_> = catime_rows
            .iter()
            .map(|(channels, policy, row, tries)| {
                let mut cells = vec![format!("{channels} channels: {policy}")];
                cells.extend(row.iter().map(|&value| figure(value)));
                cells.push(format!("{:.1} ({:.0})", tries.0, tries.1));
                cells
            })
            .collect();
        println!("\ncatime {NAME} N append, us per operation, median of {} runs\n", options.runs);
        let head = ["policy", "search", "pend", "async put", "async get", "sync get", "search tries (max)"];
        print!("{}", report::table(&head, &rows));
    }
    if let Some(file) = &options.json {
        let costs: serde_json::Map<_, _> =
            costs.iter().map(|&(policy, cost)| (policy.to_owned(), json!(cost))).collect();
        let rows: Vec<_> = catime_rows
            .iter()
            .map(|(channels, policy, row, tries)| {
                let row: serde_json::Map<_, _> =
                    ROWS.iter().map(|&name| name.to_owned()).zip(row.iter().map(|v| json!(v))).collect();
                json!({"channels": channels, "policy": policy, "rows": row, "tries": tries})
            })
            .collect();
        report::write_json(
            file,
            &json!({"circumstances": circumstances, "instructions": costs, "catime": rows}),
        )?;
    }
    let mut limits = Limits::default();
    let tracker = costs.iter().find(|&&(policy, _)| policy == "tracker").map_or(f64::NAN, |cost| cost.1);
    limits.at_most("instructions per search, tracker / always", tracker / always, TRACKER_LIMIT);
    Ok(limits)
}
