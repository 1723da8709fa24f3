// SPDX-License-Identifier: BSD-2-Clause
//! Round trips by message size: where a stack sends in pieces, or waits for an acknowledgement, a size shows it.

use super::flow::connect;
use super::measurements::{RoundTrips, Series};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Messages of one size: at most, and at least even if they are slow.
const MOST: usize = 30;
const LEAST: usize = 5;
/// Time after which a size has enough messages.
const ENOUGH: Duration = Duration::from_millis(400);
/// The peer's first acknowledgements are quick while a connection is young: these messages warm it up.
const WARM_UP: usize = 20;

/// Message sizes: around one mbuf of a BSD stack (about 100 bytes) and two, around one segment, and beyond.
pub fn sizes() -> Vec<usize> {
    let mut sizes = vec![1, 64];
    sizes.extend(95..=100);
    sizes.push(128);
    sizes.extend(200..=212);
    sizes.extend([512, 1448, 1449, 4096]);
    sizes
}

/// Measures every size; the second value counts wrong or missing answers.
pub fn measure(
    with: SocketAddr,
    sizes: &[usize],
    progress: &dyn Fn(usize),
) -> io::Result<(Vec<RoundTrips>, u32)> {
    let mut result: Vec<RoundTrips> =
        sizes.iter().map(|&bytes| RoundTrips { bytes, ..RoundTrips::default() }).collect();
    let mut failures = 0;
    for no_delay in [true, false] {
        let stream = connect(with)?;
        stream.set_nodelay(no_delay)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        for _ in 0..WARM_UP {
            exchange(&stream, 1)?;
        }
        for trips in &mut result {
            progress(trips.bytes);
            let mut samples = Vec::with_capacity(MOST);
            let start = Instant::now();
            while samples.len() < MOST && (samples.len() < LEAST || start.elapsed() < ENOUGH) {
                match exchange(&stream, trips.bytes)? {
                    Some(time) => samples.push(time.as_secs_f64() * 1e3),
                    None => {
                        failures += 1;
                        break;
                    }
                }
            }
            let series = Series::of(&mut samples);
            *if no_delay { &mut trips.no_delay } else { &mut trips.nagle } = series;
        }
    }
    Ok((result, failures))
}

/// Sends one message and waits until all of it is back; `None` if it came back changed.
fn exchange(mut stream: &TcpStream, bytes: usize) -> io::Result<Option<Duration>> {
    let message: Vec<u8> = (0..bytes).map(|index| (index % 251) as u8).collect();
    let mut answer = vec![0; bytes];
    let start = Instant::now();
    stream.write_all(&message)?;
    stream.read_exact(&mut answer)?;
    Ok((answer == message).then(|| start.elapsed()))
}
