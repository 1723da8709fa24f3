// SPDX-License-Identifier: BSD-2-Clause
//! The Channel Access server on real sockets: many clients, clients that misbehave, limits of the system, restarts.

mod support;

use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, UdpSocket};
use std::time::{Duration, Instant};

use rtems_ioc::ca;
use rtems_ioc::net::provider::Served;
use rtems_ioc::net::server::Server;
use rtems_ioc::net::service::Service;
use rtems_ioc::net::settings::Settings;
use rtems_ioc::net::status::Status;
use rtems_ioc::os::hosted::Hosted;
use rtems_ioc::os::socket::Address;
use rtems_ioc::os::{Role, System};
use rtems_ioc::pv::Database;
use support::alone::alone;
use support::circuit::{Channel, Circuit, search, search_from};
use support::deadline::{PATIENCE, eventually};
use support::message::{self, Message, command};

type CaServer = Service<Hosted, Server<Hosted, Served<Status<Hosted>>, ca::AdmitAll>>;

const NAME: &str = "t:value";

fn service() -> CaServer {
    let mut database = Database::new();
    database.add_double(NAME.as_bytes()).unwrap();
    let provider = Served::new(database, Status::new(Hosted), 0);
    let server = Server::new(Hosted, ca::Server::new(ca::Config::DEFAULT, provider), ca::AdmitAll);
    Service::new(Hosted, Role::CaServer, server)
}

/// Any free port, beacons to nobody.
fn settings() -> Settings {
    let mut settings = Settings::on(vec![Address::LOOPBACK]);
    settings.port = 0;
    settings.auto_beacons = false;
    settings
}

fn started() -> (CaServer, u16) {
    let service = service();
    service.start(settings()).unwrap();
    let port = tcp_port(&service);
    (service, port)
}

fn tcp_port(service: &CaServer) -> u16 {
    service.with(|server| server.listening().next()).unwrap().port
}

/// A client with a channel.
fn connected(port: u16) -> (Circuit, Channel) {
    let mut circuit = Circuit::connect(port).unwrap();
    let channel = circuit.create(NAME).unwrap();
    (circuit, channel)
}

const DOUBLE: u16 = 6;

/// A synchronous get of one double.
fn get(circuit: &mut Circuit, channel: Channel) -> f64 {
    let reply = circuit.get(channel, DOUBLE, 1).unwrap();
    assert_eq!((reply.header.command, reply.header.p1), (command::READ_NOTIFY, message::ECA_NORMAL));
    f64::from_be_bytes(*reply.payload.first_chunk().unwrap())
}

fn read_request(channel: Channel, id: u32) -> Vec<u8> {
    message::bytes(command::READ_NOTIFY, DOUBLE, 1, channel.sid, id, &[])
}

fn circuits(service: &CaServer) -> u32 {
    service.with(|server| server.protocol().statistics().circuits)
}

#[test]
fn a_name_is_found_and_read() {
    let (service, port) = started();
    assert_eq!(search(port, NAME, PATIENCE), Some(port));
    assert_eq!(search(port, "t:other", Duration::from_millis(200)), None);
    let (mut circuit, channel) = connected(port);
    assert_eq!(get(&mut circuit, channel), 0.0);
    drop(circuit);
    eventually(|| circuits(&service) == 0);
}

#[test]
fn a_hundred_clients_at_once_are_all_served() {
    let (service, port) = started();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                let (mut circuit, channel) = connected(port);
                for _ in 0..10 {
                    get(&mut circuit, channel);
                }
            });
        }
    });
    // A backlog that overflows costs a whole second for the SYN to be sent again.
    println!("100 circuits, 1000 gets: {:?}", start.elapsed());
    eventually(|| circuits(&service) == 0);
}

#[test]
fn clients_that_send_and_never_read_do_not_grow_and_hurt_nobody() {
    if !alone("clients_that_send_and_never_read_do_not_grow_and_hurt_nobody") {
        return;
    }
    let (service, port) = started();
    let mut stuck = Vec::new();
    for _ in 0..32 {
        let (circuit, channel) = connected(port);
        let piece = read_request(channel, 1).repeat(4096);
        circuit.stream().set_nonblocking(true).unwrap();
        stuck.push((circuit, piece));
    }
    // Until no client can send any more: the server has stopped reading them all.
    eventually(|| {
        let sent = stuck.iter_mut().filter_map(|(circuit, piece)| circuit.stream().write(piece).ok()).count();
        std::thread::sleep(Duration::from_millis(20));
        sent == 0
    });
    let (mut other, channel) = connected(port);
    get(&mut other, channel);
    // One of them comes to its senses and gets all that it is owed, to the last byte of the last request that was whole.
    let (circuit, _) = &mut stuck[0];
    circuit.stream().set_nonblocking(false).unwrap();
    circuit.stream().shutdown(Shutdown::Write).unwrap();
    let mut replies = 0;
    while circuit.next(PATIENCE).unwrap().is_some() {
        replies += 1;
    }
    assert!(replies > 4096);
    drop(stuck);
    eventually(|| circuits(&service) == 1);
    let idle = CpuTime::start();
    std::thread::sleep(Duration::from_millis(300));
    idle.assert_below(0.5);
}

/// Processor time of this process over a stretch of time.
struct CpuTime(Instant, i64);

impl CpuTime {
    fn start() -> CpuTime {
        CpuTime(Instant::now(), CpuTime::used())
    }

    /// In microseconds; needs no descriptor.
    fn used() -> i64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a local that the call fills in.
        assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) }, 0);
        time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    fn assert_below(&self, part: f64) {
        let used = (CpuTime::used() - self.1) as f64 / 1e6 / self.0.elapsed().as_secs_f64();
        assert!(used < part, "{used:.3} of the processor");
    }
}

#[test]
fn replies_owed_at_the_end_of_stream_are_sent_and_the_circuit_ends() {
    let (service, port) = started();
    let (mut circuit, channel) = connected(port);
    for id in 0..10 {
        circuit.send_bytes(&read_request(channel, id)).unwrap();
    }
    circuit.stream().shutdown(Shutdown::Write).unwrap();
    for id in 0..10 {
        let reply = circuit.next_that(|message| message.header.command == command::READ_NOTIFY).unwrap();
        assert_eq!(reply.header.p2, id);
    }
    assert_eq!(circuit.next(PATIENCE).unwrap(), None);
    eventually(|| circuits(&service) == 0);
}

#[test]
fn at_the_descriptor_limit_it_serves_on_and_recovers() {
    if !alone("at_the_descriptor_limit_it_serves_on_and_recovers") {
        return;
    }
    let (service, port) = started();
    // The clients are in this process as well, so they connect first, while the server cannot have a turn.
    let mut clients: Vec<Circuit> = service.with(|_| {
        let clients = (0..40).map(|_| Circuit::connect(port).unwrap()).collect();
        set_descriptor_limit(Hosted.descriptors().unwrap().used + 12);
        clients
    });
    eventually(|| service.with(|server| server.is_exhausted()));
    let served = circuits(&service);
    // A descriptor inherited with a number above the limit does not count.
    assert!((12..16).contains(&served), "{served} circuits");
    let channel = clients[0].create(NAME).unwrap();
    let idle = CpuTime::start();
    for _ in 0..20 {
        get(&mut clients[0], channel);
        std::thread::sleep(Duration::from_millis(50));
    }
    idle.assert_below(0.1);
    // When some leave, those who waited in the backlog are served, and in the end there is room for all.
    clients.drain(..6);
    let mut waited = clients.remove(10);
    let channel = waited.create(NAME).unwrap();
    get(&mut waited, channel);
    clients.clear();
    eventually(|| !service.with(|server| server.is_exhausted()));
    get(&mut waited, channel);
}

fn set_descriptor_limit(limit: u32) {
    let limit = libc::rlimit { rlim_cur: u64::from(limit), rlim_max: u64::from(limit) };
    // SAFETY: the pointer is to a local that is read during the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}

#[test]
fn stops_and_starts_leave_nothing_behind() {
    if !alone("stops_and_starts_leave_nothing_behind") {
        return;
    }
    let service = service();
    let before = Hosted.descriptors().unwrap().used;
    for _ in 0..50 {
        service.start(settings()).unwrap();
        let port = tcp_port(&service);
        let mut idle = Circuit::connect(port).unwrap();
        let (mut active, channel) = connected(port);
        active.send_bytes(&read_request(channel, 1).repeat(2000)).unwrap();
        let start = Instant::now();
        assert!(service.stop());
        assert!(start.elapsed() < PATIENCE, "stop took {:?}", start.elapsed());
        assert_eq!(circuits(&service), 0);
        // The end of the stream or a reset, not a hang.
        while idle.next(PATIENCE).unwrap().is_some() {}
    }
    assert_eq!(Hosted.descriptors().unwrap().used, before);
    let statistics = service.with(|server| *server.protocol().statistics());
    assert_eq!((statistics.circuits, statistics.channels, statistics.monitors), (0, 0, 0));
}

#[test]
fn beacons_begin_anew_at_each_start_and_come_in_doubling_intervals() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut settings = settings();
    settings.beacons = vec![Address::new(Address::LOOPBACK, receiver.local_addr().unwrap().port())];
    settings.beacon_period_ms = 100;
    let service = service();
    for _ in 0..2 {
        let start = Instant::now();
        service.start(settings.clone()).unwrap();
        let port = tcp_port(&service);
        for number in 0..6 {
            let mut buffer = [0; 64];
            let n = receiver.recv(&mut buffer).unwrap();
            // Never early by more than the server's clock of whole milliseconds, counted from before the first; how late
            // depends on the machine.
            let due = [0, 19, 57, 133, 228, 323][number as usize];
            assert!(start.elapsed() >= Duration::from_millis(due), "{number}: {:?}", start.elapsed());
            let beacon = Message::new(command::BEACON, 13, u32::from(port), number, 0, &[]);
            assert_eq!(Message::parse(&buffer[..n]), Some((beacon, n)));
        }
        service.stop();
        receiver.set_nonblocking(true).unwrap();
        while receiver.recv(&mut [0; 64]).is_ok() {}
        receiver.set_nonblocking(false).unwrap();
    }
}

#[test]
fn a_taken_tcp_port_is_replaced_and_announced() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let service = service();
    service.start(Settings { port, ..settings() }).unwrap();
    let other = tcp_port(&service);
    assert_ne!(other, port);
    assert_eq!(search(port, NAME, PATIENCE), Some(other));
}

#[test]
fn searches_from_ignored_addresses_are_not_answered() {
    let service = service();
    service.start(Settings { ignore: vec![Address::LOOPBACK], ..settings() }).unwrap();
    let port = tcp_port(&service);
    assert_eq!(search(port, NAME, Duration::from_millis(300)), None);
    assert_eq!(search_from(Ipv4Addr::new(127, 0, 0, 2), port, NAME, PATIENCE), Some(port));
}

#[test]
fn an_idle_server_is_idle() {
    if !alone("an_idle_server_is_idle") {
        return;
    }
    let (_service, port) = started();
    let _connected = connected(port);
    let idle = CpuTime::start();
    std::thread::sleep(Duration::from_secs(3));
    idle.assert_below(0.01);
}
