// SPDX-License-Identifier: BSD-2-Clause
//! EPICS's access security configuration files, the part of them that needs no records:
//!
//! ```text
//!  UAG(operators) { ann, bob }
//!  HAG(control) { console1, 192.168.1.7 }          # claimed name, or the address that a client comes from
//!  ASG(DEFAULT) {
//!      RULE(1, READ)
//!      RULE(0, WRITE, TRAPWRITE) { UAG(operators) HAG(control) }
//!  }
//! ```
//!
//! What needs records (INPA to INPU, CALC) and what this version of the language has beyond that is an error that names
//! it: rules that were half understood would let in whom they should not. A file is taken whole or not at all.

mod lexer;
mod parser;
#[cfg(test)]
mod tests;

use super::Rules;
use alloc::string::String;
use core::fmt;

/// Turns a host name into an address.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Option<u32>;

/// The first thing wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcfError {
    /// As the caller names the file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl fmt::Display for AcfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl core::error::Error for AcfError {}

/// Parses the text of a file; `file` is how messages call it. With `by_address` host names are resolved now, and the
/// address that a client comes from counts instead of the name that it claims (EPICS's asCheckClientIP).
pub fn parse(file: &str, text: &[u8], by_address: Option<Resolve<'_>>) -> Result<Rules, AcfError> {
    parser::Parser::new(text, by_address).parse().map_err(|fault| AcfError {
        file: String::from(file),
        line: fault.line,
        message: fault.message,
    })
}
