// SPDX-License-Identifier: BSD-2-Clause
//! libFuzzer's entry to the body of the same name.
#![no_main]

#[path = "../bodies/datagram.rs"]
mod datagram;
#[path = "../bodies/served.rs"]
mod served;

libfuzzer_sys::fuzz_target!(|input: &[u8]| datagram::run(input));
