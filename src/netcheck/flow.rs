// SPDX-License-Identifier: BSD-2-Clause
//! Throughput: each way alone and both at once, with the data checked.

use super::measurements::Flow;
use crate::os::hosted::tcp_info::{TcpInfo, tcp_info};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Bytes of one write and one read.
const CHUNK: usize = 16 * 1024;
/// How long to wait for a connection, or for a byte of one that makes no progress at all.
const PATIENCE: Duration = Duration::from_secs(10);

/// Called with the bytes moved so far while a measurement runs.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// How much to move, and for how long at most.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Bytes.
    pub bytes: u64,
    /// Time after which what has arrived has to do.
    pub limit: Duration,
}

/// From us to the discard service.
pub fn out(to: SocketAddr, amount: Amount, progress: Progress<'_>) -> io::Result<Flow> {
    let stream = connect(to)?;
    let watch = Watch::start(&stream, amount);
    let (mut flow, mut sent) = (Flow::default(), 0);
    let mut info = Seen::default();
    let mut chunk = [0; CHUNK];
    while sent < amount.bytes && !watch.is_over() {
        let bytes = usize::try_from(amount.bytes - sent).map_or(CHUNK, |left| left.min(CHUNK));
        pattern(sent, &mut chunk[..bytes]);
        match (&stream).write(&chunk[..bytes]) {
            Ok(written) => sent += written as u64,
            Err(error) if is_slow(&error) => continue,
            Err(error) => return Err(error),
        }
        info.look(&stream)?;
        progress(sent);
    }
    if sent == amount.bytes {
        // The end comes back when all before it has been taken.
        stream.shutdown(Shutdown::Write)?;
        flow.complete = wait_for_end(&stream, &watch)?;
    }
    flow.seconds = watch.seconds();
    let left = crate::os::hosted::tcp_info::unacknowledged(&stream)?;
    flow.bytes = sent.saturating_sub(u64::from(left));
    info.look(&stream)?;
    info.report(&mut flow);
    Ok(flow)
}

/// From the source service to us.
pub fn r#in(from: SocketAddr, amount: Amount, progress: Progress<'_>) -> io::Result<Flow> {
    let stream = connect(from)?;
    let watch = Watch::start(&stream, amount);
    let mut reader = Reader::default();
    while reader.received < amount.bytes && !watch.is_over() {
        if !reader.read(&stream)? {
            break;
        }
        progress(reader.received);
    }
    Ok(reader.finish(amount.bytes, watch.seconds()))
}

/// To the echo service and back.
pub fn both(with: SocketAddr, amount: Amount, progress: Progress<'_>) -> io::Result<Flow> {
    let stream = connect(with)?;
    let watch = Watch::start(&stream, amount);
    let mut reader = Reader::default();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| send_all(&stream, amount.bytes, &watch));
        while reader.received < amount.bytes && !watch.is_over() {
            if !reader.read(&stream)? {
                break;
            }
            progress(reader.received);
        }
        let seconds = watch.seconds();
        // Ends the sender too if it still waits for room.
        let _ = stream.shutdown(Shutdown::Both);
        let info = sender.join().map_err(|_| io::Error::other("the sending thread ended"))??;
        let mut flow = reader.finish(amount.bytes, seconds);
        info.report(&mut flow);
        Ok(flow)
    })
}

/// Sends the pattern until it is gone, the time is over or the connection is shut.
fn send_all(mut stream: &TcpStream, bytes: u64, watch: &Watch) -> io::Result<Seen> {
    let mut info = Seen::default();
    let mut chunk = [0; CHUNK];
    let mut sent = 0;
    while sent < bytes && !watch.is_over() {
        let wanted = usize::try_from(bytes - sent).map_or(CHUNK, |left| left.min(CHUNK));
        pattern(sent, &mut chunk[..wanted]);
        match stream.write(&chunk[..wanted]) {
            Ok(written) => sent += written as u64,
            Err(error) if is_slow(&error) => {}
            Err(_) => break,
        }
        info.look(stream)?;
    }
    Ok(info)
}

/// What the kernel said of the connection while it was used.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    last: TcpInfo,
    window: u32,
    gaps: u32,
}

impl Seen {
    fn look(&mut self, stream: &TcpStream) -> io::Result<()> {
        let info = tcp_info(stream)?;
        // Data is handed over in order: between two reads that brought something, one gap or none was closed.
        self.gaps += u32::from(info.out_of_order > self.last.out_of_order);
        self.window = self.window.max(info.peer_window);
        self.last = info;
        Ok(())
    }

    /// The sending half of a flow.
    fn report(&self, flow: &mut Flow) {
        flow.segments_out = self.last.segments_out;
        flow.lost_out = self.last.retransmitted.saturating_sub(self.last.spurious);
        flow.min_rtt_us = self.last.min_rtt_us;
        flow.peer_window = self.window;
        if self.last.busy_us > 0 {
            flow.window_limited = self.last.window_limited_us as f64 / self.last.busy_us as f64;
        }
    }
}

/// Receives and checks.
#[derive(Default)]
struct Reader {
    received: u64,
    wrong_at: Option<u64>,
    info: Seen,
}

impl Reader {
    /// One read; false at the end of the stream.
    fn read(&mut self, mut stream: &TcpStream) -> io::Result<bool> {
        let mut chunk = [0; CHUNK];
        let mut expected = [0; CHUNK];
        let got = match stream.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(got) => got,
            Err(error) if is_slow(&error) => return Ok(true),
            Err(error) => return Err(error),
        };
        pattern(self.received, &mut expected[..got]);
        if self.wrong_at.is_none() && chunk[..got] != expected[..got] {
            let first = chunk.iter().zip(&expected).position(|(is, should)| is != should);
            self.wrong_at = Some(self.received + first.unwrap_or(0) as u64);
        }
        self.received += got as u64;
        self.info.look(stream)?;
        Ok(true)
    }

    fn finish(&self, wanted: u64, seconds: f64) -> Flow {
        Flow {
            bytes: self.received,
            seconds,
            complete: self.received >= wanted,
            wrong_at: self.wrong_at,
            segments_in: self.info.last.segments_in,
            gaps_in: self.info.gaps,
            min_rtt_us: self.info.last.min_rtt_us,
            ..Flow::default()
        }
    }
}

/// The bytes at an offset of the stream: 32-bit big-endian words that count up, as the source service sends them.
fn pattern(offset: u64, out: &mut [u8]) {
    for (index, byte) in out.iter_mut().enumerate() {
        let at = offset + index as u64;
        *byte = ((at / 4) as u32).to_be_bytes()[(at % 4) as usize];
    }
}

/// Time since the start of a measurement.
struct Watch {
    start: Instant,
    limit: Duration,
}

impl Watch {
    /// Starts now. Reads and writes return now and then, so that the limit is seen.
    fn start(stream: &TcpStream, amount: Amount) -> Watch {
        let tick = Some(Duration::from_millis(100));
        // Setting a timeout that is not zero cannot fail on an open socket.
        let _ = stream.set_read_timeout(tick);
        let _ = stream.set_write_timeout(tick);
        Watch { start: Instant::now(), limit: amount.limit }
    }

    fn is_over(&self) -> bool {
        self.start.elapsed() >= self.limit
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// Reads until the peer's end of stream; false if the time was over before.
fn wait_for_end(mut stream: &TcpStream, watch: &Watch) -> io::Result<bool> {
    let mut chunk = [0; 64];
    while !watch.is_over() {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(true),
            Ok(_) => {}
            Err(error) if is_slow(&error) => {}
            // A peer that closes with a reset has taken everything too.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(true),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Nothing happened within the tick, or a signal came.
fn is_slow(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// A connection that sends at once.
pub fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
