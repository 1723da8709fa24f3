// SPDX-License-Identifier: BSD-2-Clause
//! Text of .db files: it is loaded whole or not at all, and an error names a place in the text.
use rtems_ioc::pv::{Database, db};

/// One input.
pub fn run(text: &[u8]) {
    let mut database = Database::new();
    match db::load(&mut database, "fuzz.db", text, &[("P", "fuzz:"), ("EMPTY", "")]) {
        Ok(loaded) => assert_eq!(loaded.records, database.len()),
        Err(error) => {
            assert!(database.is_empty());
            assert!(
                error.line >= 1 && error.line as usize <= text.iter().filter(|&&b| b == b'\n').count() + 1
            );
            assert!(!error.message.is_empty());
        }
    }
}
