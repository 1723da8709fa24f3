// SPDX-License-Identifier: BSD-2-Clause
//! The .db files of the command line and their macros.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use rtems_ioc::pv::{Database, db};

use super::Failure;

/// Loads them in turn; what a file ignores is logged.
pub fn load(database: &mut Database, files: &[PathBuf], definitions: &[String]) -> Result<(), Failure> {
    let macros = macros(definitions)?;
    for file in files {
        let name = file.display().to_string();
        let text = fs::read(file).map_err(|error| {
            Failure::new(format_args!(
                "--db {name}: {error}{}",
                remedy(error.kind() == ErrorKind::OutOfMemory)
            ))
        })?;
        let loaded = db::load(database, &name, &text, &macros)
            .map_err(|error| Failure::new(format_args!("{error}{}", remedy(error.out_of_memory))))?;
        for note in &loaded.notes {
            log::warn!("{note}");
        }
    }
    Ok(())
}

/// What to do when memory ran out.
fn remedy(out_of_memory: bool) -> &'static str {
    if out_of_memory { "; give a larger --pool" } else { "" }
}

/// `A=1,B=2`, any number of times; the last of a name counts.
fn macros(definitions: &[String]) -> Result<Vec<(&str, &str)>, Failure> {
    let definitions = definitions.iter().flat_map(|text| db::definitions(text));
    definitions
        .map(|definition| {
            definition.map_err(|text| {
                Failure::new(format_args!("--macro {text}: give NAME=VALUE, several separated by commas"))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_pairs() {
        let given = ["A=1, B = x=y".to_owned(), "C=,".to_owned()];
        assert_eq!(macros(&given).ok(), Some(vec![("A", "1"), ("B", "x=y"), ("C", "")]));
        assert!(macros(&["A".to_owned()]).is_err());
        assert!(macros(&["=1".to_owned()]).is_err());
    }
}
