// SPDX-License-Identifier: BSD-2-Clause
//! What the application holds of a process variable.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};

use super::completions::PutToken;
use super::shared::Shared;
use super::slot::{Head, Slot};
use super::update::{Laid, New, SetError};
use crate::pv::Kind;
use crate::value::{Alarm, Stamp};

/// One process variable of the application, as both sides know it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) slot: Slot,
    pub(super) kind: Kind,
    /// Its place among the application's process variables.
    pub(super) number: usize,
    pub(super) shared: Arc<Shared>,
    /// It was deleted.
    pub(super) deleted: AtomicBool,
}

/// A process variable of the application. Clones name the same one; any task may use any of them.
#[derive(Clone, Debug)]
pub struct Pv(pub(super) Arc<Entry>);

impl Pv {
    /// Sets the value, from any task, without waiting: the server takes the newest one and stamps it with its time.
    #[inline]
    pub fn set<'a>(&self, value: impl Into<New<'a>>) -> Result<(), SetError> {
        self.set_with(value, Alarm::NONE, None)
    }

    /// The same with an alarm that the application raises (the record's own limits may raise a worse one) and the time
    /// for which the value holds.
    #[inline]
    pub fn set_with<'a>(
        &self,
        value: impl Into<New<'a>>,
        alarm: Alarm,
        stamp: Option<Stamp>,
    ) -> Result<(), SetError> {
        let entry = &*self.0;
        if entry.deleted.load(Ordering::Relaxed) {
            return Err(SetError::Deleted);
        }
        let (laid, length) = Laid::new(entry.kind, value.into())?;
        entry
            .slot
            .write(&Head { alarm, stamp, length }, |words| laid.write(words))
            .map_err(|_| SetError::Busy)?;
        entry.shared.news.mark(entry.number);
        entry.shared.call();
        Ok(())
    }

    /// Ends a put whose handler answered [`super::Answer::Later`], from any task, without waiting. With success the
    /// record takes the value that the client put. False: there is no such put, or it has ended.
    pub fn complete(&self, token: PutToken, succeeded: bool) -> bool {
        self.0.shared.complete(token, succeeded)
    }

    /// It was deleted: sets are refused.
    pub fn is_deleted(&self) -> bool {
        self.0.deleted.load(Ordering::Relaxed)
    }
}
