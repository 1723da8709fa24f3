// SPDX-License-Identifier: BSD-2-Clause
//! Serving: put everything together, say where it is, wait for the end.

use std::sync::mpsc;
use std::thread;

use rtems_ioc::ca;
use rtems_ioc::net::PoolAdmission;
use rtems_ioc::net::provider::Served;
use rtems_ioc::net::server::{OpenError, Server};
use rtems_ioc::net::service::StartError;
use rtems_ioc::net::settings::Settings;
use rtems_ioc::net::status::Status;
use rtems_ioc::os::System;
use rtems_ioc::os::hosted::console::{init_log, is_interactive};
use rtems_ioc::os::hosted::signals::Termination;
use rtems_ioc::os::hosted::{Hosted, allocator};
use rtems_ioc::os::socket::{Address, SocketError};
use rtems_ioc::pool;
use rtems_ioc::pv::Database;
use rtems_ioc::security::acf;
use rtems_ioc::{shell, tcpecho};

use super::options::ServeOptions;
use super::{Failure, announce, databases, terminal};

/// Buffer of a tcpecho client, in bytes.
const ECHO_BUFFER: usize = 64 << 10;
/// Clients of tcpecho at one time.
const ECHO_CLIENTS: usize = 64;
/// Process variables `<name>:catime000000` and on.
const CATIME_FAMILY: u32 = 10_000;
/// Puts that the log keeps.
const LOGGED_PUTS: usize = 256;

/// The IOC of this program.
pub type Ioc = shell::Ioc<Hosted, Served<Status<Hosted>>, PoolAdmission>;

/// Serves until a signal or the shell says that it is enough.
pub fn run(options: &ServeOptions) -> Result<(), Failure> {
    // First of all, so that every thread started later leaves these signals to the one that waits for them.
    let termination = Termination::block();
    init_log(if options.verbose { log::LevelFilter::Info } else { log::LevelFilter::Warn });
    let settings = settings(options)?;
    prepare_pool(options)?;
    let mut provider = provider(options)?;
    secure(&mut provider, options)?;
    let mut limits = ca::Limits::HOSTED;
    if let Some(bytes) = settings.max_array_bytes {
        limits.max_array_bytes = bytes;
    }
    let config = ca::Config { limits, ..ca::Config::DEFAULT };
    let server = Server::new(Hosted, ca::Server::new(config, provider), PoolAdmission);
    let echo = tcpecho::Options {
        interface: settings.interfaces.first().copied().unwrap_or(Address::ANY),
        port: options.echo_port,
        buffer_bytes: ECHO_BUFFER,
        max_clients: ECHO_CLIENTS,
    };
    // Lives as long as the program: the shell's table refers to it.
    let mut ioc = Ioc::new(Hosted, server, settings, echo);
    if options.check_client_ip {
        ioc.check_addresses(resolve);
    }
    let ioc: &'static Ioc = Box::leak(Box::new(ioc));
    shell::register(ioc);
    shell::register_echo(ioc.echo());
    shell::register_diagnosis(&super::diagnosis::Kit);
    ioc.start_server().map_err(|error| cannot_serve(&error))?;
    ioc.echo().start(None).map_err(|error| cannot_echo(&error))?;
    announce::print(ioc, &options.name);
    wait(termination, options.shell || is_interactive());
    ioc.stop();
    Ok(())
}

/// Gives the heap its size, its policy and its holes.
fn prepare_pool(options: &ServeOptions) -> Result<(), Failure> {
    allocator::set_pool(options.pool).map_err(|error| Failure::new(format_args!("--pool: {error}")))?;
    pool::pool().set_policy(options.pool_policy);
    pool::pool().set_reserve(options.reserve);
    let free = options.fragment;
    if free == 0 {
        return Ok(());
    }
    // What the holes leave has to do for the servers, as the smallest pool does.
    let need = allocator::fragment_bytes(free).saturating_add(allocator::MINIMUM_POOL);
    if need > options.pool || allocator::fragment(free).is_none() {
        return Err(Failure::new(format_args!(
            "--fragment {free}: the pool is too small for it; {}",
            if need <= allocator::MAXIMUM_POOL {
                format!("give --pool {}M or more", need.div_ceil(1 << 20))
            } else {
                "the largest --pool is, too".to_owned()
            }
        )));
    }
    Ok(())
}

/// Waits for a signal, or for the end of the shell if there is one.
fn wait(termination: Termination, with_shell: bool) {
    let (end, ended) = mpsc::channel();
    if with_shell {
        let end = end.clone();
        thread::spawn(move || {
            terminal::run();
            let _ = end.send(());
        });
    }
    thread::spawn(move || {
        termination.wait();
        let _ = end.send(());
    });
    // An error would mean that both threads are gone, and then there is nothing to wait for either.
    let _ = ended.recv();
}

fn cannot_serve(error: &StartError<OpenError>) -> Failure {
    let remedy = match error {
        StartError::Open(OpenError::Udp(_, SocketError::AddressInUse)) => {
            "; choose another port with --port or EPICS_CAS_SERVER_PORT"
        }
        StartError::Open(OpenError::Tcp(_, SocketError::AddressInUse)) => "; choose another port with --port",
        StartError::Open(OpenError::Udp(_, SocketError::AddressNotAvailable)) => {
            "; see --interface and EPICS_CAS_INTF_ADDR_LIST"
        }
        _ => "",
    };
    Failure::new(format_args!("Channel Access server: {error}{remedy}"))
}

fn cannot_echo(error: &StartError<tcpecho::OpenError>) -> Failure {
    let in_use =
        matches!(error, StartError::Open(tcpecho::OpenError { error: SocketError::AddressInUse, .. }));
    let remedy = if in_use { "; choose other ports with --echo-port" } else { "" };
    Failure::new(format_args!("tcpecho: {error}{remedy}"))
}

/// The environment, then the options.
fn settings(options: &ServeOptions) -> Result<Settings, Failure> {
    let get = |name: &str| std::env::var(name).ok();
    let mut settings =
        Settings::from_environment(&get, &resolve, vec![Address::LOOPBACK]).map_err(Failure::new)?;
    if !options.interfaces.is_empty() {
        settings
            .serve_on(&options.interfaces)
            .map_err(|remedy| Failure::new(format_args!("--interface {remedy}")))?;
    }
    if let Some(port) = options.port {
        settings.port = port;
        settings.port_required = port != 0;
    }
    Ok(settings)
}

/// A host name's first IPv4 address.
fn resolve(name: &str) -> Option<u32> {
    use std::net::{SocketAddr, ToSocketAddrs};
    (name, 0).to_socket_addrs().ok()?.find_map(|address| match address {
        SocketAddr::V4(address) => Some(u32::from(*address.ip())),
        SocketAddr::V6(_) => None,
    })
}

/// The process variables: those of the IOC itself, the benchmark's, and the databases'.
fn provider(options: &ServeOptions) -> Result<Served<Status<Hosted>>, Failure> {
    let status = Status::new(Hosted);
    let mut database = Database::new();
    database.set_time(Hosted.wall());
    let name = options.name.as_bytes();
    let catime = format!("{}:catime", options.name);
    database
        .add_status(name, &status)
        .and_then(|()| database.add_double(catime.as_bytes()))
        .and_then(|_| database.add_family(catime.as_bytes(), CATIME_FAMILY))
        .map_err(|error| Failure::new(format_args!("--name {}: {error}", options.name)))?;
    databases::load(&mut database, &options.databases, &options.macros)?;
    database.shrink();
    Ok(Served::new(database, status, LOGGED_PUTS))
}

/// Who may write, as the options say.
fn secure(provider: &mut Served<Status<Hosted>>, options: &ServeOptions) -> Result<(), Failure> {
    let security = &mut provider.security;
    security.set_read_only(options.read_only);
    security.set_log_all(options.put_log);
    if let Some(file) = &options.acf {
        let name = file.display().to_string();
        let text =
            std::fs::read(file).map_err(|error| Failure::new(format_args!("--acf {name}: {error}")))?;
        let by_address = options.check_client_ip.then_some(&resolve as acf::Resolve<'_>);
        let rules = acf::parse(&name, &text, by_address).map_err(Failure::new)?;
        for host in rules.unresolved() {
            log::warn!("{name}: host {} could not be resolved: nobody is let in by it", host.escape_ascii());
        }
        security.set_rules(Some(rules));
    }
    Ok(())
}
