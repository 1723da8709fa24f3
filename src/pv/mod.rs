// SPDX-License-Identifier: BSD-2-Clause
//! The process variables that the server serves.
