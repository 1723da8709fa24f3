// SPDX-License-Identifier: BSD-2-Clause
//! Our server and EPICS's own (rsrv, in softIoc) under catime, run by run in turn: time per operation and server CPU.
//!
//! `cargo bench --bench rsrv -- [--pairs N] [--channels N]... [--json FILE]`

#[path = "../hosted/support/mod.rs"]
mod support;

mod report;
mod servers;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use report::{Limits, figure, median, ratio, spread};
use serde_json::json;
use servers::NAME;
use support::catime::{self, Report};
use support::procfs::cpu_seconds;
use support::python::Clients;
use support::server::Server;

/// Compares the two servers under catime.
#[derive(Parser)]
struct Options {
    /// Runs of each server per number of channels.
    #[arg(long, default_value_t = 10)]
    pairs: usize,
    /// Number of channels; may be given several times.
    #[arg(long, default_values_t = [1000, 10_000])]
    channels: Vec<u32>,
    /// Only one record per channel, or only the same record for all.
    #[arg(long, value_parser = ["same", "append"])]
    only: Option<String>,
    /// Also write all runs as JSON (`-`: to standard output).
    #[arg(long)]
    json: Option<PathBuf>,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Our server's CPU time over all runs of a kind, in parts of rsrv's.
const CPU_LIMIT: f64 = 1.0;
/// The 95 % lower bound of each row's ratio to rsrv's.
const RATIO_LIMIT: f64 = 1.10;
/// Searches until a channel is found.
const TRIES_LIMIT: f64 = 1.0;

/// One run of catime.
struct Run {
    report: Report,
    cpu: f64,
}

/// All pairs of runs of one kind, ours first.
struct Comparison {
    channels: u32,
    append: bool,
    pairs: Vec<(Run, Run)>,
}

fn run(clients: &Clients, server: &Server, channels: u32, append: bool) -> Result<Run, String> {
    let before = cpu_seconds(server.process.id())?;
    let report = catime::run(clients, server, NAME, channels, append)?;
    Ok(Run { report, cpu: cpu_seconds(server.process.id())? - before })
}

fn compare(clients: &Clients, channels: u32, append: bool, count: usize) -> Result<Comparison, String> {
    let ours = servers::ours()?;
    let rsrv = servers::rsrv(clients, true)?;
    let mut pairs = Vec::new();
    // The first pair warms both up (rsrv fills its free lists) and does not count. Who goes first changes each time.
    for number in 0..=count {
        let pair = if number % 2 == 0 {
            let first = run(clients, &ours, channels, append)?;
            (first, run(clients, &rsrv, channels, append)?)
        } else {
            let first = run(clients, &rsrv, channels, append)?;
            (run(clients, &ours, channels, append)?, first)
        };
        if number > 0 {
            pairs.push(pair);
        }
    }
    Ok(Comparison { channels, append, pairs })
}

impl Comparison {
    fn title(&self) -> String {
        let records = if self.append { "a record each" } else { "the same record" };
        format!("{} channels, {records}", self.channels)
    }

    fn row(&self, name: &str) -> Vec<(f64, f64)> {
        self.pairs.iter().map(|(ours, rsrv)| (ours.report.rows[name], rsrv.report.rows[name])).collect()
    }

    /// CPU seconds summed over the runs.
    fn cpu(&self) -> (f64, f64) {
        self.pairs.iter().fold((0.0, 0.0), |sum, (ours, rsrv)| (sum.0 + ours.cpu, sum.1 + rsrv.cpu))
    }

    /// Highest search tries of any run.
    fn tries(&self) -> (f64, f64) {
        let highest = |most: f64, run: &Run| most.max(run.report.tries.1);
        self.pairs
            .iter()
            .fold((0.0, 0.0), |most, (ours, rsrv)| (highest(most.0, ours), highest(most.1, rsrv)))
    }

    fn text(&self) -> String {
        let rows: Vec<_> = catime::row_names()
            .iter()
            .map(|name| {
                let pairs = self.row(name);
                let (ours, rsrv): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
                let ratio = ratio(&pairs);
                vec![
                    name.clone(),
                    figure(median(&ours)),
                    format!("±{}", figure(spread(&ours))),
                    figure(median(&rsrv)),
                    format!("±{}", figure(spread(&rsrv))),
                    format!("{:.2}", ratio.value),
                    format!("{:.2}", ratio.lower),
                ]
            })
            .collect();
        let head = ["us per operation", "ours", "spread", "rsrv", "spread", "ratio", "95 % lower bound"];
        let (ours, rsrv) = self.cpu();
        let tries = self.tries();
        let mut text = format!("\n{}, {} pairs\n\n", self.title(), self.pairs.len());
        text.push_str(&report::table(&head, &rows));
        let _ = writeln!(
            text,
            "\nServer CPU, all {} runs: ours {ours:.2} s, rsrv {rsrv:.2} s, ratio {:.3}. Search tries, highest: ours {}, rsrv {}.",
            self.pairs.len(),
            ours / rsrv,
            tries.0,
            tries.1
        );
        text
    }

    /// Holds it against what the package promises.
    fn check(&self, limits: &mut Limits) {
        let title = self.title();
        let (ours, rsrv) = self.cpu();
        limits.at_most(&format!("{title}: server CPU, ratio"), ours / rsrv, CPU_LIMIT);
        limits.at_most(&format!("{title}: search tries"), self.tries().0, TRIES_LIMIT);
        let bounds = catime::row_names().into_iter().map(|name| (ratio(&self.row(&name)).lower, name));
        if let Some((bound, name)) = bounds.max_by(|a, b| a.0.total_cmp(&b.0)) {
            limits.at_most(&format!("{title}: highest lower bound of a ratio ({name})"), bound, RATIO_LIMIT);
        }
    }

    fn json(&self) -> serde_json::Value {
        let side = |run: &Run| json!({"rows": run.report.rows, "tries": run.report.tries, "cpu": run.cpu});
        let ratios: serde_json::Map<_, _> = catime::row_names()
            .into_iter()
            .map(|name| (name.clone(), json!(ratio(&self.row(&name)))))
            .collect();
        json!({
            "channels": self.channels,
            "append": self.append,
            "cpu": {"ours": self.cpu().0, "rsrv": self.cpu().1},
            "ratios": ratios,
            "runs": self.pairs.iter().map(|(ours, rsrv)| json!({"ours": side(ours), "rsrv": side(rsrv)})).collect::<Vec<_>>(),
        })
    }
}

/// The rows in which catime results have been published since 2005: put and get are those of DBR_FLOAT.
fn published(comparisons: &[Comparison]) -> String {
    let mut rows = Vec::new();
    for comparison in comparisons {
        for (server, pick) in [("ours", true), ("rsrv", false)] {
            let mut row = vec![format!("{}: {server}", comparison.title())];
            for name in ["search", "pend", "FLOAT async put", "FLOAT async get", "FLOAT sync get"] {
                let values: Vec<_> =
                    comparison.row(name).iter().map(|pair| if pick { pair.0 } else { pair.1 }).collect();
                row.push(figure(median(&values)));
            }
            rows.push(row);
        }
    }
    let head = ["us per operation, medians", "search", "pend", "async put", "async get", "sync get"];
    report::table(&head, &rows)
}

fn main() -> ExitCode {
    report::close(measure())
}

fn measure() -> Result<Limits, String> {
    let options = Options::parse();
    let (clients, circumstances) = servers::begin("catime, servers in turn")?;
    let mut comparisons = Vec::new();
    for append in [false, true] {
        if options.only.as_deref().is_some_and(|only| (only == "append") != append) {
            continue;
        }
        for &channels in &options.channels {
            let comparison = compare(&clients, channels, append, options.pairs)?;
            print!("{}", comparison.text());
            comparisons.push(comparison);
        }
    }
    println!("\n{}", published(&comparisons));
    if let Some(file) = &options.json {
        let all: Vec<_> = comparisons.iter().map(Comparison::json).collect();
        report::write_json(file, &json!({"circumstances": circumstances, "comparisons": all}))?;
    }
    let mut limits = Limits::default();
    comparisons.iter().for_each(|comparison| comparison.check(&mut limits));
    Ok(limits)
}
