// SPDX-License-Identifier: BSD-2-Clause
//! How long a get of one client takes while catime floods the server from another: ours and rsrv in one run.
//!
//! `cargo bench --bench fairness -- [--floods N] [--json FILE]`

#[path = "../hosted/support/mod.rs"]
mod support;

mod report;
mod servers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Parser;
use report::{Limits, figure, quantile};
use serde_json::json;
use servers::NAME;
use support::catime;
use support::circuit::Circuit;
use support::python::Clients;
use support::server::Server;

/// Measures one client's gets beside another's flood.
#[derive(Parser)]
struct Options {
    /// Runs of catime with 10000 channels against each server.
    #[arg(long, default_value_t = 5)]
    floods: usize,
    /// Also write the figures as JSON (`-`: to standard output).
    #[arg(long)]
    json: Option<PathBuf>,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// 99 of 100 gets are to take no longer, in milliseconds.
const LIMIT_MS: f64 = 5.0;

const DOUBLE: u16 = 6;

/// Milliseconds per get while catime runs `floods` times.
fn gets_during_floods(clients: &Clients, server: &Server, floods: usize) -> Result<Vec<f64>, String> {
    let mut circuit = Circuit::connect(server.tcp_port(NAME)?)?;
    let channel = circuit.create(NAME)?;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over = &over;
        let flood = scope.spawn(move || {
            let result: Result<Vec<_>, _> =
                (0..floods).map(|_| catime::run(clients, server, NAME, 10_000, false)).collect();
            over.store(true, Ordering::Relaxed);
            result
        });
        let mut times = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let start = Instant::now();
            circuit.get(channel, DOUBLE, 1)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        flood.join().map_err(|_| "catime's thread panicked")??;
        Ok(times)
    })
}

fn main() -> ExitCode {
    report::close(run())
}

fn run() -> Result<Limits, String> {
    let options = Options::parse();
    let (clients, circumstances) = servers::begin(&format!(
        "one client gets one value at a time while catime runs {} times with 10000 channels\n",
        options.floods
    ))?;
    let mut rows = Vec::new();
    let mut all = serde_json::Map::new();
    let mut limits = Limits::default();
    for (name, server) in [("ours", servers::ours()?), ("rsrv", servers::rsrv(&clients, false)?)] {
        let times = gets_during_floods(&clients, &server, options.floods)?;
        if name == "ours" {
            limits.at_most("ms per get, p99, ours", quantile(&times, 0.99), LIMIT_MS);
        }
        let points = [0.5, 0.99, 0.999, 1.0].map(|part| quantile(&times, part));
        let mut row = vec![name.to_owned(), times.len().to_string()];
        row.extend(points.iter().map(|&point| figure(point)));
        rows.push(row);
        all.insert(name.to_owned(), json!({"gets": times.len(), "p50": points[0], "p99": points[1], "p999": points[2], "max": points[3]}));
    }
    print!("{}", report::table(&["ms per get", "gets", "median", "p99", "p99.9", "longest"], &rows));
    if let Some(file) = &options.json {
        report::write_json(file, &json!({"circumstances": circumstances, "servers": all}))?;
    }
    Ok(limits)
}
