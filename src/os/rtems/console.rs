// SPDX-License-Identifier: BSD-2-Clause
//! Text out of the image: the stdout of the calling task for commands, the kernel's console for the log.

#![allow(unsafe_code)]

use core::ffi::c_char;
use core::fmt::{self, Write};

unsafe extern "C" {
    /// console.h
    fn rtems_ioc_stdout_write(text: *const c_char, length: usize);
    /// console.h
    fn rtems_ioc_stdout_flush();
    /// console.h
    fn rtems_ioc_log_line(text: *const c_char);
}

/// The standard output of the calling task; the RTEMS shell gives each command its own.
pub struct Stdout;

impl Write for Stdout {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: pointer and length describe `text`, which is only read during the call.
        unsafe { rtems_ioc_stdout_write(text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

impl Drop for Stdout {
    fn drop(&mut self) {
        // SAFETY: takes nothing.
        unsafe { rtems_ioc_stdout_flush() };
    }
}

/// The most bytes of a log line that are shown.
const LINE_BYTES: usize = 160;

/// A line on the stack with room for its NUL.
struct Line {
    bytes: [u8; LINE_BYTES],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.iter_mut().take(LINE_BYTES - 1).skip(self.length);
        let mut written = 0;
        for (slot, &byte) in room.zip(text.as_bytes()) {
            *slot = byte;
            written += 1;
        }
        self.length += written;
        Ok(())
    }
}

/// The log of the package on the console.
struct Console;

impl log::Log for Console {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Info
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut line = Line { bytes: [0; LINE_BYTES], length: 0 };
        // A line that is too long is cut.
        let _ = write!(line, "{}: {}", record.level(), record.args());
        // SAFETY: `Line` never fills its last byte, so the text ends with a NUL.
        unsafe { rtems_ioc_log_line(line.bytes.as_ptr().cast()) };
    }

    fn flush(&self) {}
}

/// Sends the log to the console. Once is enough; more do nothing.
pub fn start_log() {
    if log::set_logger(&Console).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
}
