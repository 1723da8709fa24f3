// SPDX-License-Identifier: BSD-2-Clause
//! The syntax of each kind of variable.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::{SettingError, Settings};
use crate::os::socket::Address;

/// EPICS clients replace a port that is not above this one by the default, so nobody would find the server there.
const HIGHEST_RESERVED_PORT: u16 = 5000;
/// What to say about a port that is none of [`is_client_port`].
pub const PORT_REMEDY: &str = "give a port from 5001 to 65535 (EPICS clients take no others)";
const ADDRESS_REMEDY: &str =
    "give addresses like 192.168.1.255 or 192.168.1.255:5065, or host names, separated by blanks";

/// Whether clients can be told to look for a server at this port.
pub const fn is_client_port(port: u16) -> bool {
    port > HIGHEST_RESERVED_PORT
}

/// The environment and the means to resolve names in it.
pub(super) struct Environment<'a> {
    pub(super) get: &'a dyn Fn(&str) -> Option<String>,
    pub(super) resolve: &'a dyn Fn(&str) -> Option<u32>,
}

fn wrong(variable: &'static str, value: &str, remedy: &'static str) -> SettingError {
    SettingError { variable, value: value.to_owned(), remedy }
}

impl Environment<'_> {
    /// The value without surrounding blanks and quotes; an empty one counts as not set, as everywhere in EPICS.
    fn value(&self, variable: &str) -> Option<String> {
        let value = (self.get)(variable)?;
        let value = value.trim().trim_matches('"').trim();
        if value.is_empty() { None } else { Some(value.to_owned()) }
    }

    pub(super) fn number(
        &self,
        variable: &'static str,
        lowest: u32,
        highest: u32,
        remedy: &'static str,
    ) -> Result<Option<u32>, SettingError> {
        let Some(value) = self.value(variable) else { return Ok(None) };
        match value.parse() {
            Ok(number) if (lowest..=highest).contains(&number) => Ok(Some(number)),
            _ => Err(wrong(variable, &value, remedy)),
        }
    }

    /// The port in the first of these variables that is set.
    pub(super) fn first_port(&self, variables: &[&'static str]) -> Result<Option<u16>, SettingError> {
        for variable in variables {
            let lowest = u32::from(HIGHEST_RESERVED_PORT) + 1;
            if let Some(port) = self.number(variable, lowest, 65535, PORT_REMEDY)? {
                return Ok(Some(port as u16));
            }
        }
        Ok(None)
    }

    pub(super) fn yes_or_no(&self, variable: &'static str) -> Result<Option<bool>, SettingError> {
        match self.value(variable) {
            None => Ok(None),
            Some(value) if value.eq_ignore_ascii_case("yes") => Ok(Some(true)),
            Some(value) if value.eq_ignore_ascii_case("no") => Ok(Some(false)),
            Some(value) => Err(wrong(variable, &value, "give YES or NO")),
        }
    }

    /// A period in seconds, as milliseconds, from the first of these variables that is set.
    pub(super) fn period(&self, variables: &[&'static str]) -> Result<Option<u32>, SettingError> {
        for variable in variables {
            let Some(value) = self.value(variable) else { continue };
            return match value.parse::<f64>() {
                Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(Some((seconds * 1000.0) as u32)),
                _ => Err(wrong(variable, &value, "give seconds from 0.1 to 3600")),
            };
        }
        Ok(None)
    }

    /// A list of addresses; those without a port get `port`.
    pub(super) fn addresses(&self, variable: &'static str, port: u16) -> Result<Vec<Address>, SettingError> {
        let Some(value) = self.value(variable) else { return Ok(Vec::new()) };
        value
            .split_whitespace()
            .map(|entry| self.address(entry, port).ok_or_else(|| wrong(variable, entry, ADDRESS_REMEDY)))
            .collect()
    }

    fn address(&self, entry: &str, default_port: u16) -> Option<Address> {
        let (host, port) = match entry.split_once(':') {
            Some((host, port)) => (host, port.parse().ok().filter(|&port| port > 0)?),
            None => (entry, default_port),
        };
        let ip = dotted(host).or_else(|| (self.resolve)(host))?;
        Some(Address::new(ip, port))
    }

    /// EPICS_CAS_INTF_ADDR_LIST: interfaces, and multicast groups among them.
    pub(super) fn interfaces(&self, settings: &mut Settings) -> Result<(), SettingError> {
        const VARIABLE: &str = "EPICS_CAS_INTF_ADDR_LIST";
        let listed = self.addresses(VARIABLE, 0)?;
        if listed.is_empty() {
            return Ok(());
        }
        let listed: Vec<u32> = listed.into_iter().map(|address| address.ip).collect();
        settings.serve_on(&listed).map_err(|remedy| wrong(VARIABLE, "0.0.0.0", remedy))
    }

    /// The limit counts only when it is not automatic, as in EPICS since 7.0.
    pub(super) fn array_bytes(&self) -> Result<Option<u32>, SettingError> {
        let limit =
            self.number("EPICS_CA_MAX_ARRAY_BYTES", 16_384, 1 << 30, "give bytes from 16384 to 1073741824")?;
        let automatic = self.yes_or_no("EPICS_CA_AUTO_ARRAY_BYTES")?.unwrap_or(true);
        Ok(if automatic { None } else { Some(limit.unwrap_or(16_384)) })
    }
}

/// A dotted quad in host order.
pub fn dotted(text: &str) -> Option<u32> {
    text.parse::<core::net::Ipv4Addr>().ok().map(u32::from)
}
