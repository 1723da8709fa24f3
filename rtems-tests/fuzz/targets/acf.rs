// SPDX-License-Identifier: BSD-2-Clause
//! libFuzzer's entry to the body of the same name.
#![no_main]

#[path = "../bodies/acf.rs"]
mod acf;

libfuzzer_sys::fuzz_target!(|input: &[u8]| acf::run(input));
