// SPDX-License-Identifier: BSD-2-Clause
//! The process variables as the protocol asks for them.

use crate::ca::{
    Access, Acknowledge, Acknowledgement, Change, ChannelInfo, Client, Provider, PutOutcome, PvError, PvId,
};
use crate::pv::{Database, PutError, StatusSource, View};
use crate::value::{Reading, WireElements};

/// A database, and where its status values come from.
pub struct Served<S> {
    /// The records.
    pub database: Database,
    /// Asked when a status is read.
    pub source: S,
}

impl From<PutError> for PvError {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Conversion(_) => PvError::Conversion,
            PutError::ReadOnly => PvError::Access,
            PutError::Unknown => PvError::Refused,
            PutError::Memory => PvError::Memory,
        }
    }
}

impl<S: StatusSource> Provider for Served<S> {
    fn capacity(&self) -> u32 {
        self.database.len()
    }

    fn find(&self, name: &[u8]) -> Option<PvId> {
        self.database.find(name).map(|(index, view)| PvId { index, view: view.0 })
    }

    fn info(&self, pv: PvId) -> ChannelInfo {
        let info = self.database.info(pv.index, View(pv.view));
        ChannelInfo { native: info.native, max_count: info.max_count }
    }

    fn class_name(&self, pv: PvId) -> &str {
        self.database.type_name(pv.index)
    }

    fn access(&self, pv: PvId, _client: &Client<'_>) -> Access {
        Access { read: true, write: self.database.is_writable(pv.index, View(pv.view)) }
    }

    fn read<R>(&mut self, pv: PvId, visit: impl FnOnce(&Reading<'_>) -> R) -> Result<R, PvError> {
        self.database.read(pv.index, View(pv.view), &self.source, visit).ok_or(PvError::Refused)
    }

    fn put(
        &mut self,
        pv: PvId,
        put: &WireElements<'_>,
        _client: &Client<'_>,
        _completion: bool,
    ) -> Result<PutOutcome, PvError> {
        self.database.put(pv.index, View(pv.view), put)?;
        Ok(PutOutcome::Done)
    }

    fn next_change(&mut self) -> Option<Change> {
        let change = self.database.next_change()?;
        Some(Change { pv: PvId { index: change.index, view: change.view.0 }, mask: change.mask })
    }

    fn next_completion(&mut self) -> Option<(u32, Result<(), PvError>)> {
        // Every put is complete when it returns: no record here waits for anything.
        None
    }

    fn watched(&mut self, pv: PvId, watched: bool) {
        self.database.watched(pv.index, View(pv.view), watched);
    }

    fn acknowledge(&mut self, pv: PvId, what: Acknowledge, _client: &Client<'_>) -> Result<(), PvError> {
        match what {
            Acknowledge::Transient(transient) => {
                self.database.set_acknowledge_transient(pv.index, transient)?
            }
            Acknowledge::Severity(severity) => self.database.acknowledge(pv.index, severity)?,
        }
        Ok(())
    }

    fn acknowledgement(&self, pv: PvId) -> Acknowledgement {
        let (transient, severity) = self.database.acknowledgement(pv.index);
        Acknowledgement { transient, severity: severity as u16 }
    }

    fn write_name(&self, pv: PvId, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
        self.database.name(pv.index, |name| write!(out, "{}", name.escape_ascii())).unwrap_or(Ok(()))?;
        match View(pv.view).field() {
            Some(field) if pv.view != View::VALUE.0 => {
                write!(out, ".{}{}", field.name, if View(pv.view).long_text() { "$" } else { "" })
            }
            _ => Ok(()),
        }
    }
}
