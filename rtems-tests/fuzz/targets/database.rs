// SPDX-License-Identifier: BSD-2-Clause
//! libFuzzer's entry to the body of the same name.
#![no_main]

#[path = "../bodies/database.rs"]
mod database;

libfuzzer_sys::fuzz_target!(|input: &[u8]| database::run(input));
