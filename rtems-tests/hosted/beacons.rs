// SPDX-License-Identifier: BSD-2-Clause
//! Beacons as they arrive: golden bytes, counter, and a period that doubles.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Instant;

use crate::Test;
use crate::support::deadline::PATIENCE;
use crate::support::ports::{free_port, free_ports};
use crate::support::process::Process;
use crate::support::server;

/// Name and function of each test here.
pub const TESTS: &[(&str, Test)] =
    &[("beacons_count_up_while_their_period_doubles", beacons_count_up_while_their_period_doubles)];

/// Beacons to watch: with the first at once and the second after 20 ms, the last comes after 20 ms x (2^7 - 1) = 2.5 s.
const BEACONS: u32 = 8;

fn beacons_count_up_while_their_period_doubles() -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(text)?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(text)?;
    let port = free_port();
    let mut command = server::program();
    command
        .args([
            "serve",
            "--port",
            &port.to_string(),
            "--echo-port",
            &free_ports(server::ECHO_PORTS).to_string(),
        ])
        .env("EPICS_CAS_BEACON_ADDR_LIST", socket.local_addr().map_err(text)?.to_string())
        .env("EPICS_CAS_AUTO_BEACON_ADDR_LIST", "NO");
    let started = Instant::now();
    let process = Process::start(command)?;
    let mut due = 0.0;
    let mut period = 0.02;
    for number in 0..BEACONS {
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).map_err(|error| format!("{error}:\n{}", process.text()))?;
        // Command 13, no payload, minor version 13, TCP port, counter, and no address: the repeater fills it in.
        let mut golden = vec![0, 13, 0, 0, 0, 13];
        golden.extend(port.to_be_bytes());
        golden.extend(number.to_be_bytes());
        golden.extend([0; 4]);
        if buffer[..length] != golden {
            return Err(format!("beacon {number}: {:x?}, not {golden:x?}", &buffer[..length]));
        }
        // Never early, counted from before the start; how late says nothing on a busy machine.
        let passed = started.elapsed().as_secs_f64();
        if passed < due * 0.99 {
            return Err(format!("beacon {number} came after {passed:.3} s, due after {due:.3} s"));
        }
        due += period;
        period *= 2.0;
    }
    Ok(())
}
