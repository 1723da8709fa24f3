// SPDX-License-Identifier: BSD-2-Clause
//! Our catime and EPICS's own, run by run in turn, against our server and rsrv: do both clients report the same figures?
//!
//! `cargo bench --bench catime -- [--pairs N] [--channels N] [--json FILE]`

#[path = "../hosted/support/mod.rs"]
mod support;

mod report;
mod servers;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use report::{Limits, figure, median, quantile, table};
use serde_json::json;
use servers::NAME;
use support::catime::{self, Report};
use support::client_tools;
use support::deadline::LONG_PATIENCE;
use support::python::Clients;
use support::server::{Server, program};

/// Compares the two clients.
#[derive(Parser)]
struct Options {
    /// Runs of each client per server.
    #[arg(long, default_value_t = 10)]
    pairs: usize,
    /// Number of channels.
    #[arg(long, default_value_t = 1000)]
    channels: u32,
    /// Also write all runs as JSON (`-`: to standard output).
    #[arg(long)]
    json: Option<PathBuf>,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// All pairs of runs against one server, ours first.
struct Comparison {
    server: &'static str,
    pairs: Vec<(Report, Report)>,
}

fn ours(server: &Server, channels: u32) -> Result<Report, String> {
    let mut command = program();
    command.args(["catime", NAME, &channels.to_string(), "1"]);
    let finished = client_tools::run(server, command, LONG_PATIENCE)?;
    if !finished.status.success() {
        return Err(format!("our catime: {}:\n{}", finished.status, finished.text));
    }
    Report::parse(&finished.text)
}

fn compare(
    clients: &Clients,
    name: &'static str,
    server: &Server,
    options: &Options,
) -> Result<Comparison, String> {
    let mut pairs = Vec::new();
    // The first pair warms the server up and does not count. Who goes first changes each time.
    for number in 0..=options.pairs {
        let original = || catime::run(clients, server, NAME, options.channels, true);
        let pair = if number % 2 == 0 {
            let first = ours(server, options.channels)?;
            (first, original()?)
        } else {
            let first = original()?;
            (ours(server, options.channels)?, first)
        };
        if number > 0 {
            pairs.push(pair);
        }
    }
    Ok(Comparison { server: name, pairs })
}

/// One row of both clients: medians, and from where to where the runs of each lie.
struct Row {
    name: String,
    ours: Vec<f64>,
    original: Vec<f64>,
}

impl Row {
    /// Where our median lies: within the original's runs, below the least of them, or above the most.
    ///
    /// Below is no fault: libca takes its locks for each request and asks its timer thread at each reply, of which our client
    /// has nothing; with `pend` and `free`, which send nothing, that is all there is.
    fn place(&self) -> &'static str {
        let ours = median(&self.ours);
        if ours > quantile(&self.original, 1.0) {
            return "ABOVE";
        }
        if ours < quantile(&self.original, 0.0) { "below" } else { "within" }
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.name.clone()];
        for values in [&self.ours, &self.original] {
            cells.push(figure(median(values)));
            cells.push(format!("{}-{}", figure(quantile(values, 0.0)), figure(quantile(values, 1.0))));
        }
        cells.push(self.place().to_owned());
        cells
    }
}

impl Comparison {
    fn rows(&self) -> Vec<Row> {
        let row = |name: String| {
            let (ours, original) =
                self.pairs.iter().map(|(ours, original)| (ours.rows[&name], original.rows[&name])).unzip();
            Row { name, ours, original }
        };
        catime::row_names().into_iter().map(row).collect()
    }

    fn text(&self, channels: u32) -> String {
        let head = ["us per operation", "ours", "least-most", "EPICS's", "least-most", "ours lies"];
        let rows: Vec<_> = self.rows().iter().map(Row::cells).collect();
        format!(
            "\n{} channels against {}, {} pairs\n\n{}",
            channels,
            self.server,
            self.pairs.len(),
            table(&head, &rows)
        )
    }

    fn check(&self, limits: &mut Limits) {
        let slower: Vec<_> =
            self.rows().into_iter().filter(|row| row.place() == "ABOVE").map(|row| row.name).collect();
        let what = format!("against {}: rows above all runs of the original {slower:?}", self.server);
        limits.at_most(&what, slower.len() as f64, 0.0);
    }

    fn json(&self) -> serde_json::Value {
        let runs: Vec<_> = self
            .pairs
            .iter()
            .map(|(ours, original)| json!({"ours": ours.rows, "original": original.rows}))
            .collect();
        json!({"server": self.server, "runs": runs})
    }
}

fn main() -> ExitCode {
    report::close(measure())
}

fn measure() -> Result<Limits, String> {
    let options = Options::parse();
    let (clients, circumstances) = servers::begin("both clients in turn")?;
    let mut comparisons = Vec::new();
    let servers = [("our server", servers::ours()?), ("rsrv", servers::rsrv(&clients, true)?)];
    for (name, server) in &servers {
        let comparison = compare(&clients, name, server, &options)?;
        print!("{}", comparison.text(options.channels));
        comparisons.push(comparison);
    }
    if let Some(file) = &options.json {
        let all: Vec<_> = comparisons.iter().map(Comparison::json).collect();
        report::write_json(file, &json!({"circumstances": circumstances, "comparisons": all}))?;
    }
    let mut limits = Limits::default();
    comparisons.iter().for_each(|comparison| comparison.check(&mut limits));
    Ok(limits)
}
