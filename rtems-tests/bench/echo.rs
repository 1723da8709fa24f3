// SPDX-License-Identifier: BSD-2-Clause
//! What an echo of 16 MB costs tcpecho, beside a plain C echo server with a buffer of 10 000 bytes: processor time by byte.
//!
//! `cargo bench --bench echo -- [--rounds N] [--megabytes N]`; both servers in turn, time as the scheduler counts it.

#[path = "../hosted/support/mod.rs"]
mod support;

mod report;
mod servers;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use report::{Limits, figure, median, quantile, ratio, table};
use support::deadline::{LONG_PATIENCE, PATIENCE, retry};
use support::ports::free_port;
use support::process::{self, Process};
use support::procfs::cpu_nanoseconds;

/// Compares the two echo servers.
#[derive(Parser)]
struct Options {
    /// Echoes of each server.
    #[arg(long, default_value_t = 40)]
    rounds: usize,
    /// Megabytes of each echo.
    #[arg(long, default_value_t = 16)]
    megabytes: usize,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// tcpecho's time in parts of the plain server's.
const LIMIT: f64 = 1.0;

/// The plain server, compiled by the C compiler of this machine.
fn plain() -> Result<(Process, u16), String> {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("rtems-tests/target/plain_echo.c");
    let binary =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("plain-echo-{}", std::process::id()));
    let status = Command::new("cc").arg("-O2").arg("-o").arg(&binary).arg(&source).status();
    if !status.as_ref().is_ok_and(|status| status.success()) {
        return Err(format!("cc {}: {status:?}", source.display()));
    }
    let port = free_port();
    let mut command = process::command(&binary);
    command.arg(port.to_string());
    let process = Process::start(command)?;
    retry(PATIENCE, || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok())
        .ok_or("the plain server does not listen")?;
    let _ = std::fs::remove_file(binary);
    Ok((process, port))
}

/// Sends `data` and demands it back; nanoseconds of the server's processor time.
fn echo(pid: u32, port: u16, data: &[u8]) -> Result<f64, String> {
    let text = |error: std::io::Error| error.to_string();
    let before = cpu_nanoseconds(pid)?;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(text)?;
    stream.set_read_timeout(Some(LONG_PATIENCE)).map_err(text)?;
    let mut writer = stream.try_clone().map_err(text)?;
    let mut back = Vec::with_capacity(data.len());
    std::thread::scope(|scope| {
        let sender =
            scope.spawn(move || writer.write_all(data).and_then(|()| writer.shutdown(Shutdown::Write)));
        stream.read_to_end(&mut back).map_err(text)?;
        sender.join().map_err(|_| "the sender panicked")?.map_err(text)
    })?;
    if back != data {
        return Err(format!("{} of {} bytes came back, or other ones", back.len(), data.len()));
    }
    Ok((cpu_nanoseconds(pid)? - before) as f64)
}

fn main() -> ExitCode {
    report::close(measure())
}

fn measure() -> Result<Limits, String> {
    let options = Options::parse();
    println!("{}; echoes of {} MB, servers in turn", report::circumstances(), options.megabytes);
    let bytes = options.megabytes << 20;
    let data: Vec<u8> = (0..bytes as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let ours = servers::ours()?;
    let (plain, plain_port) = plain()?;
    let per_byte = |ns: f64| ns / bytes as f64;
    let mut pairs = Vec::new();
    for number in 0..=options.rounds {
        let tcpecho = || echo(ours.process.id(), ours.site.echo_port, &data).map(per_byte);
        let other = || echo(plain.id(), plain_port, &data).map(per_byte);
        let pair = if number % 2 == 0 {
            let first = tcpecho()?;
            (first, other()?)
        } else {
            let first = other()?;
            (tcpecho()?, first)
        };
        // The first pair warms both up.
        if number > 0 {
            pairs.push(pair);
        }
    }
    let (first, second): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let row = |name: &str, values: &[f64]| {
        let range = format!("{}-{}", figure(quantile(values, 0.0)), figure(quantile(values, 1.0)));
        vec![name.to_owned(), figure(median(values)), range]
    };
    let rows = [row("tcpecho", &first), row("plain C, 10 000 bytes", &second)];
    print!("\n{}", table(&["ns of processor per byte", "median", "least-most"], &rows));
    let ratio = ratio(&pairs);
    println!("\nratio {:.3}, 90 % of it within {:.3} and {:.3}", ratio.value, ratio.lower, ratio.upper);
    let mut limits = Limits::default();
    limits.at_most("processor time by byte, ratio to plain C", ratio.value, LIMIT);
    Ok(limits)
}
