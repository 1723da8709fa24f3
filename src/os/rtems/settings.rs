// SPDX-License-Identifier: BSD-2-Clause
//! The settings of the image: [`boot`] says which source counts, here are the sources of a board.

#![allow(unsafe_code)]

use alloc::borrow::ToOwned;
use alloc::ffi::CString;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char};
use core::ptr::{null, read_volatile, with_exposed_provenance};

use super::{config, mutex::Mutex};
use crate::os::Lock;
use crate::os::boot::{self, firmware::Firmware};

/// A setting and its value.
type Setting = (String, CString);

/// What the sources said that are read once, and every value that was ever given away.
struct Known {
    /// MOTLoad's variables, copied from NVRAM at the first question; `None` before it.
    variables: Option<Vec<u8>>,
    /// From DHCP or BOOTP.
    network: Vec<Setting>,
    /// Values given to C: they live as long as the image.
    given: Vec<Setting>,
}

static KNOWN: Mutex<Known> =
    Mutex::unlocked(Known { variables: None, network: Vec::new(), given: Vec::new() });

/// The sources of this board.
struct Board<'a> {
    variables: &'a [u8],
    network: &'a [Setting],
}

impl boot::Sources for Board<'_> {
    fn command_line(&self) -> &str {
        // SAFETY: takes nothing; NULL or a C string that the start of the BSP left for good.
        unsafe { text(rtems_sys::rtems_bsp_cmdline_get()) }.unwrap_or("")
    }

    fn firmware(&self) -> Firmware<'_> {
        let from_environment = config::FIRMWARE_FROM_ENVIRONMENT != 0;
        Firmware { variables: self.variables, port: config::FIRMWARE_PORT, from_environment }
    }

    fn environment(&self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        // SAFETY: a C string that lives during the call; the value is copied before anybody can change it: who calls
        // setenv() while servers start asks for what he gets, as in every C program.
        unsafe { text(rtems_sys::getenv(name.as_ptr())) }.map(ToOwned::to_owned)
    }

    fn network(&self, name: &str) -> Option<String> {
        let (_, value) = self.network.iter().find(|(known, _)| known == name)?;
        value.to_str().ok().map(ToOwned::to_owned)
    }

    fn configured(&self, name: &str) -> Option<&str> {
        match name {
            "ip" => Some(config::NETWORK_ADDRESS),
            "mask" => Some(config::NETWORK_NETMASK),
            "gateway" => Some(config::NETWORK_GATEWAY),
            "ntp" => Some(config::CLOCK_SNTP),
            _ => config::EPICS.iter().find(|(variable, _)| *variable == name).map(|(_, value)| *value),
        }
    }
}

/// The text of a C string.
///
/// # Safety
/// NULL, or a C string that outlives the result.
unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not NULL by the line above; a C string by the contract.
    unsafe { CStr::from_ptr(pointer) }.to_str().ok()
}

/// MOTLoad's variables, a byte at a time as this NVRAM wants it; nothing on a board without or when memory is short.
fn read_variables() -> Vec<u8> {
    let mut copy = Vec::new();
    let bytes = if config::FIRMWARE_VARIABLES == 0 { 0 } else { config::FIRMWARE_VARIABLES_BYTES };
    if copy.try_reserve_exact(bytes).is_err() {
        return copy;
    }
    for at in 0..bytes {
        let byte = with_exposed_provenance::<u8>(config::FIRMWARE_VARIABLES + at);
        // SAFETY: bsp-config says that this BSP maps the board's NVRAM there, and reading it has no effect.
        copy.push(unsafe { read_volatile(byte) });
    }
    copy
}

/// The value of a setting as a C string for good; the same one as long as the value is the same.
fn value(name: &str) -> Option<&'static CStr> {
    KNOWN.with(|known| {
        let variables = known.variables.get_or_insert_with(read_variables);
        let value = boot::setting(&Board { variables, network: &known.network }, name)?;
        let same = |(other, given): &&Setting| other == name && given.to_bytes() == value.as_bytes();
        let at = match known.given.iter().position(|given| same(&given)) {
            Some(at) => at,
            None => {
                known.given.try_reserve(1).ok()?;
                known.given.push((name.to_owned(), CString::new(value).ok()?));
                known.given.len() - 1
            }
        };
        let bytes = known.given[at].1.as_c_str();
        // SAFETY: `given` only grows, lives as long as the image, and a CString's text stays where it is when the
        // vector around it moves.
        Some(unsafe { CStr::from_ptr(bytes.as_ptr()) })
    })
}

/// A setting by its name; `None` when nobody says.
pub fn setting(name: &str) -> Option<&'static str> {
    value(name)?.to_str().ok()
}

/// image.h: a setting by its name, NULL when nobody says.
///
/// # Safety
/// `name` is a C string.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_setting(name: *const c_char) -> *const c_char {
    // SAFETY: a C string by the contract, which outlives this call.
    let name = unsafe { text(name) };
    name.and_then(value).map_or(null(), CStr::as_ptr)
}

/// image.h: what DHCP or BOOTP said of a setting; the newest counts.
///
/// # Safety
/// Both are C strings.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_network_said(name: *const c_char, value: *const c_char) {
    // SAFETY: C strings by the contract, which outlive this call.
    let (Some(name), Some(value)) = (unsafe { text(name) }, unsafe { text(value) }) else { return };
    let Ok(value) = CString::new(value) else { return };
    KNOWN.with(|known| {
        known.network.retain(|(other, _)| other != name);
        known.network.push((name.to_owned(), value));
    });
}
