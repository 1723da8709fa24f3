// SPDX-License-Identifier: BSD-2-Clause
//! The servers of the image and the C calls that start and stop them.

#![allow(unsafe_code)]

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use spin::Once;

use super::{Rtems, config, console, files, measure, settings};
use crate::net::provider::Served;
use crate::net::server::Server;
use crate::net::settings::{Settings, dotted};
use crate::net::status::Status;
use crate::net::{PoolAdmission, configuration};
use crate::os::System;
use crate::pool::pool;
use crate::pv::Database;
use crate::tcpecho::classic;
use crate::{app, ca, shell, tcpecho};

/// Process variables `<name>:catime000000` and on.
const CATIME_FAMILY: u32 = 10_000;
/// Puts that the log keeps.
const LOGGED_PUTS: usize = 64;
/// The name of the IOC when the boot gives none.
const DEFAULT_NAME: &str = "ioc";

/// Both servers of an image.
type Ioc = shell::Ioc<Rtems, Served<Status<Rtems>>, PoolAdmission>;

/// Made by the task that starts the image, before any other task of ours runs; only read afterwards.
static IOC: Once<Option<Ioc>> = Once::new();

/// The servers, which do not run until started; `None` when they could not be made (the log says why).
pub fn ioc() -> Option<&'static Ioc> {
    let ioc = IOC
        .call_once(|| {
            console::start_log();
            pool().set_reserve(config::POOL_RESERVE);
            build().map_err(|why| log::error!("{why}")).ok()
        })
        .as_ref()?;
    shell::register(ioc);
    shell::register_echo(ioc.echo());
    app::register(ioc);
    shell::register_diagnosis(&measure::Kit);
    Some(ioc)
}

/// Tells the server of 2005 to end.
static CLASSIC_STOP: AtomicBool = AtomicBool::new(false);

/// Puts the process variables and the servers together.
fn build() -> Result<Ioc, String> {
    if let Err(why) = files::install() {
        log::error!("{why}");
    }
    let said = |name: &str| settings::setting(name).map(ToString::to_string);
    let own = |name: &str| said(name).or_else(|| files::default(name).map(ToString::to_string));
    // A file of settings comes behind what the boot says, before what the image has.
    let listed = own("settings")
        .map_or_else(configuration::Listed::default, |path| configuration::Listed::read(&path, &files::read));
    let get = |name: &str| {
        said(name).or_else(|| listed.get(name)).or_else(|| files::default(name).map(ToString::to_string))
    };
    let settings =
        Settings::from_environment(&get, &dotted, Vec::new()).map_err(|error| error.to_string())?;
    let name = get("name").unwrap_or_else(|| DEFAULT_NAME.to_string());
    let status = Status::new(Rtems);
    let mut database = Database::new();
    database.set_time(Rtems.wall());
    let catime = format!("{name}:catime");
    database
        .add_status(name.as_bytes(), &status)
        .and_then(|()| database.add_double(catime.as_bytes()))
        .and_then(|_| database.add_family(catime.as_bytes(), CATIME_FAMILY))
        .map_err(|error| format!("name {name}: {error}"))?;
    let mut limits = ca::Limits {
        circuits: config::SERVER_CIRCUITS as u16,
        circuits_per_address: config::SERVER_CIRCUITS_PER_ADDRESS as u16,
        ..ca::Limits::BOARD
    };
    if let Some(bytes) = settings.max_array_bytes {
        limits.max_array_bytes = bytes;
    }
    let protocol = ca::Config { limits, ..ca::Config::DEFAULT };
    let mut provider = Served::new(database, status, LOGGED_PUTS);
    configuration::apply(&mut provider, &listed, &get, &files::read, &dotted);
    let server = Server::new(Rtems, ca::Server::new(protocol, provider), PoolAdmission);
    let mut ioc = Ioc::new(Rtems, server, settings, super::echo::OPTIONS);
    if get("check-client-ip").is_some_and(|value| configuration::is_yes(&value)) {
        ioc.check_addresses(dotted);
    }
    Ok(ioc)
}

/// rtems_ioc_server.h: starts every server; 0, or -1 when one did not start (the log says why).
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_start() -> c_int {
    let Some(ioc) = ioc() else { return -1 };
    let mut result = 0;
    if let Err(error) = ioc.start_server() {
        log::error!("Channel Access server: {error}");
        result = -1;
    }
    if let Err(error) = ioc.echo().start(None) {
        log::error!("tcpecho: {error}");
        result = -1;
    }
    result
}

/// rtems_ioc_server.h: the server of 2005 in the calling task, until `rtems_ioc_stop`. 0, or -1 with the reason logged.
// SAFETY: the name is the tool's since 2005; an image that has another one of that name does not link.
#[unsafe(no_mangle)]
pub extern "C" fn tcpecho(bufsz: c_int, discard: c_int) -> c_int {
    console::start_log();
    CLASSIC_STOP.store(false, Ordering::Release);
    let buffer = usize::try_from(bufsz).ok().filter(|&bytes| bytes > 0).unwrap_or(classic::DEFAULT_BUFFER);
    let mut ended = |peer, counters: &tcpecho::Counters| log::info!("tcpecho: {peer}: {counters}");
    let stop = || CLASSIC_STOP.load(Ordering::Acquire);
    match classic::serve(&Rtems, tcpecho::DEFAULT_PORT, buffer, discard != 0, &stop, &mut ended) {
        Ok(()) => 0,
        Err(error) => {
            log::error!("tcpecho: {error}");
            -1
        }
    }
}

/// rtems_ioc_server.h: stops every server; returns when every socket is closed.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_stop() -> c_int {
    CLASSIC_STOP.store(true, Ordering::Release);
    let Some(ioc) = ioc() else { return -1 };
    ioc.stop();
    0
}
