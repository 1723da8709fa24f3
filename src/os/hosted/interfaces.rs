// SPDX-License-Identifier: BSD-2-Clause
//! The IPv4 interfaces and their broadcast addresses, by getifaddrs; the media of their cables, from /sys.

#![allow(unsafe_code)]

use std::ffi::CStr;

use crate::os::socket::SocketError;
use crate::os::{Interface, Media};

/// The list that getifaddrs allocates; freed when dropped.
struct List(*mut libc::ifaddrs);

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: `visit` got this pointer from getifaddrs, and nothing borrowed from it lives on.
        unsafe { libc::freeifaddrs(self.0) };
    }
}

/// Visits each IPv4 address of an interface that is up.
pub fn visit(visit: &mut dyn FnMut(Interface)) -> Result<(), SocketError> {
    visit_named(&mut |_, interface| visit(interface))
}

/// Visits each interface that is up, but not loopback, with what its driver says of the cable.
pub fn media(visit: &mut dyn FnMut(&str, Media)) {
    // Without a list there is nothing to tell.
    let _ = visit_named(&mut |name, interface| {
        if !interface.loopback {
            visit(name, media_of(name));
        }
    });
}

/// The interface that has this address, and what its driver says of the cable.
pub fn media_at(address: u32) -> Option<(String, Media)> {
    let mut found = None;
    // Without a list there is nothing to tell.
    let _ = visit_named(&mut |name, interface| {
        if interface.address == address {
            found = Some((name.to_owned(), media_of(name)));
        }
    });
    found
}

/// What /sys/class/net says; a driver that does not know a figure lets the read fail or gives one below 0.
fn media_of(name: &str) -> Media {
    let read = |what: &str| std::fs::read_to_string(format!("/sys/class/net/{name}/{what}")).ok();
    media_from(read("carrier").as_deref(), read("speed").as_deref(), read("duplex").as_deref())
}

fn media_from(carrier: Option<&str>, speed: Option<&str>, duplex: Option<&str>) -> Media {
    let megabits = speed.and_then(|text| text.trim().parse().ok()).filter(|&megabits: &u32| megabits > 0);
    let full_duplex = match duplex.map(str::trim) {
        Some("full") => Some(true),
        Some("half") => Some(false),
        _ => None,
    };
    match (carrier.map(str::trim), megabits, full_duplex) {
        (Some("0"), ..) => Media::NoLink,
        (_, None, None) => Media::Untold,
        (_, megabits, full_duplex) => {
            Media::Link { megabits: megabits.unwrap_or(0), full_duplex, negotiated: None }
        }
    }
}

fn visit_named(visit: &mut dyn FnMut(&str, Interface)) -> Result<(), SocketError> {
    let mut first = std::ptr::null_mut();
    // SAFETY: the pointer is to a local that getifaddrs fills in.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        return Err(SocketError::Other(code));
    }
    let list = List(first);
    let mut next = list.0;
    // SAFETY: getifaddrs made a list that ends with NULL and lives as long as `list`.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        let flag = |flag: i32| entry.ifa_flags & flag as u32 != 0;
        if !flag(libc::IFF_UP) {
            continue;
        }
        let Some(address) = ipv4(entry.ifa_addr) else { continue };
        let broadcast = if flag(libc::IFF_BROADCAST) { ipv4(entry.ifa_ifu) } else { None };
        // SAFETY: an entry has a name, a C string that lives as long as the list.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy();
        visit(&name, Interface { address, broadcast, loopback: flag(libc::IFF_LOOPBACK) });
    }
    Ok(())
}

/// The address behind a pointer of the list, in host order, if it is IPv4.
fn ipv4(address: *const libc::sockaddr) -> Option<u32> {
    // SAFETY: an entry's addresses are NULL or valid while the list lives; the family says what they are.
    let family = unsafe { address.as_ref() }?.sa_family;
    if i32::from(family) != libc::AF_INET {
        return None;
    }
    // SAFETY: the family was AF_INET on the line before; getifaddrs aligns what it allocates, and read_unaligned does
    // not even rely on that.
    let address = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
    Some(u32::from_be(address.sin_addr.s_addr))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::socket::Address;

    #[test]
    fn the_loopback_interface_is_known_as_such() {
        let mut found = None;
        visit(&mut |interface| {
            if interface.address == Address::LOOPBACK {
                found = Some(interface);
            }
        })
        .unwrap();
        // A container without any network has no address at all; then there is nothing to check.
        if let Some(interface) = found {
            assert!(interface.loopback);
            assert_eq!(interface.broadcast, None);
        }
    }

    #[test]
    fn media_are_what_sys_tells() {
        let link = |megabits, full_duplex| Media::Link { megabits, full_duplex, negotiated: None };
        assert_eq!(media_from(Some("1\n"), Some("100\n"), Some("half\n")), link(100, Some(false)));
        assert_eq!(media_from(Some("1\n"), Some("1000\n"), Some("full\n")), link(1000, Some(true)));
        // A virtual interface, and one whose driver does not know its duplex.
        assert_eq!(media_from(Some("1\n"), Some("-1\n"), Some("unknown\n")), Media::Untold);
        assert_eq!(media_from(None, None, None), Media::Untold);
        assert_eq!(media_from(Some("1\n"), Some("10\n"), Some("unknown\n")), link(10, None));
        assert_eq!(media_from(Some("0\n"), None, Some("unknown\n")), Media::NoLink);
    }
}
