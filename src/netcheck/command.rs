// SPDX-License-Identifier: BSD-2-Clause
//! The command line: measures in order, shows progress, prints the result.

use super::flow::{self, Amount};
use super::measurements::Measurements;
use super::report::Text;
use super::verdict::{Verdict, judge};
use super::{acks, chart, round_trips};
use crate::tcpecho::DEFAULT_PORT;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Measures the network to a host that runs tcpecho, and says what is wrong with it.
#[derive(Clone, Debug, clap::Args)]
pub struct Command {
    /// Host name or address of the board
    host: String,
    /// Port of its echo service; discard and source take the next two
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Megabytes for each throughput measurement
    #[arg(long, default_value_t = 16.0, value_parser = positive)]
    megabytes: f64,
    /// Seconds after which a throughput measurement is cut short
    #[arg(long, default_value_t = 30.0, value_parser = positive)]
    limit: f64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write round-trips.svg and throughput.svg into this directory
    #[arg(long, value_name = "DIRECTORY")]
    svg: Option<PathBuf>,
    /// No progress on the terminal
    #[arg(long)]
    quiet: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e6 => Ok(value),
        _ => Err("give a number above 0 and up to 1000000".into()),
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    measurements: &'a Measurements,
}

impl Command {
    /// Runs it; the exit status: 0 healthy, 2 a fault was found, 1 nothing could be measured.
    pub fn run(&self) -> i32 {
        match self.check() {
            Ok(true) => 0,
            Ok(false) => 2,
            Err(text) => {
                eprintln!("netcheck: {text}");
                1
            }
        }
    }

    fn check(&self) -> Result<bool, String> {
        let measurements = self.measure()?;
        let verdict = judge(&measurements);
        if self.json {
            let json = Json { verdict: &verdict, measurements: &measurements };
            let text = serde_json::to_string_pretty(&json).map_err(|error| error.to_string())?;
            print(&format!("{text}\n"))?;
        } else {
            print(&Text(&measurements, &verdict).to_string())?;
        }
        if let Some(directory) = &self.svg {
            for (name, picture) in [
                ("round-trips.svg", chart::round_trips(&measurements)),
                ("throughput.svg", chart::throughput(&measurements)),
            ] {
                let picture = picture.map_err(|error| error.to_string())?;
                let path = directory.join(name);
                std::fs::write(&path, picture).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Ok(verdict.fault == super::Fault::Healthy)
    }

    /// Asks all questions in order.
    fn measure(&self) -> Result<Measurements, String> {
        let services = [0, 1, 2].map(|offset| self.address(offset));
        let [echo, discard, source] = services;
        let (echo, discard, source) = (echo?, discard?, source?);
        let amount =
            Amount { bytes: (self.megabytes * 1e6) as u64, limit: Duration::from_secs_f64(self.limit) };
        let progress = Progress::new(self.quiet);
        let mut m = Measurements { host: self.host.clone(), ..Measurements::default() };
        let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");

        // Small messages first: a collapse under load leaves queues that would spoil them.
        let sizes = round_trips::sizes();
        (m.round_trips, m.failures) = round_trips::measure(echo, &sizes, &|bytes| {
            progress.show(|| format!("round trips of {bytes} bytes"))
        })
        .map_err(|error| failed("round trips (echo)", error))?;
        m.acknowledge =
            acks::measure(discard).map_err(|error| failed("acknowledgements (discard)", error))?;
        m.out = flow::out(discard, amount, &|bytes| progress.bytes("to the host", bytes, amount.bytes))
            .map_err(|error| failed("to the host (discard)", error))?;
        m.r#in = flow::r#in(source, amount, &|bytes| progress.bytes("from the host", bytes, amount.bytes))
            .map_err(|error| failed("from the host (source)", error))?;
        m.both = flow::both(echo, amount, &|bytes| progress.bytes("both ways", bytes, amount.bytes))
            .map_err(|error| failed("both ways (echo)", error))?;
        progress.clear();
        Ok(m)
    }

    fn address(&self, offset: u16) -> Result<SocketAddr, String> {
        let port = self.port.checked_add(offset).ok_or("the port is too high: three are needed")?;
        (self.host.as_str(), port)
            .to_socket_addrs()
            .map_err(|error| format!("{}: {error}", self.host))?
            .find(SocketAddr::is_ipv4)
            .ok_or_else(|| format!("{}: no IPv4 address", self.host))
    }
}

fn print(text: &str) -> Result<(), String> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())
}

/// One line on the terminal that is written over.
struct Progress {
    shown: bool,
    start: Instant,
    /// When to write again, milliseconds since the start.
    next: AtomicU64,
}

impl Progress {
    fn new(quiet: bool) -> Progress {
        let shown = !quiet && std::io::stderr().is_terminal();
        Progress { shown, start: Instant::now(), next: AtomicU64::new(0) }
    }

    fn bytes(&self, what: &str, bytes: u64, of: u64) {
        self.show(|| format!("{what}: {:.1} of {:.1} MB", bytes as f64 / 1e6, of as f64 / 1e6));
    }

    /// Writes at most four times a second.
    fn show(&self, text: impl FnOnce() -> String) {
        let now = self.start.elapsed().as_millis() as u64;
        if !self.shown || now < self.next.load(Ordering::Relaxed) {
            return;
        }
        self.next.store(now + 250, Ordering::Relaxed);
        eprint!("\r{:<60}", text());
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r{:<60}\r", "");
        }
    }
}
