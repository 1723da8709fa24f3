// SPDX-License-Identifier: BSD-2-Clause
//! One update for one subscriber, and the same bytes again for the next who asked for the same.

use super::circuits::{NoRoom, Output};
use super::monitors::Monitor;
use super::payload::{Extra, encode};
use super::wire::dbr::{Class, Dbr};
use super::wire::{Header, command, padded, status};
use crate::value::Reading;

/// Longest message that is kept for the next subscriber.
const KEPT: usize = 256;
/// Where a header has its second parameter: the subscription id.
const SUBSCRIPTION: core::ops::Range<usize> = 12..16;

/// Encodes updates of one reading.
pub(super) struct Updater {
    /// Length of the message in `bytes`; 0 for none.
    used: usize,
    /// What that message was made for.
    dbr: u8,
    count: u32,
    bytes: [u8; KEPT],
    /// Largest payload, in bytes.
    limit: u32,
}

/// This type needs more than the reading.
pub(super) fn is_rare(dbr: u8) -> bool {
    Dbr::from_code(u16::from(dbr)).is_none_or(|d| matches!(d.class, Class::StatusAck | Class::ClassName))
}

impl Updater {
    pub(super) const fn new(limit: u32) -> Self {
        Updater { used: 0, dbr: 0, count: 0, bytes: [0; KEPT], limit }
    }

    /// Forgets the last message: the next one is of another reading.
    pub(super) fn renew(&mut self) {
        self.used = 0;
    }

    /// Queues an update for `monitor`.
    #[inline]
    pub(super) fn send(
        &mut self,
        monitor: &Monitor,
        reading: &Reading<'_>,
        extra: &Extra,
        output: &mut Output,
        admits: impl FnOnce(usize) -> bool,
    ) -> Result<(), NoRoom> {
        if self.used > 0 && self.dbr == monitor.dbr && self.count == monitor.count {
            output.make_room(self.used, admits)?;
            let message = self.bytes.get(..self.used).unwrap_or(&[]);
            if let Some(place) = output.copy(message).and_then(|m| m.get_mut(SUBSCRIPTION)) {
                place.copy_from_slice(&monitor.subscription.to_be_bytes());
            }
            return Ok(());
        }
        self.encode(monitor, reading, extra, output, admits)
    }

    fn encode(
        &mut self,
        monitor: &Monitor,
        reading: &Reading<'_>,
        extra: &Extra,
        output: &mut Output,
        admits: impl FnOnce(usize) -> bool,
    ) -> Result<(), NoRoom> {
        let Some(dbr) = Dbr::from_code(u16::from(monitor.dbr)) else { return Ok(()) };
        let count = if monitor.count == 0 { reading.elements.len() as u32 } else { monitor.count };
        let header = header_of(monitor, dbr, count, status::NORMAL);
        if header.payload > self.limit {
            return self.fail(monitor, status::TOLARGE, output, admits);
        }
        let size = header.wire_size() + header.payload as usize;
        output.make_room(size, admits)?;
        self.used = 0;
        if let Some(kept) = self.bytes.get_mut(..size) {
            header.emit(kept);
            let body = kept.get_mut(header.wire_size()..).unwrap_or(&mut []);
            if encode(dbr, count, reading, extra, body).is_ok() {
                output.copy(kept);
                (self.used, self.dbr, self.count) = (size, monitor.dbr, monitor.count);
                return Ok(());
            }
        } else if let Some(place) = output.message(header) {
            if encode(dbr, count, reading, extra, place).is_ok() {
                return Ok(());
            }
            output.take_back(size);
        }
        self.fail(monitor, status::GETFAIL, output, |_| false)
    }

    /// Queues an update that says why there is no value: zeros, so that a client that uses them all the same is not
    /// misled.
    pub(super) fn fail(
        &mut self,
        monitor: &Monitor,
        status: u32,
        output: &mut Output,
        admits: impl FnOnce(usize) -> bool,
    ) -> Result<(), NoRoom> {
        let Some(dbr) = Dbr::from_code(u16::from(monitor.dbr)) else { return Ok(()) };
        let mut header = header_of(monitor, dbr, monitor.count, status);
        if header.payload > self.limit {
            header = header_of(monitor, dbr, 0, status);
        }
        output.make_room(header.wire_size() + header.payload as usize, admits)?;
        if let Some(place) = output.message(header) {
            place.fill(0);
        }
        Ok(())
    }
}

/// Never without payload: that is how a cancelled subscription is confirmed.
fn header_of(monitor: &Monitor, dbr: Dbr, count: u32, status: u32) -> Header {
    let size = dbr.size(count).max(1);
    let payload = if size == u32::MAX { size } else { padded(size as usize) as u32 };
    Header::new(command::EVENT_ADD)
        .typed(u16::from(monitor.dbr), count)
        .ids(status, monitor.subscription)
        .with_payload(payload)
}
