// SPDX-License-Identifier: BSD-2-Clause
//! The servers of the image and the C calls that start and stop them.

#![allow(unsafe_code)]

use core::ffi::c_int;

use spin::Once;

use super::{Rtems, config, console};
use crate::os::Role;
use crate::os::socket::Address;
use crate::tcpecho::{DEFAULT_PORT, Options, Server, TcpEcho};

/// Buffer of a tcpecho client, in bytes.
const ECHO_BUFFER_BYTES: usize = 4096;
/// Clients of tcpecho at one time: three services, and each costs its buffer.
const ECHO_CLIENTS: usize = 12;

/// Initialised by the task that starts the image, before any other task of ours; only read afterwards.
static SERVICES: Once<Services> = Once::new();

/// Every server of the image.
pub struct Services {
    /// Echo, discard and source.
    pub tcpecho: TcpEcho<Rtems>,
}

/// The servers; they do not run until started.
pub fn services() -> &'static Services {
    SERVICES.call_once(|| {
        console::start_log();
        Services { tcpecho: TcpEcho::new(Rtems, Role::TcpEcho, Server::default()) }
    })
}

/// What tcpecho is started with.
pub fn echo_options() -> Options {
    Options {
        interface: Address::ANY,
        port: DEFAULT_PORT,
        buffer_bytes: ECHO_BUFFER_BYTES,
        max_clients: ECHO_CLIENTS,
    }
}

/// rtems_ioc_server.h: starts every server; 0, or -1 when one did not start (the log says why).
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_start() -> c_int {
    let services = services();
    match services.tcpecho.start(echo_options()) {
        Ok(()) => {
            log::info!("{}: tcpecho on ports {DEFAULT_PORT} to {}", config::BSP_NAME, DEFAULT_PORT + 2);
            0
        }
        Err(error) => {
            log::error!("tcpecho: {error}");
            -1
        }
    }
}

/// rtems_ioc_server.h: stops every server.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_stop() -> c_int {
    services().tcpecho.stop();
    0
}
