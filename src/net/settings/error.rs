// SPDX-License-Identifier: BSD-2-Clause
//! A setting that cannot be used, with its remedy.

use alloc::string::String;
use core::fmt;

/// Names the variable, what it holds and what it should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// The environment variable (or option).
    pub variable: &'static str,
    /// The part of its value that is wrong.
    pub value: String,
    /// What to give instead.
    pub remedy: &'static str,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: \"{}\": {}", self.variable, self.value.escape_debug(), self.remedy)
    }
}

impl core::error::Error for SettingError {}
