// SPDX-License-Identifier: BSD-2-Clause
//! The IPv4 interfaces, as the network part in C finds them.

#![allow(unsafe_code)]

use core::ffi::c_void;

use crate::os::Interface;
use crate::os::socket::SocketError;

unsafe extern "C" {
    /// network.h: calls `visit` for each IPv4 address of an interface that is up; an errno or 0.
    fn rtems_ioc_interfaces(
        visit: unsafe extern "C" fn(context: *mut c_void, address: u32, broadcast: u32, loopback: bool),
        context: *mut c_void,
    ) -> i32;
}

/// Visits each IPv4 address of an interface that is up.
pub fn visit(visit: &mut dyn FnMut(Interface)) -> Result<(), SocketError> {
    let mut visit = visit;
    // SAFETY: `each` gets back the pointer to `visit`, which lives until the call returns.
    match unsafe { rtems_ioc_interfaces(each, (&raw mut visit).cast()) } {
        0 => Ok(()),
        code => Err(SocketError::Other(code)),
    }
}

unsafe extern "C" fn each(context: *mut c_void, address: u32, broadcast: u32, loopback: bool) {
    // SAFETY: `visit` above made the pointer from a local of this very type and waits for this call to return.
    let visit = unsafe { &mut *context.cast::<&mut dyn FnMut(Interface)>() };
    visit(Interface { address, broadcast: (broadcast != 0).then_some(broadcast), loopback });
}
