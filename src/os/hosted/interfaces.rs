// SPDX-License-Identifier: BSD-2-Clause
//! The IPv4 interfaces and their broadcast addresses, by getifaddrs.

#![allow(unsafe_code)]

use crate::os::Interface;
use crate::os::socket::SocketError;

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
        visit(Interface { address, broadcast, loopback: flag(libc::IFF_LOOPBACK) });
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
}
