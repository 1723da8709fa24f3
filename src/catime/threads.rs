// SPDX-License-Identifier: BSD-2-Clause
//! The network of the hosted client: threads between the benchmark and the sockets, as libca has them.
//!
//! A request is handed to a thread that sends, a reply comes from one that receives, and each circuit has both. So a
//! synchronous get costs the same two hand-overs as with EPICS's catime, and the rows can be compared with what was
//! published. A board's client, and this one with `--one-thread`, does without.

use super::network::Network;
use crate::os::Interest;
use crate::os::System;
use crate::os::hosted::Hosted;
use crate::os::socket::{Address, Descriptor, Shutdown, SocketError, Stream};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes handed over and not sent, from which on no more are taken.
const MOST_UNSENT: usize = 256 * 1024;
/// Bytes of one read.
const RECEIVE: usize = 64 * 1024;
/// How long to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the search thread looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// A thread that panics leaves nothing half done here: each change is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the benchmark that something has come.
#[derive(Default)]
struct News {
    count: Mutex<u64>,
    changed: Condvar,
}

impl News {
    fn ring(&self) {
        *lock(&self.count) += 1;
        self.changed.notify_one();
    }
}

/// Bytes on the way from the benchmark to the sending thread.
#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    /// The benchmark waits for room.
    wanted: bool,
    ended: bool,
}

/// Bytes on the way from the receiving thread to the benchmark.
#[derive(Default)]
struct Incoming {
    bytes: Vec<u8>,
    /// Bytes that the benchmark has.
    taken: usize,
    ended: bool,
}

#[derive(Default)]
struct Lines {
    outgoing: Mutex<Outgoing>,
    work: Condvar,
    incoming: Mutex<Incoming>,
}

/// A connection with its two threads.
pub struct Handed {
    socket: TcpStream,
    lines: Arc<Lines>,
}

impl Handed {
    fn new(socket: TcpStream, news: &Arc<News>) -> io::Result<Handed> {
        let lines = Arc::new(Lines::default());
        let spawn = |name: &str, run: fn(TcpStream, &Lines, &News)| {
            let (socket, lines, news) = (socket.try_clone()?, Arc::clone(&lines), Arc::clone(news));
            std::thread::Builder::new().name(name.into()).spawn(move || run(socket, &lines, &news))
        };
        spawn("CA-send", send_all)?;
        spawn("CA-recv", receive_all)?;
        Ok(Handed { socket, lines })
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        // Ends both threads.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        lock(&self.lines.outgoing).ended = true;
        self.lines.work.notify_one();
    }
}

/// The sending thread.
fn send_all(mut socket: TcpStream, lines: &Lines, news: &News) {
    let mut bytes = Vec::new();
    loop {
        let mut outgoing = lock(&lines.outgoing);
        while outgoing.bytes.is_empty() && !outgoing.ended {
            outgoing = lines.work.wait(outgoing).unwrap_or_else(PoisonError::into_inner);
        }
        if outgoing.ended {
            return;
        }
        std::mem::swap(&mut outgoing.bytes, &mut bytes);
        let wanted = std::mem::take(&mut outgoing.wanted);
        drop(outgoing);
        if wanted {
            news.ring();
        }
        if socket.write_all(&bytes).is_err() {
            // The receiving thread sees the end, too; whoever waits for room is to see it as well.
            lock(&lines.incoming).ended = true;
            news.ring();
            return;
        }
        bytes.clear();
    }
}

/// The receiving thread.
fn receive_all(mut socket: TcpStream, lines: &Lines, news: &News) {
    let mut buffer = vec![0; RECEIVE];
    loop {
        let got = match socket.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other.unwrap_or(0),
        };
        let mut incoming = lock(&lines.incoming);
        incoming.ended |= got == 0;
        incoming.bytes.extend_from_slice(&buffer[..got]);
        drop(incoming);
        news.ring();
        if got == 0 {
            return;
        }
    }
}

impl Stream for Handed {
    fn descriptor(&self) -> Descriptor {
        self.socket.as_raw_fd()
    }

    fn recv(&mut self, buffer: &mut [u8]) -> Result<usize, SocketError> {
        let mut incoming = lock(&self.lines.incoming);
        let left = &incoming.bytes[incoming.taken..];
        if left.is_empty() {
            return if incoming.ended { Ok(0) } else { Err(SocketError::WouldBlock) };
        }
        let bytes = left.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&left[..bytes]);
        incoming.taken += bytes;
        if incoming.taken == incoming.bytes.len() {
            incoming.bytes.clear();
            incoming.taken = 0;
        }
        Ok(bytes)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, SocketError> {
        let mut outgoing = lock(&self.lines.outgoing);
        if outgoing.bytes.len() >= MOST_UNSENT {
            outgoing.wanted = true;
            return Err(SocketError::WouldBlock);
        }
        outgoing.bytes.extend_from_slice(bytes);
        drop(outgoing);
        self.lines.work.notify_one();
        Ok(bytes.len())
    }

    fn shutdown(&mut self, how: Shutdown) {
        let how = match how {
            Shutdown::Write => std::net::Shutdown::Write,
            Shutdown::Both => std::net::Shutdown::Both,
        };
        let _ = self.socket.shutdown(how);
    }

    fn set_no_delay(&mut self, on: bool) -> Result<(), SocketError> {
        self.socket.set_nodelay(on).map_err(|error| meaning(&error))
    }

    /// Nothing to do: a client that waits for a reply gives up in time by itself.
    fn set_keep_alive(&mut self, _: bool) -> Result<(), SocketError> {
        Ok(())
    }

    fn error(&mut self) -> Result<(), SocketError> {
        self.socket.take_error().ok().flatten().map_or(Ok(()), |error| Err(meaning(&error)))
    }
}

fn meaning(error: &io::Error) -> SocketError {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => SocketError::Refused,
        io::ErrorKind::PermissionDenied => SocketError::NotPermitted,
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::TimedOut => {
            SocketError::Closed
        }
        _ => SocketError::Other(error.raw_os_error().unwrap_or(0)),
    }
}

/// Search replies, by the thread that takes them off their socket.
type Replies = Arc<Mutex<VecDeque<(Vec<u8>, Address)>>>;

/// The search socket and what all threads ring.
pub struct Threads {
    search: UdpSocket,
    replies: Replies,
    news: Arc<News>,
    /// The news that the last wait saw.
    seen: u64,
    ended: Arc<AtomicBool>,
    addresses: Vec<Address>,
    user: String,
    host: String,
}

impl Threads {
    /// Opens the search socket. `addresses` are searched, host or broadcast.
    pub fn open(addresses: Vec<Address>, user: String, host: String) -> io::Result<Threads> {
        let search = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        search.set_broadcast(true)?;
        search.set_read_timeout(Some(LOOK))?;
        let (replies, news, ended) =
            (Replies::default(), Arc::<News>::default(), Arc::<AtomicBool>::default());
        let its = (search.try_clone()?, Arc::clone(&replies), Arc::clone(&news), Arc::clone(&ended));
        std::thread::Builder::new().name("CA-UDP".into()).spawn(move || {
            let (socket, replies, news, ended) = its;
            let mut buffer = [0; 2048];
            while !ended.load(Ordering::Relaxed) {
                if let Ok((bytes, SocketAddr::V4(from))) = socket.recv_from(&mut buffer) {
                    let from = Address::new(u32::from(*from.ip()), from.port());
                    lock(&replies).push_back((buffer[..bytes].to_vec(), from));
                    news.ring();
                }
            }
        })?;
        Ok(Threads { search, replies, news, seen: 0, ended, addresses, user, host })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

fn socket_address(at: Address) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::from(at.ip), at.port))
}

impl Network for Threads {
    type Stream = Handed;
    const TELLS_STATE: bool = true;

    fn now_ns(&self) -> u64 {
        Hosted.monotonic_ns()
    }

    fn connect(&mut self, to: Address) -> Result<Handed, SocketError> {
        TcpStream::connect_timeout(&socket_address(to), PATIENCE)
            .and_then(|socket| {
                socket.set_nodelay(true)?;
                Handed::new(socket, &self.news)
            })
            .map_err(|error| meaning(&error))
    }

    fn search(&mut self, datagram: &[u8]) -> Result<(), SocketError> {
        let mut result = Ok(());
        for &address in &self.addresses {
            match self.search.send_to(datagram, socket_address(address)).map_err(|error| meaning(&error)) {
                // A server that is down answers a directed search with a refusal; the others may know the name.
                Ok(_) | Err(SocketError::Refused | SocketError::Closed) => {}
                Err(error) => result = Err(error),
            }
        }
        result
    }

    fn reply(&mut self, buffer: &mut [u8]) -> Result<(usize, Address), SocketError> {
        let (reply, from) = lock(&self.replies).pop_front().ok_or(SocketError::WouldBlock)?;
        let bytes = reply.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&reply[..bytes]);
        Ok((bytes, from))
    }

    fn wait(&mut self, _: &[(Descriptor, Interest)], timeout_ms: Option<u64>) -> Result<(), SocketError> {
        let end = timeout_ms.map(|ms| Instant::now() + Duration::from_millis(ms));
        let mut count = lock(&self.news.count);
        // What came since the last wait may not have been looked at: then there is nothing to wait for.
        while *count == self.seen {
            let left = end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            count = self.news.changed.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.seen = *count;
        Ok(())
    }

    fn identity(&self) -> (&str, &str) {
        (&self.user, &self.host)
    }
}
