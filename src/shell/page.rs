// SPDX-License-Identifier: BSD-2-Clause
//! Text made while a server is held, printed when it is released.

use alloc::string::String;
use core::fmt;

/// Collects text. When memory runs out the rest is left out, and the end says so.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    cut: bool,
}

impl Page {
    /// Prints what was collected.
    pub fn print(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        out.write_str(&self.text)?;
        if self.cut { out.write_str("... (no memory for the rest)\n") } else { Ok(()) }
    }

    /// Bytes collected.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Nothing collected.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl fmt::Write for Page {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut || self.text.try_reserve(text.len()).is_err() {
            self.cut = true;
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}
