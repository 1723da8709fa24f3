// SPDX-License-Identifier: BSD-2-Clause
//! Where the server listens and beacons: the EPICS environment variables of any IOC, read once.
//!
//! Pure: the environment is a function from name to value, so that RTEMS (whose environment starts empty) can take it
//! from the boot command line or firmware variables instead.

mod error;
mod parse;
mod search;

use alloc::string::String;
use alloc::vec::Vec;

pub use error::SettingError;
pub use parse::{PORT_REMEDY, dotted, is_client_port};
pub use search::search_addresses;

use crate::os::socket::Address;

/// Default port of the server, UDP and TCP.
pub const SERVER_PORT: u16 = 5064;
/// Default port of the repeater, to which beacons go.
pub const REPEATER_PORT: u16 = 5065;

/// What the environment says.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Addresses of the interfaces to serve; empty means all of them.
    pub interfaces: Vec<u32>,
    /// Multicast groups to listen to as well.
    pub groups: Vec<u32>,
    /// UDP port, and TCP port if it is free. 0 takes any free one.
    pub port: u16,
    /// A TCP port that is taken is an error. Otherwise any free one takes its place, as in every IOC.
    pub port_required: bool,
    /// Where beacons go by name.
    pub beacons: Vec<Address>,
    /// Beacons also go to the broadcast address of each interface served.
    pub auto_beacons: bool,
    /// Port of the beacons of `auto_beacons`.
    pub beacon_port: u16,
    /// Longest time between beacons, in milliseconds.
    pub beacon_period_ms: u32,
    /// Searches from these addresses are dropped.
    pub ignore: Vec<u32>,
    /// IP_MULTICAST_TTL of beacons to multicast groups.
    pub multicast_ttl: u8,
    /// Largest array a client may get or put, in bytes; `None` leaves it to the server's own limit.
    pub max_array_bytes: Option<u32>,
}

impl Settings {
    /// Port 5064 on these interfaces, everything else by default.
    pub fn on(interfaces: Vec<u32>) -> Settings {
        Settings {
            interfaces,
            groups: Vec::new(),
            port: SERVER_PORT,
            port_required: false,
            beacons: Vec::new(),
            auto_beacons: true,
            beacon_port: REPEATER_PORT,
            beacon_period_ms: 15_000,
            ignore: Vec::new(),
            multicast_ttl: 1,
            max_array_bytes: None,
        }
    }

    /// Serves these addresses instead: multicast groups apart, each interface once, 0.0.0.0 alone for all of them. Groups
    /// alone leave all interfaces, as in EPICS. The error is the remedy; nothing is changed then.
    pub fn serve_on(&mut self, addresses: &[u32]) -> Result<(), &'static str> {
        let is_group = |&ip: &u32| Address::new(ip, 0).is_multicast();
        let (groups, mut interfaces): (Vec<u32>, Vec<u32>) = addresses.iter().copied().partition(is_group);
        interfaces.sort_unstable();
        interfaces.dedup();
        if interfaces.first() == Some(&Address::ANY) {
            if interfaces.len() > 1 {
                return Err("0.0.0.0 means all interfaces: give it alone");
            }
            interfaces.clear();
        } else if interfaces.is_empty() {
            log::warn!("only multicast groups are named: serving all interfaces");
        }
        self.groups = groups;
        self.interfaces = interfaces;
        Ok(())
    }

    /// Reads the environment. `default_interfaces` are those served when no variable says which; `resolve` turns a host
    /// name into an address.
    pub fn from_environment(
        get: &dyn Fn(&str) -> Option<String>,
        resolve: &dyn Fn(&str) -> Option<u32>,
        default_interfaces: Vec<u32>,
    ) -> Result<Settings, SettingError> {
        let environment = parse::Environment { get, resolve };
        let mut settings = Settings::on(default_interfaces);
        environment.interfaces(&mut settings)?;
        if let Some(port) = environment.first_port(&["EPICS_CAS_SERVER_PORT", "EPICS_CA_SERVER_PORT"])? {
            settings.port = port;
        }
        if let Some(port) = environment.first_port(&["EPICS_CAS_BEACON_PORT", "EPICS_CA_REPEATER_PORT"])? {
            settings.beacon_port = port;
        }
        settings.beacons = environment.addresses("EPICS_CAS_BEACON_ADDR_LIST", settings.beacon_port)?;
        if let Some(automatic) = environment.yes_or_no("EPICS_CAS_AUTO_BEACON_ADDR_LIST")? {
            settings.auto_beacons = automatic;
        }
        if let Some(period) = environment.period(&["EPICS_CAS_BEACON_PERIOD", "EPICS_CA_BEACON_PERIOD"])? {
            settings.beacon_period_ms = period;
        }
        let ignore = environment.addresses("EPICS_CAS_IGNORE_ADDR_LIST", 0)?;
        settings.ignore = ignore.into_iter().map(|address| address.ip).collect();
        if let Some(ttl) = environment.number("EPICS_CA_MCAST_TTL", 1, 255, "give a number from 1 to 255")? {
            settings.multicast_ttl = ttl as u8;
        }
        settings.max_array_bytes = environment.array_bytes()?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests;
