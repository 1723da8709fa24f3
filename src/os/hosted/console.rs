// SPDX-License-Identifier: BSD-2-Clause
//! The terminal: standard output for commands, standard error for the log.

#![allow(unsafe_code)]

use std::fmt;
use std::io::{self, IsTerminal, Write};

/// Standard output as a sink of the shell's commands. Errors (a closed pipe) are reported by the next write.
#[derive(Debug, Default)]
pub struct Output;

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        io::stdout().write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

impl Output {
    /// Shows what was written so far.
    pub fn flush(&self) {
        let _ = io::stdout().flush();
    }
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
