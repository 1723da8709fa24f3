// SPDX-License-Identifier: BSD-2-Clause
//! Scripted conversations with the server: what a client sends, and the very bytes that it gets.

mod acceptance;
mod circuits;
mod harness;
mod limits;
mod monitors;
mod properties;
mod requests;
mod searches;
mod writes;
