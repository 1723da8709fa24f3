// SPDX-License-Identifier: BSD-2-Clause
//! catime, EPICS's own benchmark client: runs it and reads its report.

use std::collections::BTreeMap;

use super::client_tools;
use super::deadline::LONG_PATIENCE;
use super::python::Clients;
use super::server::Server;

/// What one run reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Microseconds per operation by row: `search`, `pend`, `FLOAT async put`, `FLOAT async get`, `FLOAT sync get`, the
    /// same for DOUBLE, STRING and INT, `latency`, `free`.
    pub rows: BTreeMap<String, f64>,
    /// Search tries per channel, mean and maximum.
    pub tries: (f64, f64),
    /// Native type and count of the channel.
    pub channel: String,
}

/// The rows that every complete report has.
pub fn row_names() -> Vec<String> {
    let mut names = vec!["search".to_owned(), "pend".to_owned()];
    for kind in ["FLOAT", "DOUBLE", "STRING", "INT"] {
        for operation in ["async put", "async get", "sync get"] {
            names.push(format!("{kind} {operation}"));
        }
    }
    names.extend(["latency".to_owned(), "free".to_owned()]);
    names
}

impl Report {
    /// Reads what catime printed.
    ///
    /// # Errors
    /// If a row is missing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut report = Self::default();
        let mut group = String::new();
        let mut operation = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(kind) = line.strip_prefix("DBR_").and_then(|rest| rest.strip_suffix(" Test")) {
                group = format!("{kind} ");
            } else if let Some(test) = line.strip_suffix(" test ###") {
                operation = test.trim_start_matches("### ").replace("synch", "sync");
            } else if line.ends_with(" Test") {
                group.clear();
                operation = match line {
                    "Channel Connect Test" => "search",
                    "Pend Event Test" => "pend",
                    "Get Latency Test" => "latency",
                    _ => "free",
                }
                .to_owned();
            } else if let Some(rest) = line.strip_prefix("Per Op,") {
                report.rows.insert(format!("{group}{operation}"), number(rest)?);
            } else if let Some(rest) = line.strip_prefix("Get Latency - mean =") {
                report.rows.insert("latency".to_owned(), number(rest)?);
            } else if line.starts_with("Search tries per chan") {
                report.tries = (after(line, "mean =")?, after(line, "max =")?);
            } else if line.starts_with("channel name=") {
                report.channel = line.to_owned();
            }
        }
        for name in row_names() {
            if !report.rows.contains_key(&name) {
                return Err(format!("catime printed no row {name}:\n{text}"));
            }
        }
        Ok(report)
    }
}

fn number(text: &str) -> Result<f64, String> {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.parse().map_err(|_| format!("catime printed {text:?} for a number"))
}

fn after(line: &str, label: &str) -> Result<f64, String> {
    let (_, rest) = line.split_once(label).ok_or_else(|| format!("no {label:?} in {line:?}"))?;
    number(rest)
}

/// Runs `catime name channels [append]` to its end.
///
/// # Errors
/// If it hangs, reports an exception or is incomplete.
pub fn run(
    clients: &Clients,
    server: &Server,
    name: &str,
    channels: u32,
    append: bool,
) -> Result<Report, String> {
    let mut command = clients.tool("catime");
    command.args([name, &channels.to_string()]);
    if append {
        command.arg("1");
    }
    let finished = client_tools::run(server, command, LONG_PATIENCE)?;
    if finished.text.contains("CA.Client.Exception") || !finished.status.success() {
        return Err(format!("catime: {}:\n{}", finished.status, finished.text));
    }
    Report::parse(&finished.text)
}
