// SPDX-License-Identifier: BSD-2-Clause
//! tcpecho on real sockets: several clients of all services, 16 MB checked, resets, clean stops without a leak.

mod support;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use rtems_ioc::os::hosted::Hosted;
use rtems_ioc::os::socket::Address;
use rtems_ioc::os::{Role, System};
use rtems_ioc::tcpecho::{Kind, Options, Server, TcpEcho};
use support::alone::alone;
use support::deadline::{PATIENCE, eventually};

fn service() -> TcpEcho<Hosted> {
    TcpEcho::new(Hosted, Role::TcpEcho, Server::default())
}

fn options() -> Options {
    Options { interface: Address::LOOPBACK, port: 0, buffer_bytes: 16 << 10, max_clients: 8 }
}

fn connect(service: &TcpEcho<Hosted>, wanted: Kind) -> TcpStream {
    let at = service.with(|server| server.listening().find(|(kind, _)| *kind == wanted)).unwrap().1;
    let stream = TcpStream::connect(("127.0.0.1", at.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// Sends everything from another thread and reads it back.
fn round_trip(stream: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    let mut sender = stream.try_clone().unwrap();
    let mut received = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            sender.write_all(bytes).unwrap();
            sender.shutdown(Shutdown::Write).unwrap();
        });
        stream.read_to_end(&mut received).unwrap();
    });
    received
}

#[test]
fn several_clients_get_16_mb_back_unchanged_while_others_discard_and_source() {
    let service = service();
    service.start(options()).unwrap();
    let data = pattern(16 << 20);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert!(round_trip(&mut connect(&service, Kind::Echo), &data) == data));
        }
        scope.spawn(|| {
            let mut stream = connect(&service, Kind::Discard);
            stream.write_all(&data).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
        });
        scope.spawn(|| {
            let mut words = vec![0; 4 << 20];
            connect(&service, Kind::Source).read_exact(&mut words).unwrap();
            for (word, bytes) in words.chunks_exact(4).enumerate() {
                assert_eq!(bytes, (word as u32).to_be_bytes());
            }
        });
    });
    eventually(|| service.with(|server| server.client_count()) == 0);
    assert!(service.stop());
    assert!(!service.stop());
}

#[test]
fn a_reset_or_a_client_that_never_reads_hurts_nobody_else() {
    let service = service();
    service.start(options()).unwrap();
    // Never reads: its echo stops when the buffers between are full.
    let mut stuck = connect(&service, Kind::Echo);
    stuck.set_nonblocking(true).unwrap();
    let _not_read = connect(&service, Kind::Source);
    let piece = [0; 65536];
    eventually(|| {
        while stuck.write(&piece).is_ok() {}
        std::thread::sleep(Duration::from_millis(50));
        stuck.write(&piece).is_err()
    });
    // Closing with unread data makes the kernel send a reset.
    let mut reset = connect(&service, Kind::Echo);
    reset.write_all(&piece).unwrap();
    eventually(|| service.with(|server| server.client_count()) == 3);
    let mut byte = [0];
    reset.read_exact(&mut byte).unwrap();
    drop(reset);
    eventually(|| service.with(|server| server.client_count()) == 2);
    let data = pattern(100_000);
    assert!(round_trip(&mut connect(&service, Kind::Echo), &data) == data);
    let start = Instant::now();
    service.stop();
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn one_client_too_many_is_closed_and_a_place_that_comes_free_is_used() {
    let service = service();
    service.start(Options { max_clients: 2, ..options() }).unwrap();
    let first = connect(&service, Kind::Echo);
    let mut second = connect(&service, Kind::Echo);
    assert_eq!(round_trip(&mut second, b"served"), b"served");
    let second = connect(&service, Kind::Echo);
    let mut third = connect(&service, Kind::Echo);
    assert_eq!(third.read(&mut [0; 1]).unwrap_or(0), 0);
    drop(first);
    eventually(|| service.with(|server| server.client_count()) == 1);
    assert_eq!(round_trip(&mut connect(&service, Kind::Echo), b"served"), b"served");
    drop(second);
}

#[test]
fn a_hundred_stops_with_an_idle_and_an_active_client_leak_no_descriptor() {
    // Other tests of this program open sockets at the same time, so the count is made in a process of its own.
    if !alone("a_hundred_stops_with_an_idle_and_an_active_client_leak_no_descriptor") {
        return;
    }
    let service = service();
    let before = Hosted.descriptors().unwrap().used;
    let piece = pattern(30_000);
    let mut slow = 0;
    for _ in 0..100 {
        service.start(options()).unwrap();
        let mut idle = connect(&service, Kind::Echo);
        let mut active = connect(&service, Kind::Echo);
        active.set_nonblocking(true).unwrap();
        for _ in 0..10 {
            let _ = active.write(&piece);
        }
        let start = Instant::now();
        assert!(service.stop());
        assert!(start.elapsed() < PATIENCE, "stop took {:?}", start.elapsed());
        slow += u32::from(start.elapsed() >= Duration::from_secs(1));
        // The idle client sees the end, not a hang.
        assert_eq!(idle.read(&mut [0; 1]).unwrap_or(0), 0);
        assert!(idle.as_raw_fd() >= 0);
    }
    assert_eq!(Hosted.descriptors().unwrap().used, before);
    // A busy computer may hold up a stop, but not every tenth.
    assert!(slow < 10, "{slow} of 100 stops took a second or more");
}

#[test]
fn a_port_in_use_is_named_and_nothing_stays_open() {
    let first = service();
    first.start(options()).unwrap();
    let taken = first.with(|server| server.listening().next()).unwrap().1;
    let second = service();
    let error = second.start(Options { port: taken.port, ..options() }).unwrap_err().to_string();
    assert!(error.contains(&taken.to_string()) && error.contains("in use"), "{error}");
    assert!(!second.is_running());
    assert_eq!(second.with(|server| server.listening().count()), 0);
    first.stop();
}

#[test]
fn the_report_shows_clients_with_their_counters() {
    let service = service();
    service.start(options()).unwrap();
    let mut client = connect(&service, Kind::Echo);
    client.write_all(b"12345").unwrap();
    client.read_exact(&mut [0; 5]).unwrap();
    let mut text = String::new();
    service.with(|server| server.report(&mut text, Hosted.monotonic_ms())).unwrap();
    assert!(text.contains("discard  listening on 127.0.0.1:"), "{text}");
    assert!(text.contains("received 5 in 1 reads, sent 5 in 1 writes"), "{text}");
    assert!(text.contains("clients: 1 now, 1 served, 0 refused"), "{text}");
}
