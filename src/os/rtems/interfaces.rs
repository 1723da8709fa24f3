// SPDX-License-Identifier: BSD-2-Clause
//! The IPv4 interfaces and the media of their cables, as the network part in C finds them.

#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::os::socket::SocketError;
use crate::os::{Interface, Media};

unsafe extern "C" {
    /// network.h: calls `visit` for each IPv4 address of an interface that is up; an errno or 0.
    fn rtems_ioc_interfaces(
        visit: unsafe extern "C" fn(context: *mut c_void, address: u32, broadcast: u32, loopback: bool),
        context: *mut c_void,
    ) -> i32;

    /// network.h: calls `visit` for each interface that is up, but not loopback.
    fn rtems_ioc_media(
        visit: unsafe extern "C" fn(*mut c_void, *const c_char, c_int, c_uint, c_int, c_int),
        context: *mut c_void,
    );
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

/// Visits each interface that is up, but not loopback, with what its driver says of the cable.
pub fn media(visit: &mut dyn FnMut(&str, Media)) {
    let mut visit = visit;
    // SAFETY: `each_media` gets back the pointer to `visit`, which lives until the call returns.
    unsafe { rtems_ioc_media(each_media, (&raw mut visit).cast()) };
}

unsafe extern "C" fn each_media(
    context: *mut c_void,
    name: *const c_char,
    media: c_int,
    megabits: c_uint,
    full_duplex: c_int,
    negotiated: c_int,
) {
    // SAFETY: `media` above made the pointer from a local of this very type and waits for this call to return.
    let visit = unsafe { &mut *context.cast::<&mut dyn FnMut(&str, Media)>() };
    // SAFETY: network.h: a C string, valid during this call.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("?");
    let told = |value: c_int| (value >= 0).then_some(value > 0);
    let media = match media {
        2 => Media::Link { megabits, full_duplex: told(full_duplex), negotiated: told(negotiated) },
        1 => Media::NoLink,
        _ => Media::Untold,
    };
    visit(name, media);
}
