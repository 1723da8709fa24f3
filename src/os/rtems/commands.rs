// SPDX-License-Identifier: BSD-2-Clause
//! The commands of the package in the RTEMS shell, and as a C call for images that have another one.

#![allow(unsafe_code)]

use alloc::ffi::CString;
use core::ffi::{CStr, c_char, c_int};

use super::console::Stdout;
use super::services;
use crate::shell::{self, COMMANDS, Command, Outcome};

/// More arguments than any command takes.
const MAXIMUM_ARGUMENTS: usize = 16;

/// rtems_ioc_server.h: registers the commands with the RTEMS shell. Names that are taken already stay as they are.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_register_commands() {
    services::ioc();
    for command in COMMANDS {
        if let Err(why) = register(command) {
            log::error!("command {}: {why}", command.name);
        }
    }
}

/// By the function alone: the layout of the shell's own table differs between versions of RTEMS. It copies the texts,
/// which must not be NULL.
fn register(command: &Command) -> Result<(), &'static str> {
    let text = |text: &str| CString::new(text).map_err(|_| "a text with a NUL in it");
    let (name, topic, usage) = (text(command.name)?, text(command.topic)?, text(command.usage)?);
    // SAFETY: three C strings that live during the call, and a function with the signature of a shell command.
    let added =
        unsafe { rtems_sys::rtems_shell_add_cmd(name.as_ptr(), topic.as_ptr(), usage.as_ptr(), Some(run)) };
    if added.is_null() { Err("the shell did not take it") } else { Ok(()) }
}

/// The one function behind every command: the shell passes the command's name as the first argument.
unsafe extern "C" fn run(count: c_int, arguments: *mut *mut c_char) -> c_int {
    let mut words = [""; MAXIMUM_ARGUMENTS];
    let count = usize::try_from(count).unwrap_or(0).min(MAXIMUM_ARGUMENTS);
    for (index, word) in words.iter_mut().enumerate().take(count) {
        // SAFETY: the shell gives `count` pointers to C strings that live until the command returns.
        let argument = unsafe { CStr::from_ptr(*arguments.add(index)) };
        *word = argument.to_str().unwrap_or("?");
    }
    let [name, arguments @ ..] = &words[..count] else { return shell::USAGE };
    let Some(command) = COMMANDS.iter().find(|command| command.name == *name) else { return shell::USAGE };
    (command.run)(&mut Stdout, arguments)
}

/// rtems_ioc_server.h: runs one command line; its status, or -1 when there is no such command.
///
/// # Safety
/// `line` is NULL or a C string.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_command(line: *const c_char) -> c_int {
    services::ioc();
    if line.is_null() {
        return -1;
    }
    // SAFETY: not NULL by the line above, and a C string by this function's contract.
    let Ok(line) = unsafe { CStr::from_ptr(line) }.to_str() else { return -1 };
    match shell::run_line(line, &mut Stdout) {
        Outcome::Done(status) => status,
        Outcome::Nothing => shell::OK,
        Outcome::Unknown | Outcome::Exit => -1,
    }
}
