// SPDX-License-Identifier: BSD-2-Clause
//! The hosted program.
fn main() {}
