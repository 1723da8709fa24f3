// SPDX-License-Identifier: BSD-2-Clause
//! `rtems-ioc netcheck HOST`: measures the network to a board that runs `tcpecho`, judges and draws.
//!
//! Three questions find most faults: how fast is each way alone, how fast are both together, and how long does a message of
//! each size take? [`measure()`] asks them of the echo, discard and source services, [`judge()`] turns the
//! answers into a verdict with its evidence (pure, so that every rule has its test), and the rest shows them.

mod acks;
mod chart;
mod command;
mod flow;
mod measure;
mod measurements;
mod report;
mod round_trips;
mod verdict;

pub use command::Command;
pub use flow::Amount;
pub use measure::{Progress, measure};
pub use measurements::{Flow, Measurements, RoundTrips, Series};
pub use verdict::{Fault, Verdict, judge};
