// SPDX-License-Identifier: BSD-2-Clause
//! How long the peer holds an acknowledgement back when it has nothing to say.

use super::flow::connect;
use super::measurements::Series;
use crate::os::hosted::tcp_info::unacknowledged;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Writes that are timed, after those that are not: a young connection is acknowledged at once.
const TIMED: usize = 8;
const WARM_UP: usize = 20;
/// Between two looks.
const LOOK: Duration = Duration::from_micros(200);
/// Longest wait for one acknowledgement.
const PATIENCE: Duration = Duration::from_secs(2);

/// One byte at a time to the discard service, which never answers.
pub fn measure(to: SocketAddr) -> io::Result<Series> {
    let mut stream = connect(to)?;
    let mut samples = Vec::with_capacity(TIMED);
    for round in 0..WARM_UP + TIMED {
        let start = Instant::now();
        stream.write_all(&[round as u8])?;
        while unacknowledged(&stream)? > 0 && start.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
        }
        if round >= WARM_UP {
            samples.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(Series::of(&mut samples))
}
