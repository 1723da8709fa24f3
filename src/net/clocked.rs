// SPDX-License-Identifier: BSD-2-Clause
//! What the event loop tells the process variables about time, which they do not look up themselves.

use super::provider::Served;
use super::status::Status;
use crate::ca::{Provider, Statistics};
use crate::os::System;
use crate::value::Stamp;

/// Process variables that live with a clock.
pub trait Clocked: Provider {
    /// The time of day with which puts are stamped from now on; comes before anything else in each turn.
    fn set_time(&mut self, now: Stamp);

    /// A second has passed: sample what changes by itself and has subscribers.
    fn second(&mut self);

    /// The server's counters, once a turn.
    fn count(&mut self, statistics: &Statistics);
}

impl<S: System> Clocked for Served<Status<S>> {
    fn set_time(&mut self, now: Stamp) {
        self.database.set_time(now);
    }

    fn second(&mut self) {
        self.source.tick();
        self.database.tick(&self.source);
    }

    fn count(&mut self, statistics: &Statistics) {
        self.source.counters().set(statistics, self.database.len());
    }
}
