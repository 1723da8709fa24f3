// SPDX-License-Identifier: BSD-2-Clause
//! EPICS .db files: records, fields, aliases, macros.
//!
//! A file is loaded whole or not at all: the first thing that is wrong, or that cannot be done here, is an error with
//! its place and what to do about it. What has no meaning without hardware is ignored; what is ignored although it has
//! a meaning elsewhere (`info`) leaves a note.

mod assign;
mod create;
mod definitions;
mod error;
mod lexer;
mod loader;
mod macros;
mod rules;
#[cfg(test)]
mod tests;

pub use create::create;
pub use definitions::definitions;
pub use error::DbError;

use super::Database;
use alloc::string::String;
use alloc::vec::Vec;

/// What a file brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Records that were added.
    pub records: u32,
    /// Aliases that were added.
    pub aliases: u32,
    /// What was ignored, for the user to read.
    pub notes: Vec<String>,
}

/// Loads the text of a file. `file` is how messages call it; `macros` are names and values, the last of a name counts.
/// Records that are to process at the start (PINI) are stamped with the database's time.
pub fn load(
    database: &mut Database,
    file: &str,
    text: &[u8],
    macros: &[(&str, &str)],
) -> Result<Loaded, DbError> {
    let mark = database.mark();
    loader::Loader::new(database, text, macros).load().map_err(|fault| {
        database.roll_back(mark);
        DbError {
            file: String::from(file),
            line: fault.place.line,
            column: fault.place.column,
            message: fault.message,
            out_of_memory: fault.out_of_memory,
        }
    })
}
