// SPDX-License-Identifier: BSD-2-Clause
//! What a run has to say: the original's lines, a table, JSON.

use super::Spread;
use super::payloads::DataType;
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// What was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Search and connect.
    Connect,
    /// A turn of the client with nothing to do.
    Pend,
    /// Write without reply.
    Put,
    /// Read, many requests under way.
    Get,
    /// Read, one after the other.
    SyncGet,
    /// Clear the channels.
    Free,
}

impl Operation {
    const fn name(self) -> &'static str {
        match self {
            Operation::Connect => "channel connect",
            Operation::Pend => "pend event",
            Operation::Put => "async put",
            Operation::Get => "async get",
            Operation::SyncGet => "synch get",
            Operation::Free => "free channel",
        }
    }
}

/// One timed test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What was timed.
    pub operation: Operation,
    /// With which data, if with any.
    pub data_type: Option<DataType>,
    /// Operations done.
    pub operations: u64,
    /// Time for all of them, nanoseconds.
    pub ns: u64,
    /// Payload and header bytes sent for all of them, as the original reckons them.
    pub sent: u64,
    /// Payload and header bytes received for all of them, likewise.
    pub received: u64,
}

impl Row {
    /// Microseconds for each operation.
    pub fn microseconds(&self) -> f64 {
        self.ns as f64 / 1e3 / self.operations.max(1) as f64
    }

    /// Operations each second.
    pub fn per_second(&self) -> f64 {
        self.operations as f64 * 1e9 / self.ns.max(1) as f64
    }

    /// Megabits each second of so many bytes.
    fn megabits(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 * 1e3 / self.ns.max(1) as f64
    }
}

/// What a channel turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// Native type number of the first channel.
    pub native: u16,
    /// Native element count of the first channel.
    pub count: u32,
}

/// How a run went, for the caller's exit status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Replies and messages that told of an error.
    pub errors: u64,
}

/// Something to be reported.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The run begins: channels, name, whether numbers are appended.
    Begin(u32, &'a str, bool),
    /// A group of tests begins.
    Connecting,
    /// All channels are connected: search requests for each.
    Connected(&'a Spread),
    /// The first channel's name and what it is.
    Channel(&'a [u8], Values),
    /// The test that costs no traffic begins.
    Pending,
    /// The tests with this type begin.
    Typed(DataType),
    /// One of them begins.
    Test(Operation),
    /// A timed test has ended.
    Row(Row),
    /// The latency test begins.
    Latencies,
    /// It has ended: seconds.
    Latency(&'a Spread),
    /// The last test begins.
    Freeing,
    /// The server answered with errors: how many of what status since the last such event.
    Errors(u64, u32),
}

/// The original's lines, as the run goes on.
pub struct TextReport<'a>(pub &'a mut dyn Write);

impl TextReport<'_> {
    /// Prints one event.
    pub fn event(&mut self, event: &Event<'_>) -> fmt::Result {
        let out = &mut *self.0;
        match *event {
            Event::Begin(channels, name, append) => {
                writeln!(
                    out,
                    "Testing with {channels} channels named {name}{}",
                    if append { "nnn" } else { "" }
                )
            }
            Event::Connecting => heading(out, "Channel Connect Test", 20),
            Event::Connected(tries) => writeln!(
                out,
                "Search tries per chan - mean = {:3.1} std dev = {:3.1} min = {:3.1} max = {:3.1}",
                tries.mean(),
                tries.deviation(),
                tries.min,
                tries.max
            ),
            Event::Channel(name, Values { native, count }) => {
                let name = core::str::from_utf8(name).unwrap_or("?");
                writeln!(out, "channel name={name}, native type={native}, native count={count}")
            }
            Event::Pending => heading(out, "Pend Event Test", 16),
            Event::Typed(data_type) => {
                writeln!(out, "{} Test", data_type.name())?;
                rule(out, data_type.name().len() + " Test".len())
            }
            Event::Test(operation) => writeln!(out, "\t### {} test ###", operation.name()),
            Event::Row(row) => line(out, &row),
            Event::Latencies => heading(out, "Get Latency Test", 16),
            Event::Latency(seconds) => writeln!(
                out,
                "Get Latency - mean = {:3.1} uS, std dev = {:3.1} uS, min = {:3.1} uS max = {:3.1} uS",
                seconds.mean() * 1e6,
                seconds.deviation() * 1e6,
                seconds.min * 1e6,
                seconds.max * 1e6
            ),
            Event::Freeing => heading(out, "Free Channel Test", 17),
            Event::Errors(count, status) => {
                writeln!(out, "the server reported {count} errors, the last was {status:#05x}")
            }
        }
    }
}

fn heading(out: &mut dyn Write, text: &str, dashes: usize) -> fmt::Result {
    writeln!(out, "{text}")?;
    rule(out, dashes)
}

fn rule(out: &mut dyn Write, dashes: usize) -> fmt::Result {
    writeln!(out, "{:-<dashes$}", "")
}

fn line(out: &mut dyn Write, row: &Row) -> fmt::Result {
    write!(out, "Per Op, {:8.4} uS ( {:8.4} MHz )", row.microseconds(), row.per_second() / 1e6)?;
    if row.operation == Operation::Pend {
        return writeln!(out);
    }
    writeln!(out, ", {:8.4} snd Mbps, {:8.4} rcv Mbps", row.megabits(row.sent), row.megabits(row.received))
}

/// Keeps the rows and prints them in the layout of the published comparisons: items and megabits each second.
#[derive(Debug, Default)]
pub struct TableReport {
    channels: u32,
    rows: Vec<Row>,
    latency: Option<Spread>,
    tries: Option<Spread>,
    errors: u64,
}

impl TableReport {
    /// Keeps what the table needs. False if there is no memory for it.
    pub fn event(&mut self, event: &Event<'_>) -> bool {
        match *event {
            Event::Begin(channels, ..) => self.channels = channels,
            Event::Row(row) => {
                if self.rows.try_reserve(1).is_err() {
                    return false;
                }
                self.rows.push(row);
            }
            Event::Connected(tries) => self.tries = Some(*tries),
            Event::Latency(seconds) => self.latency = Some(*seconds),
            Event::Errors(count, _) => self.errors += count,
            _ => {}
        }
        true
    }

    /// Prints the table. Mbps counts both directions, as it did when the figures of 2005 were published.
    pub fn table(&self, out: &mut dyn Write) -> fmt::Result {
        writeln!(out, "{:<24} {:>12} {:>12} {:>12}", "", "It/s", "Mbps", "us per item")?;
        writeln!(out, "{:-<63}", "")?;
        for row in &self.rows {
            let test = Label(row);
            write!(out, "{test:<24} {:12.0}", row.per_second())?;
            match row.sent + row.received {
                0 => write!(out, " {:>12}", "-")?,
                bytes => write!(out, " {:12.3}", row.megabits(bytes))?,
            }
            writeln!(out, " {:12.3}", row.microseconds())?;
        }
        if let Some(latency) = &self.latency {
            writeln!(
                out,
                "{:<24} {:12.0} {:>12} {:12.3}",
                "get latency",
                1.0 / latency.mean().max(1e-9),
                "-",
                latency.mean() * 1e6
            )?;
        }
        writeln!(
            out,
            "{} channels, {:.1} search requests each",
            self.channels,
            self.tries.unwrap_or_default().mean()
        )
    }
}

/// How a row is called in the table.
struct Label<'a>(&'a Row);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { operation, data_type, .. } = *self.0;
        let kind = data_type.map_or("", DataType::name);
        let name = operation.name();
        write!(f, "{name} {kind}")?;
        let width = f.width().unwrap_or(0).saturating_sub(name.len() + 1 + kind.len());
        write!(f, "{:width$}", "")
    }
}

/// Prints the rows as one JSON object.
pub struct JsonReport<'a>(pub &'a TableReport);

impl fmt::Display for JsonReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TableReport { channels, rows, latency, tries, errors } = self.0;
        write!(f, "{{\"channels\":{channels},\"errors\":{errors}")?;
        if let Some(tries) = tries {
            write!(f, ",\"search_tries\":")?;
            spread(f, tries, 1.0)?;
        }
        if let Some(latency) = latency {
            write!(f, ",\"get_latency_us\":")?;
            spread(f, latency, 1e6)?;
        }
        write!(f, ",\"rows\":[")?;
        for (index, row) in rows.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let kind = row.data_type.map_or("", DataType::name);
            write!(
                f,
                "{comma}{{\"test\":\"{}\",\"type\":\"{kind}\",\"operations\":{},\"us_per_op\":{:.6},\"snd_mbps\":{:.4},\"rcv_mbps\":{:.4}}}",
                row.operation.name(),
                row.operations,
                row.microseconds(),
                row.megabits(row.sent),
                row.megabits(row.received)
            )?;
        }
        write!(f, "]}}")
    }
}

fn spread(f: &mut fmt::Formatter<'_>, spread: &Spread, unit: f64) -> fmt::Result {
    write!(
        f,
        "{{\"mean\":{:.3},\"deviation\":{:.3},\"min\":{:.3},\"max\":{:.3}}}",
        spread.mean() * unit,
        spread.deviation() * unit,
        spread.min * unit,
        spread.max * unit
    )
}
