// SPDX-License-Identifier: BSD-2-Clause
//! The tables and the verdict as text.

use super::measurements::{Flow, Measurements, Series};
use super::verdict::Verdict;
use std::fmt;

/// Everything as text.
pub struct Text<'a>(pub &'a Measurements, pub &'a Verdict);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Text(m, verdict) = self;
        writeln!(
            f,
            "{:<16} {:>10} {:>9} {:>9} {:>9} {:>9}",
            m.host, "MB", "s", "Mbit/s", "lost to", "lost from"
        )?;
        for (name, flow) in [("to (discard)", &m.out), ("from (source)", &m.r#in), ("both (echo)", &m.both)] {
            line(f, name, flow)?;
        }
        if !m.round_trips.is_empty() {
            writeln!(f, "\nround trip, ms        TCP_NODELAY                     Nagle on our side")?;
            writeln!(
                f,
                "{:>8}  {:>9} {:>9} {:>9}   {:>9} {:>9} {:>9}",
                "bytes", "p50", "p90", "max", "p50", "p90", "max"
            )?;
        }
        for trips in &m.round_trips {
            write!(f, "{:8}  ", trips.bytes)?;
            series(f, &trips.no_delay)?;
            write!(f, "   ")?;
            series(f, &trips.nagle)?;
            writeln!(f)?;
        }
        if m.acknowledge.count > 0 {
            writeln!(f, "\na lone write is acknowledged after {:.3} ms (median)", m.acknowledge.p50)?;
        }
        if m.failures > 0 {
            writeln!(f, "{} messages came back wrong", m.failures)?;
        }
        if !m.media.is_empty() {
            writeln!(f, "media on our side: {}", m.media)?;
        }
        writeln!(f, "\nverdict: {}", verdict.summary)?;
        for line in &verdict.evidence {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, flow: &Flow) -> fmt::Result {
    write!(
        f,
        "{name:<16} {:10.3} {:9.3} {:9.2} {:7.3} % {:7.3} %",
        flow.bytes as f64 / 1e6,
        flow.seconds,
        flow.megabits(),
        100.0 * flow.loss_out(),
        100.0 * flow.loss_in()
    )?;
    if flow.complete { writeln!(f) } else { writeln!(f, "  (time was over)") }
}

fn series(f: &mut fmt::Formatter<'_>, series: &Series) -> fmt::Result {
    write!(f, "{:9.3} {:9.3} {:9.3}", series.p50, series.p90, series.max)
}
