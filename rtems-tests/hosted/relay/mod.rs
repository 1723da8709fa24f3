// SPDX-License-Identifier: BSD-2-Clause
//! Two network namespaces joined by a line that is modelled in user space.
//!
//! ```text
//!  namespace 0: tun0 10.77.0.1  <->  relay thread (line::Relay)  <->  namespace 1: tun0 10.77.0.2
//! ```
//! Each namespace has a thread in it that stays for the life of the link; whatever is spawned from a closure given to
//! [`Link::within`] lives in that namespace. No packet leaves the two.
#![allow(unsafe_code, dead_code)]

pub mod line;
pub mod peer;

use line::{Line, Relay, Station, Tally};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Addresses of the two stations.
pub const ADDRESSES: [&str; 2] = ["10.77.0.1", "10.77.0.2"];

/// One station: a TUN device in a namespace of its own.
struct Tun {
    file: File,
    buffer: Vec<u8>,
}

impl Station for Tun {
    fn take(&mut self) -> Option<Vec<u8>> {
        let bytes = self.file.read(&mut self.buffer).ok()?;
        Some(self.buffer[..bytes].to_vec())
    }

    fn give(&mut self, packet: &[u8]) {
        // A full receive queue drops, as a network card does.
        let _ = self.file.write(packet);
    }
}

/// A namespace, held open by its descriptor.
struct Namespace(OwnedFd);

/// The two namespaces, joined.
pub struct Link {
    namespaces: [Namespace; 2],
    stop: Arc<AtomicBool>,
    relay: Option<JoinHandle<[Tally; 2]>>,
}

impl Link {
    /// Makes both namespaces and starts the relay.
    pub fn new(line: Line, seed: u64) -> Result<Link, String> {
        let (first, a) = station(ADDRESSES[0])?;
        let (second, b) = station(ADDRESSES[1])?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let relay = std::thread::Builder::new()
            .name("relay".into())
            .spawn(move || carry(Relay::new(line, [a, b], seed), &stopped))
            .map_err(|error| error.to_string())?;
        Ok(Link { namespaces: [first, second], stop, relay: Some(relay) })
    }

    /// Runs a closure on a new thread in that namespace.
    pub fn within<T: Send>(&self, station: usize, run: impl FnOnce() -> T + Send) -> T {
        let descriptor = self.namespaces[station].0.as_raw_fd();
        std::thread::scope(|scope| {
            scope
                .spawn(move || {
                    // SAFETY: setns takes an open descriptor and changes this thread alone.
                    let entered = unsafe { libc::setns(descriptor, libc::CLONE_NEWNET) };
                    assert_eq!(entered, 0, "setns: {}", std::io::Error::last_os_error());
                    run()
                })
                .join()
        })
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Stops the relay and says what the frames of each station met.
    pub fn end(mut self) -> [Tally; 2] {
        self.stop.store(true, Ordering::Relaxed);
        self.relay.take().and_then(|relay| relay.join().ok()).unwrap_or_default()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Without root, runs the test of this name once more in a user namespace and demands that it succeeds there; true if it did.
pub fn again_as_root(test: &str) -> bool {
    // SAFETY: geteuid only answers.
    if unsafe { libc::geteuid() } == 0 {
        return false;
    }
    let program = std::env::current_exe().expect("own path");
    let status = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net"])
        .arg(program)
        .args(["--exact", test, "--nocapture"])
        .status()
        .expect("unshare (util-linux)");
    assert!(status.success(), "needs root, or user namespaces (kernel.unprivileged_userns_clone)");
    true
}

/// A new namespace with a TUN device that has this address.
fn station(address: &'static str) -> Result<(Namespace, Tun), String> {
    let make = move || {
        // SAFETY: unshare changes this thread alone, which ends after it has set the device up.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(format!("unshare: {}", std::io::Error::last_os_error()));
        }
        let file = open_tun().map_err(|error| format!("/dev/net/tun: {error}"))?;
        for words in [
            format!("addr add {address}/24 dev tun0"),
            // A long queue: a device that drops for want of one would be a fault of the test.
            "link set dev tun0 mtu 1500 txqueuelen 10000 up".into(),
            "link set dev lo up".into(),
        ] {
            let status = Command::new("ip").args(words.split(' ')).status();
            if !status.is_ok_and(|status| status.success()) {
                return Err(format!("ip {words} failed"));
            }
        }
        let own = File::open("/proc/thread-self/ns/net").map_err(|error| error.to_string())?;
        Ok((Namespace(own.into()), Tun { file, buffer: vec![0; 2048] }))
    };
    std::thread::spawn(make).join().map_err(|_| String::from("the thread ended"))?
}

fn open_tun() -> std::io::Result<File> {
    const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
    const IFF_TUN: i16 = 1;
    const IFF_NO_PI: i16 = 0x1000;
    /// struct ifreq: name and flags, the rest of the union unused.
    #[repr(C)]
    struct Request {
        name: [u8; 16],
        flags: i16,
        rest: [u8; 22],
    }
    // SAFETY: the path is a C string, the descriptor is owned by the File from here on.
    let file = unsafe {
        let descriptor =
            libc::open(c"/dev/net/tun".as_ptr(), libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC);
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error());
        }
        File::from_raw_fd(descriptor)
    };
    let mut request = Request { name: [0; 16], flags: IFF_TUN | IFF_NO_PI, rest: [0; 22] };
    request.name[..4].copy_from_slice(b"tun0");
    // SAFETY: the request has the size and layout of struct ifreq and outlives the call.
    if unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut request) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(file)
}

/// SO_RCVBUF of a listening socket, inherited by its connections.
fn set_receive_buffer(listener: &std::net::TcpListener, bytes: usize) -> std::io::Result<()> {
    set_option(listener.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, bytes as libc::c_int)
}

/// TCP_QUICKACK off: an acknowledgement waits for its timer.
fn hold_acknowledgements(stream: &std::net::TcpStream) -> std::io::Result<()> {
    set_option(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_QUICKACK, 0)
}

fn set_option(descriptor: i32, level: i32, option: i32, value: libc::c_int) -> std::io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` is readable for `size` bytes during the call.
    let result = unsafe { libc::setsockopt(descriptor, level, option, (&raw const value).cast(), size) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// The relay's thread: plays the line until it is stopped.
fn carry(mut relay: Relay<Tun>, stop: &AtomicBool) -> [Tally; 2] {
    let start = Instant::now();
    // The default of 50 us would be half a frame's time.
    // SAFETY: prctl with PR_SET_TIMERSLACK changes this thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000) };
    while !stop.load(Ordering::Relaxed) {
        let now = start.elapsed().as_nanos() as u64;
        let next = relay.run(now);
        let now = start.elapsed().as_nanos() as u64;
        let wait = match next {
            Some(at) if at <= now => continue,
            Some(at) => Duration::from_nanos(at - now),
            None => Duration::from_millis(20),
        };
        poll(&relay, wait.min(Duration::from_millis(20)));
    }
    relay.tally()
}

/// Waits for a packet of a station that could send one, or the time.
fn poll(relay: &Relay<Tun>, wait: Duration) {
    let mut places = [0, 1].map(|station| {
        // Descriptor -1 is passed over: while a frame is on the line its sender's next packet does not matter.
        let fd = if relay.is_idle(station) { relay.stations()[station].file.as_raw_fd() } else { -1 };
        libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
    });
    let timeout = libc::timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
    // SAFETY: pointer and number describe `places`; the timeout outlives the call; no signal mask.
    unsafe { libc::ppoll(places.as_mut_ptr(), places.len() as libc::nfds_t, &timeout, std::ptr::null()) };
}
