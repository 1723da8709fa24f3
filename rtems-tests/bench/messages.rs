// SPDX-License-Identifier: BSD-2-Clause
//! Server CPU per message, by kind of message: ours, EPICS's own (rsrv, in softIoc) and others, in turn.
//!
//! `cargo bench --bench messages -- [--rounds N] [--only NAME]... [--peer NAME=COMMAND]... [--svg FILE] [--json FILE]`
//!
//! caproto is measured where the clients' Python environment has it, as it does, and pcaspy if it was put there
//! (`target/clients/bin/pip install pcaspy`). `--peer` adds any other: a command that serves `ioc:catime`, a number of type
//! double, at the port of `EPICS_CAS_SERVER_PORT`.

#[path = "../hosted/support/mod.rs"]
mod support;

mod bars;
mod floor;
mod load;
mod report;
mod servers;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use load::{KINDS, Load};
use report::{Limits, figure};
use serde_json::json;
use support::python::Clients;
use support::server::Server;

/// Compares what a message costs the servers.
#[derive(Parser)]
struct Options {
    /// How often each server's turn comes, for each kind of message.
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Only this server, and ours; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Another server: its name and the command that starts it.
    #[arg(long, value_name = "NAME=COMMAND")]
    peer: Vec<String>,
    /// Also draw the table.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Also write all figures as JSON (`-`: to standard output).
    #[arg(long)]
    json: Option<PathBuf>,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Server CPU of each kind of message, in parts of rsrv's, summed over all rounds: where each travels by itself the kernel
/// takes most of it, from either server.
const LIMIT: f64 = 1.1;
/// The same where many messages travel together: then the server's own work counts.
const TOGETHER_LIMIT: f64 = 0.5;

/// For the time of the kernel alone.
const FLOOR_MESSAGES: u32 = 20_000;

/// A server and what was measured of it.
struct Measured {
    name: String,
    server: Server,
    /// By kind, one for each round: CPU seconds and messages.
    runs: Vec<Vec<(f64, f64)>>,
}

impl Measured {
    fn new(name: &str, server: Server) -> Self {
        Self { name: name.to_owned(), server, runs: vec![Vec::new(); KINDS.len()] }
    }

    /// CPU microseconds per message of one kind, summed over the rounds.
    fn cost(&self, kind: usize) -> f64 {
        let (cpu, messages) =
            self.runs[kind].iter().fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
        cpu / messages * 1e6
    }

    /// The dearest round less the cheapest, in parts of the cost.
    fn spread(&self, kind: usize) -> f64 {
        let each = self.runs[kind].iter().map(|(cpu, messages)| cpu / messages * 1e6);
        let (low, high) =
            each.fold((f64::INFINITY, 0.0_f64), |(low, high), cost| (low.min(cost), high.max(cost)));
        (high - low) / self.cost(kind)
    }
}

/// Every server that can be had, ours and rsrv first; what cannot is said.
fn servers(clients: &Clients, options: &Options) -> Result<Vec<Measured>, String> {
    let wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
    let mut all = vec![Measured::new("ours", servers::ours()?)];
    if wanted("rsrv") {
        all.push(Measured::new("rsrv", servers::rsrv(clients, false)?));
    }
    for (name, module) in [("pcaspy", "pcaspy"), ("caproto", "caproto")] {
        if !wanted(name) {
            continue;
        }
        match servers::python(clients, name, module) {
            Ok(server) => all.push(Measured::new(name, server)),
            Err(reason) => println!("SKIPPED: {name}: {reason}"),
        }
    }
    for peer in &options.peer {
        let (name, command) =
            peer.split_once('=').ok_or_else(|| format!("--peer {peer}: no NAME=COMMAND"))?;
        all.push(Measured::new(name, servers::command(command)?));
    }
    Ok(all)
}

/// All rounds of all kinds. What a server does not do is said, and it has no figure there; ours and rsrv have to.
fn measure(all: &mut [Measured], rounds: usize) -> Result<(), String> {
    for (number, kind) in KINDS.iter().enumerate() {
        // The first round finds out how many messages fill a round, and does not count.
        let counts: Vec<_> = all.iter().map(|each| Load::new(&each.server)?.fill(*kind)).collect();
        for (each, count) in all.iter().zip(&counts) {
            match count {
                Err(reason) if matches!(each.name.as_str(), "ours" | "rsrv") => {
                    return Err(format!("{}, {}: {reason}", each.name, kind.name()));
                }
                Err(reason) => println!("SKIPPED: {}, {}: {reason}", each.name, kind.name()),
                Ok(_) => {}
            }
        }
        for round in 0..rounds {
            for place in 0..all.len() {
                // Who goes first changes each time.
                let place = (place + round) % all.len();
                let each = &mut all[place];
                if let Ok(count) = counts[place] {
                    let run = Load::new(&each.server)?.run(*kind, count);
                    each.runs[number].push(run.map_err(|e| format!("{}, {}: {e}", each.name, kind.name()))?);
                }
            }
        }
        let costs: Vec<_> =
            all.iter().map(|each| format!("{} {}", each.name, cell(each.cost(number)))).collect();
        println!("{}: {}", kind.name(), costs.join(", "));
    }
    Ok(())
}

/// A figure; a dash where there is none.
fn cell(cost: f64) -> String {
    if cost.is_nan() { "-".to_owned() } else { figure(cost) }
}

fn table(all: &[Measured]) -> String {
    let mut head = vec!["server CPU, us per message"];
    head.extend(KINDS.iter().map(|kind| kind.name()));
    let rsrv = all.iter().find(|each| each.name == "rsrv");
    let mut rows: Vec<Vec<String>> = all
        .iter()
        .map(|each| {
            let costs = (0..KINDS.len()).map(|kind| cell(each.cost(kind)));
            std::iter::once(each.name.clone()).chain(costs).collect()
        })
        .collect();
    if let (Some(rsrv), Some(ours)) = (rsrv, all.first()) {
        let ratios = (0..KINDS.len()).map(|kind| format!("{:.2}", ours.cost(kind) / rsrv.cost(kind)));
        rows.push(std::iter::once("ours / rsrv".to_owned()).chain(ratios).collect());
    }
    report::table(&head, &rows)
}

fn check(all: &[Measured]) -> Limits {
    let mut limits = Limits::default();
    if let (Some(rsrv), Some(ours)) = (all.iter().find(|each| each.name == "rsrv"), all.first()) {
        for (number, kind) in KINDS.iter().enumerate() {
            let limit = if kind.together() { TOGETHER_LIMIT } else { LIMIT };
            let ratio = ours.cost(number) / rsrv.cost(number);
            limits.at_most(&format!("{}: server CPU, in parts of rsrv's", kind.name()), ratio, limit);
        }
    }
    limits
}

fn bench(options: &Options) -> Result<Limits, String> {
    let (clients, circumstances) = servers::begin("servers in turn")?;
    let mut all = servers(&clients, options)?;
    measure(&mut all, options.rounds)?;
    println!("\n{} rounds of each server in turn\n\n{}", options.rounds, table(&all));
    let spread =
        all.iter().flat_map(|each| (0..KINDS.len()).map(|kind| each.spread(kind))).fold(0.0, f64::max);
    let floors =
        (0..options.rounds).map(|_| floor::measure(FLOOR_MESSAGES)).collect::<Result<Vec<_>, _>>()?;
    println!(
        "A blocking recv and a send of a get's sizes, and nothing else: {} us.",
        figure(report::median(&floors))
    );
    println!("Cheapest and dearest round of any server and kind are {:.0} % apart at most.", spread * 100.0);
    if let Some(file) = &options.svg {
        let kinds: Vec<_> = KINDS.iter().map(|kind| kind.name()).collect();
        let rows: Vec<_> = all
            .iter()
            .map(|each| (each.name.as_str(), (0..KINDS.len()).map(|k| each.cost(k)).collect()))
            .collect();
        let svg = bars::draw("Server CPU per message, us", &kinds, &rows);
        std::fs::write(file, svg).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    if let Some(file) = &options.json {
        let each = |server: &Measured| {
            let kinds = KINDS.iter().enumerate();
            let runs: Vec<_> = kinds
                .map(|(number, kind)| json!({"kind": kind.name(), "cpu_s_and_messages": server.runs[number]}))
                .collect();
            json!({"server": server.name, "kinds": runs})
        };
        let servers: Vec<_> = all.iter().map(each).collect();
        report::write_json(file, &json!({"circumstances": circumstances, "servers": servers}))?;
    }
    Ok(check(&all))
}

fn main() -> ExitCode {
    report::close(bench(&Options::parse()))
}
