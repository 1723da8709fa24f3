// SPDX-License-Identifier: BSD-2-Clause
//! The command line: measures in order, shows progress, prints the result.

use super::chart;
use super::flow::Amount;
use super::measure::{Progress, measure};
use super::measurements::Measurements;
use super::report::Text;
use super::verdict::{Verdict, judge};
use crate::os::hosted::console::{Output, complain};
use crate::tcpecho::DEFAULT_PORT;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Runs it; the exit status: 0 healthy, 1 a fault was found, 2 nothing could be measured.
    pub fn run(&self) -> i32 {
        match self.check() {
            Ok(true) => 0,
            Ok(false) => 1,
            Err(text) => {
                complain(format_args!("netcheck: {text}\n"));
                2
            }
        }
    }

    fn check(&self) -> Result<bool, String> {
        let amount =
            Amount { bytes: (self.megabytes * 1e6) as u64, limit: Duration::from_secs_f64(self.limit) };
        let progress = Progress::new(!self.quiet);
        let measurements = measure(&self.host, self.port, amount, &progress)?;
        progress.clear();
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
}

fn print(text: &str) -> Result<(), String> {
    Output.show(text).map_err(|error| format!("standard output: {error}"))
}
