// SPDX-License-Identifier: BSD-2-Clause
//! The terminal: standard output for commands, standard error for the log.

#![allow(unsafe_code)]

use std::fmt;
use std::io::{self, IsTerminal, Write};

/// Standard output as a sink of text, each piece written whole. An error (nobody reads, a full disk) is one of the write;
/// what `print!` does with it, ending the program, is for no server and no tool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output;

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        io::stdout().write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

impl Output {
    /// Shows a text, all of it now.
    ///
    /// # Errors
    /// Standard output is gone or takes no more.
    pub fn show(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    /// Shows what was written so far; whether it arrives is not of importance.
    pub fn flush(self) {
        let _ = io::stdout().flush();
    }
}

/// Says something on standard error, as far as there is one.
pub fn complain(text: impl fmt::Display) {
    let _ = write!(io::stderr().lock(), "{text}");
}

/// Somebody sits at standard input and talks to this program: in the background a read would stop the whole process.
pub fn is_interactive() -> bool {
    // SAFETY: both calls take integers at most and touch no memory of ours.
    io::stdin().is_terminal() && unsafe { libc::tcgetpgrp(0) == libc::getpgrp() }
}

/// Sends the log to standard error, one line per record.
pub fn init_log(level: log::LevelFilter) {
    // A second call keeps the first logger, which is the same.
    if log::set_logger(&StandardError).is_ok() {
        log::set_max_level(level);
    }
}

struct StandardError;

impl log::Log for StandardError {
    fn enabled(&self, _metadata: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let prefix = match record.level() {
            log::Level::Error => "error: ",
            log::Level::Warn => "warning: ",
            _ => "",
        };
        let _ = writeln!(io::stderr(), "{prefix}{}", record.args());
    }

    fn flush(&self) {}
}
