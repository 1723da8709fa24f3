// SPDX-License-Identifier: BSD-2-Clause
//! Linux.

pub mod rtex;
