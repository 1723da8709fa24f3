// SPDX-License-Identifier: BSD-2-Clause
//! Statistics and output that the benches share: medians, spreads, bootstrap bounds, tables, JSON.
#![allow(dead_code)] // Each bench uses its own part.

use std::path::Path;
use std::process::ExitCode;

/// How often the pairs are drawn anew for a bound.
const RESAMPLES: usize = 10_000;

/// The middle value; of an even number the mean of the middle two. NaN of nothing.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which `part` of the values lie, interpolated. NaN of nothing.
pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// Half the distance between the quartiles: how far a typical run is from the median.
pub fn spread(values: &[f64]) -> f64 {
    (quantile(values, 0.75) - quantile(values, 0.25)) / 2.0
}

/// The ratio of two medians with its bootstrap bounds.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Ratio {
    /// Median of the first over median of the second.
    pub value: f64,
    /// 95 % of the ratios of resampled pairs are at least this.
    pub lower: f64,
    /// 95 % of the ratios of resampled pairs are at most this.
    pub upper: f64,
}

/// Ratio of medians over `pairs`, bounded by drawing pairs with replacement. The same pairs give the same bounds.
pub fn ratio(pairs: &[(f64, f64)]) -> Ratio {
    let of = |pairs: &[(f64, f64)]| {
        let (first, second): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        median(&first) / median(&second)
    };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let ratios: Vec<_> = (0..RESAMPLES)
        .map(|_| {
            let drawn: Vec<_> =
                pairs.iter().map(|_| pairs[(random() % pairs.len() as u64) as usize]).collect();
            of(&drawn)
        })
        .collect();
    Ratio { value: of(pairs), lower: quantile(&ratios, 0.05), upper: quantile(&ratios, 0.95) }
}

/// A table in Markdown, columns aligned so that it reads as plain text too; the first column is left-aligned.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(String::len);
        cells.chain([head[column].len()]).max().unwrap_or(3)
    };
    let widths: Vec<_> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!(" {cell:<width$} ") } else { format!(" {cell:>width$} ") }
        });
        format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
    };
    let mut text = line(head.to_vec());
    let rule = widths.iter().enumerate().map(|(column, &width)| {
        let dashes = "-".repeat(width + 1);
        if column == 0 { format!(":{dashes}") } else { format!("{dashes}:") }
    });
    text.push_str(&format!("|{}|\n", rule.collect::<Vec<_>>().join("|")));
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}

/// Four significant digits, as far as decimals go.
pub fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Writes `value` as JSON to `file`, or to standard output if it is `-`.
///
/// # Errors
/// If the file cannot be written.
pub fn write_json(file: &Path, value: &serde_json::Value) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    if file == Path::new("-") {
        println!("{text}");
        return Ok(());
    }
    std::fs::write(file, text + "\n").map_err(|error| format!("{}: {error}", file.display()))
}

/// Where and with what the figures were taken.
pub fn circumstances() -> String {
    let first = |path: &str, label: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_default();
        line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "rtems-ioc {}, {} x {}, Linux {}, load {} at the start",
        env!("CARGO_PKG_VERSION"),
        cores,
        first("/proc/cpuinfo", "model name"),
        release.trim(),
        load.split_whitespace().next().unwrap_or_default()
    )
}

/// What the package promises, held against what was measured.
#[derive(Default)]
pub struct Limits {
    lines: Vec<String>,
    passed: usize,
}

impl Limits {
    /// A figure that is to be at most so large.
    pub fn at_most(&mut self, what: &str, value: f64, limit: f64) {
        let holds = value <= limit;
        self.passed += usize::from(!holds);
        let verdict = if holds { "" } else { ", DOES NOT HOLD" };
        self.lines.push(format!("  {what}: {} of at most {}{verdict}\n", figure(value), figure(limit)));
    }
}

/// The end of a bench: the limits and whether they hold, in one closing line; the exit code is 1 if they do not, or if
/// nothing could be measured.
pub fn close(result: Result<Limits, String>) -> ExitCode {
    match result {
        Ok(Limits { lines, passed }) => {
            print!("\nLimits of the package:\n{}", lines.concat());
            match passed {
                0 => {
                    println!("limits: all {} hold", lines.len());
                    ExitCode::SUCCESS
                }
                _ => {
                    println!("limits: {passed} of {} DO NOT HOLD", lines.len());
                    ExitCode::FAILURE
                }
            }
        }
        Err(text) => {
            eprintln!("not measured: {text}");
            ExitCode::FAILURE
        }
    }
}
