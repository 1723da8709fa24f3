// SPDX-License-Identifier: BSD-2-Clause
//! Memory per channel, per monitor and per circuit: our server and EPICS's own (rsrv, in softIoc) in one run.
//!
//! `cargo bench --bench memory -- [--channels N] [--circuits N] [--json FILE]`

#[path = "../hosted/support/mod.rs"]
mod support;

mod report;
mod servers;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use report::Limits;
use serde_json::json;
use servers::NAME;
use support::circuit::Circuit;
use support::message::command;
use support::procfs::resident_bytes;
use support::server::Server;

/// Compares what the two servers spend per channel, monitor and circuit.
#[derive(Parser)]
struct Options {
    /// Channels on one circuit, then as many monitors.
    #[arg(long, default_value_t = 10_000)]
    channels: u32,
    /// Further circuits, with one channel each.
    #[arg(long, default_value_t = 100)]
    circuits: u32,
    /// Also write the figures as JSON (`-`: to standard output).
    #[arg(long)]
    json: Option<PathBuf>,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The most bytes of our pool that each may take.
const CHANNEL_LIMIT: f64 = 150.0;
const MONITOR_LIMIT: f64 = 200.0;
const CIRCUIT_LIMIT: f64 = 48.0 * 1024.0;

const DOUBLE: u16 = 6;
const VALUE: u16 = 1;

/// Bytes in use at one moment.
#[derive(Clone, Copy)]
struct Use {
    /// As the kernel counts pages.
    resident: f64,
    /// As our pool counts bytes; rsrv has no such account.
    pool: Option<f64>,
}

/// Bytes per thing.
struct Cost {
    server: &'static str,
    idle: f64,
    channel: Use,
    monitor: Use,
    circuit: Use,
}

/// Takes readings of one server over a circuit that is there from the start.
struct Meter<'a> {
    server: &'a Server,
    circuit: Circuit,
    used: Option<support::circuit::Channel>,
}

impl<'a> Meter<'a> {
    fn new(server: &'a Server, pool: bool) -> Result<Self, String> {
        let mut circuit = Circuit::connect(server.tcp_port(NAME)?)?;
        let used = if pool { Some(circuit.create("ioc:MEM_USED")?) } else { None };
        let mut meter = Self { server, circuit, used };
        meter.read()?; // What the first reading itself costs is not to be counted.
        Ok(meter)
    }

    fn read(&mut self) -> Result<Use, String> {
        let pool = match self.used {
            Some(channel) => {
                let answer = self.circuit.get(channel, DOUBLE, 1)?;
                let bytes = answer.payload.first_chunk().ok_or("no value")?;
                Some(f64::from_be_bytes(*bytes))
            }
            None => None,
        };
        Ok(Use { resident: resident_bytes(self.server.process.id())? as f64, pool })
    }
}

impl Use {
    /// What each of `count` things cost since `before`.
    fn each(self, before: Self, count: u32) -> Self {
        let each = |now: f64, then: f64| (now - then) / f64::from(count);
        Self {
            resident: each(self.resident, before.resident),
            pool: self.pool.zip(before.pool).map(|(now, then)| each(now, then)),
        }
    }
}

fn measure(server: &Server, name: &'static str, options: &Options) -> Result<Cost, String> {
    let idle = resident_bytes(server.process.id())? as f64;
    let mut meter = Meter::new(server, name == "ours")?;
    let port = server.tcp_port(NAME)?;
    let mut circuit = Circuit::connect(port)?;
    circuit.create(NAME)?;
    let start = meter.read()?;
    let mut channels = Vec::new();
    for cid in 0..options.channels {
        circuit.send_create(NAME, 1_000_000 + cid)?;
        // A bounded number in flight: neither side may wait for the other with full buffers.
        if cid % 100 == 99 || cid + 1 == options.channels {
            for answered in channels.len() as u32..=cid {
                channels.push(circuit.created(1_000_000 + answered)?);
            }
        }
    }
    let with_channels = meter.read()?;
    for batch in channels.chunks(100) {
        for &channel in batch {
            circuit.subscribe(channel, DOUBLE, 1, VALUE)?;
        }
        for _ in batch {
            circuit.next_that(|message| message.header.command == command::EVENT_ADD)?;
        }
    }
    let with_monitors = meter.read()?;
    let mut others = Vec::new();
    for _ in 0..options.circuits {
        let mut other = Circuit::connect(port)?;
        let channel = other.create(NAME)?;
        other.get(channel, DOUBLE, 1)?;
        others.push(other);
    }
    let with_circuits = meter.read()?;
    Ok(Cost {
        server: name,
        idle,
        channel: with_channels.each(start, options.channels),
        monitor: with_monitors.each(with_channels, options.channels),
        circuit: with_circuits.each(with_monitors, options.circuits),
    })
}

fn main() -> ExitCode {
    report::close(run())
}

fn run() -> Result<Limits, String> {
    let options = Options::parse();
    let (clients, circumstances) = servers::begin(&format!(
        "{} channels of one record on one circuit, a monitor on each, {} more circuits\n",
        options.channels, options.circuits
    ))?;
    let costs = [
        measure(&servers::ours()?, "ours", &options)?,
        measure(&servers::rsrv_unlocked(&clients)?, "rsrv", &options)?,
    ];
    let pool = |cost: Use| cost.pool.map_or("-".to_owned(), |bytes| format!("{bytes:.0}"));
    let rows: Vec<_> = costs
        .iter()
        .map(|cost| {
            let mut row = vec![cost.server.to_owned(), format!("{:.0}", cost.idle / 1024.0)];
            for each in [cost.channel, cost.monitor, cost.circuit] {
                row.push(format!("{:.0}", each.resident));
                row.push(pool(each));
            }
            row
        })
        .collect();
    let head = ["bytes", "idle, KiB", "channel: RSS", "pool", "monitor: RSS", "pool", "circuit: RSS", "pool"];
    print!("{}", report::table(&head, &rows));
    if let Some(file) = &options.json {
        let each = |cost: Use| json!({"resident": cost.resident, "pool": cost.pool});
        let all: Vec<_> = costs
            .iter()
            .map(|cost| {
                json!({"server": cost.server, "idle": cost.idle, "channel": each(cost.channel),
                    "monitor": each(cost.monitor), "circuit": each(cost.circuit)})
            })
            .collect();
        report::write_json(file, &json!({"circumstances": circumstances, "costs": all}))?;
    }
    let mut limits = Limits::default();
    for (what, cost, limit) in [
        ("bytes per channel, ours", costs[0].channel, CHANNEL_LIMIT),
        ("bytes per monitor, ours", costs[0].monitor, MONITOR_LIMIT),
        ("bytes per circuit, ours", costs[0].circuit, CIRCUIT_LIMIT),
    ] {
        limits.at_most(what, cost.pool.unwrap_or(f64::NAN), limit);
    }
    Ok(limits)
}
