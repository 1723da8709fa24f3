// SPDX-License-Identifier: BSD-2-Clause
//! What is wrong with a .db file, and where.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

/// The most bytes of the file that a message quotes.
const QUOTED: usize = 60;

/// The first thing wrong with a file; nothing of the file was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DbError {
    /// As the caller names the file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// In bytes, from 1.
    pub column: u32,
    /// What is wrong and what to do about it.
    pub message: Cow<'static, str>,
    /// Nothing is wrong with the file, but memory ran out: with more of it, it may load.
    pub out_of_memory: bool,
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl core::error::Error for DbError {}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A message without its file, at a place.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) place: Place,
    pub(super) message: Cow<'static, str>,
    pub(super) out_of_memory: bool,
}

impl Fault {
    /// Memory ran out. Takes none for saying so.
    pub(super) fn out_of_memory(place: Place) -> Fault {
        Fault { place, message: Cow::Borrowed("out of memory"), out_of_memory: true }
    }
}

/// Bytes of the file in a message: escaped, cut, in quotes.
pub(super) struct Quoted<'a>(pub(super) &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(QUOTED)];
        let more = if shown.len() < self.0.len() { "..." } else { "" };
        match core::str::from_utf8(shown) {
            Ok(text) if !text.contains(|c: char| c.is_control() || c == '"') => write!(f, "\"{text}{more}\""),
            _ => write!(f, "\"{}{more}\"", shown.escape_ascii()),
        }
    }
}

/// Makes a [`Fault`] with a formatted message.
macro_rules! fault {
    ($place:expr, $($message:tt)*) => {
        $crate::pv::db::error::Fault {
            place: $place,
            message: alloc::format!($($message)*).into(),
            out_of_memory: false,
        }
    };
}
pub(super) use fault;
