// SPDX-License-Identifier: BSD-2-Clause
//! What the event loop tells the process variables about time, which they do not look up themselves.

use super::provider::Served;
use super::status::Status;
use crate::ca::{Provider, Statistics};
use crate::os::System;
use crate::value::Stamp;

/// Process variables that live with a clock.
pub trait Clocked: Provider {
    /// A turn begins: the time of day with which puts are stamped from now on, and the time of the event loop's clock in
    /// milliseconds.
    fn begin_turn(&mut self, now: Stamp, now_ms: u64);

    /// When the next turn has something to do though nothing else has happened, on the event loop's clock.
    fn deadline(&self) -> Option<u64> {
        None
    }

    /// A second has passed: sample what changes by itself and has subscribers.
    fn second(&mut self);

    /// The server's counters, once a turn.
    fn count(&mut self, statistics: &Statistics);
}

impl<S: System> Clocked for Served<Status<S>> {
    fn begin_turn(&mut self, now: Stamp, now_ms: u64) {
        self.database.set_time(now);
        self.put_log.begin_turn(now_ms);
        self.application.begin_turn(&mut self.database, now_ms);
    }

    fn deadline(&self) -> Option<u64> {
        self.application.deadline()
    }

    fn second(&mut self) {
        self.source.tick();
        self.database.tick(&self.source);
    }

    fn count(&mut self, statistics: &Statistics) {
        self.source.counters().set(statistics, self.database.len());
    }
}
