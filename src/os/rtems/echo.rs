// SPDX-License-Identifier: BSD-2-Clause
//! tcpecho alone, for an image that brings another Channel Access server (EPICS's) and another shell (iocsh).

#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int, c_void};

use spin::Once;

use super::{Rtems, config, console};
use crate::os::socket::Address;
use crate::pool::{CallWriter, WriteCall};
use crate::shell::{self, Echo, TCPECHO};
use crate::tcpecho;

/// Buffer of a client, in bytes: with 8192 an echo takes 4 % more instructions than one by a plain server with 10 000.
const BUFFER_BYTES: usize = 16 << 10;

/// Where tcpecho listens on a board.
pub const OPTIONS: tcpecho::Options = tcpecho::Options {
    interface: Address::ANY,
    port: tcpecho::DEFAULT_PORT,
    buffer_bytes: BUFFER_BYTES,
    max_clients: config::SERVER_ECHO_CLIENTS,
};

/// `start` and a port.
const MAXIMUM_ARGUMENTS: usize = 4;

/// Made by the first call, which the start-up script of an IOC makes before other tasks call; only read afterwards.
static ECHO: Once<Echo<Rtems>> = Once::new();

/// rtems_ioc_server.h: the command `tcpecho` without the rest of the servers. Its status: 0, 1 failed, 2 usage.
///
/// # Safety
/// `arguments` is NULL or a C string; `write` may be called with `context` until this returns.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_tcpecho_command(
    arguments: *const c_char,
    write: Option<WriteCall>,
    context: *mut c_void,
) -> c_int {
    let Some(write) = write else { return shell::USAGE };
    console::start_log();
    shell::register_echo(ECHO.call_once(|| Echo::new(Rtems, OPTIONS)));
    let text = if arguments.is_null() {
        Ok("")
    } else {
        // SAFETY: not NULL, so a C string by this function's contract.
        unsafe { CStr::from_ptr(arguments) }.to_str()
    };
    let mut words = [""; MAXIMUM_ARGUMENTS];
    let mut count = 0;
    for (place, word) in words.iter_mut().zip(text.unwrap_or("?").split_whitespace()) {
        *place = word;
        count += 1;
    }
    // SAFETY: the contract of this function is that of the writer.
    let mut out = unsafe { CallWriter::new(write, context) };
    (TCPECHO.run)(&mut out, words.get(..count).unwrap_or_default())
}
