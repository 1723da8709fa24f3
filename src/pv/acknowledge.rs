// SPDX-License-Identifier: BSD-2-Clause
//! Acknowledgement of alarms, as DBR_PUT_ACKT and DBR_PUT_ACKS ask for it.

use super::database::{Database, Place};
use super::field::Store;
use super::record::{Record, flag};
use super::{PutError, View};
use crate::value::{EventMask, Severity};

const BOTH: EventMask = EventMask::VALUE.union(EventMask::ALARM);

impl Database {
    fn own_record(&mut self, index: u32) -> Result<&mut Record, PutError> {
        match self.place(index) {
            Some(Place::Record(position)) => self.records.get_mut(position).ok_or(PutError::Unknown),
            Some(Place::Member(..)) => Err(PutError::ReadOnly),
            None => Err(PutError::Unknown),
        }
    }

    /// Acknowledges an alarm up to a severity: one that is higher stays unacknowledged.
    pub fn acknowledge(&mut self, index: u32, severity: u16) -> Result<(), PutError> {
        let record = self.own_record(index)?;
        if severity >= record.unacknowledged as u16 {
            record.unacknowledged = Severity::None;
            self.post_field(index, Store::AckSeverity, BOTH);
            self.post_alarm(index);
        }
        Ok(())
    }

    /// Whether an alarm that has passed must still be acknowledged.
    pub fn set_acknowledge_transient(&mut self, index: u32, transient: bool) -> Result<(), PutError> {
        let record = self.own_record(index)?;
        if record.has(flag::NO_TRANSIENT_ACK) != transient {
            return Ok(());
        }
        record.set_flag(flag::NO_TRANSIENT_ACK, !transient);
        let passed = !transient && record.unacknowledged > record.alarm.severity;
        if passed {
            record.unacknowledged = record.alarm.severity;
        }
        self.post_field(index, Store::AckTransient, BOTH);
        if passed {
            self.post_field(index, Store::AckSeverity, BOTH);
        }
        self.post_alarm(index);
        Ok(())
    }

    /// Whether passed alarms must still be acknowledged, and the highest severity that has not been.
    pub fn acknowledgement(&self, index: u32) -> (bool, Severity) {
        match self.place(index) {
            Some(Place::Record(position)) => {
                let record = &self.records[position];
                (!record.has(flag::NO_TRANSIENT_ACK), record.unacknowledged)
            }
            _ => (true, Severity::None),
        }
    }

    /// Subscribers to alarms of any view hear of an acknowledgement.
    fn post_alarm(&mut self, index: u32) {
        self.post(index, View::VALUE.number(), EventMask::ALARM);
        self.watches.post(index, EventMask::ALARM, |_| true);
    }
}
