// SPDX-License-Identifier: BSD-2-Clause
//! Asks all questions in order, and shows how far it is.

use super::flow::{self, Amount};
use super::measurements::Measurements;
use super::{acks, round_trips};
use crate::os::Media;
use crate::os::hosted::console::complain;
use crate::os::hosted::interfaces::media_at;
use std::io::IsTerminal;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Measures everything against the services of a host: echo on `port`, discard and source on the next two.
pub fn measure(host: &str, port: u16, amount: Amount, progress: &Progress) -> Result<Measurements, String> {
    let [echo, discard, source] = [0, 1, 2].map(|offset| address(host, port, offset));
    let (echo, discard, source) = (echo?, discard?, source?);
    let mut m = Measurements { host: host.into(), media: media(echo), ..Measurements::default() };
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");

    // Small messages first: a collapse under load leaves queues that would spoil them.
    (m.round_trips, m.failures) = round_trips::measure(echo, &round_trips::sizes(), &|bytes| {
        progress.show(|| format!("round trips of {bytes} bytes"));
    })
    .map_err(|error| failed("round trips (echo)", error))?;
    progress.show(|| "acknowledgements".into());
    m.acknowledge = acks::measure(discard).map_err(|error| failed("acknowledgements (discard)", error))?;
    m.out = flow::out(discard, amount, &|bytes| progress.bytes("to the host", bytes, amount.bytes))
        .map_err(|error| failed("to the host (discard)", error))?;
    m.r#in = flow::r#in(source, amount, &|bytes| progress.bytes("from the host", bytes, amount.bytes))
        .map_err(|error| failed("from the host (source)", error))?;
    m.both = flow::both(echo, amount, &|bytes| progress.bytes("both ways", bytes, amount.bytes))
        .map_err(|error| failed("both ways (echo)", error))?;
    Ok(m)
}

/// Our end of the cable: the interface from which a connection to this address goes out.
fn media(to: SocketAddr) -> String {
    // Connecting a UDP socket sends nothing; it chooses the way.
    let local = UdpSocket::bind(("0.0.0.0", 0)).and_then(|socket| {
        socket.connect(to)?;
        socket.local_addr()
    });
    match local {
        Ok(SocketAddr::V4(local)) => match media_at(u32::from(*local.ip())) {
            Some((name, media)) => format!("{name}: {media}"),
            None => Media::Untold.to_string(),
        },
        _ => Media::Untold.to_string(),
    }
}

fn address(host: &str, port: u16, offset: u16) -> Result<SocketAddr, String> {
    let port = port.checked_add(offset).ok_or("the port is too high: three are needed")?;
    (host, port)
        .to_socket_addrs()
        .map_err(|error| format!("{host}: {error}"))?
        .find(SocketAddr::is_ipv4)
        .ok_or_else(|| format!("{host}: no IPv4 address"))
}

/// One line on the terminal that is written over.
pub struct Progress {
    shown: bool,
    start: Instant,
    /// When to write again, milliseconds since the start.
    next: AtomicU32,
}

impl Progress {
    /// Shows it if `wanted`, and only on a terminal.
    pub fn new(wanted: bool) -> Progress {
        let shown = wanted && std::io::stderr().is_terminal();
        Progress { shown, start: Instant::now(), next: AtomicU32::new(0) }
    }

    fn bytes(&self, what: &str, bytes: u64, of: u64) {
        self.show(|| format!("{what}: {:.1} of {:.1} MB", bytes as f64 / 1e6, of as f64 / 1e6));
    }

    /// Writes at most four times a second.
    fn show(&self, text: impl FnOnce() -> String) {
        let now = self.start.elapsed().as_millis() as u32;
        if !self.shown || now < self.next.load(Ordering::Relaxed) {
            return;
        }
        self.next.store(now + 250, Ordering::Relaxed);
        complain(format_args!("\r{:<60}", text()));
    }

    /// Leaves an empty line.
    pub fn clear(&self) {
        if self.shown {
            complain(format_args!("\r{:<60}\r", ""));
        }
    }
}
