// SPDX-License-Identifier: BSD-2-Clause
//! Definitions of macros as people give them: `A=1,B=2`.

/// Names and values, blanks around them removed; the last of a name counts. What is no definition is an error.
pub fn definitions(text: &str) -> impl Iterator<Item = Result<(&str, &str), &str>> {
    text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(|pair| match pair.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim(), value.trim())),
        _ => Err(pair),
    })
}
