// SPDX-License-Identifier: BSD-2-Clause
//! What the kernel alone takes for a message that travels by itself: one blocking recv and one send of the sizes of a get.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use rustix::time::{ClockId, clock_gettime};

/// Bytes of READ_NOTIFY and of its answer with a double.
const REQUEST: usize = 16;
const ANSWER: usize = 24;

/// CPU microseconds that a thread takes per message which does nothing else.
///
/// # Errors
/// If there are no sockets.
pub fn measure(messages: u32) -> Result<f64, String> {
    let text = |error: std::io::Error| error.to_string();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(text)?;
    let mut client = TcpStream::connect(listener.local_addr().map_err(text)?).map_err(text)?;
    let (mut served, _) = listener.accept().map_err(text)?;
    client.set_nodelay(true).and_then(|()| served.set_nodelay(true)).map_err(text)?;
    let server = std::thread::spawn(move || {
        let mut request = [0; REQUEST];
        let before = clock_gettime(ClockId::ThreadCPUTime);
        while served.read_exact(&mut request).is_ok() && served.write_all(&[0; ANSWER]).is_ok() {}
        let after = clock_gettime(ClockId::ThreadCPUTime);
        (after.tv_sec - before.tv_sec) as f64 * 1e6 + (after.tv_nsec - before.tv_nsec) as f64 / 1e3
    });
    let mut answer = [0; ANSWER];
    for _ in 0..messages {
        client.write_all(&[0; REQUEST]).and_then(|()| client.read_exact(&mut answer)).map_err(text)?;
    }
    drop(client);
    let cpu = server.join().map_err(|_| "the thread ended oddly")?;
    Ok(cpu / f64::from(messages))
}
