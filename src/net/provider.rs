// SPDX-License-Identifier: BSD-2-Clause
//! The process variables as the protocol asks for them: records, the application behind some of them, and who may do what.

use core::fmt::Write as _;

use crate::app::{Application, Ended, PutResult};
use crate::ca::{
    Access, Acknowledge, Acknowledgement, Change, ChannelInfo, Client, Notice, Provider, PutOutcome, PvError,
    PvId,
};
use crate::pv::{Database, PutError, StatusSource, View};
use crate::security::{Level, Outcome, Put, PutLog, Security, Subject};
use crate::value::convert::format::Cursor;
use crate::value::convert::{decode, encode};
use crate::value::{Elements, Metadata, NativeType, Reading, Text, WireElements};

/// A database, and what belongs to it.
pub struct Served<S> {
    /// The records.
    pub database: Database,
    /// Asked when a status is read.
    pub source: S,
    /// The records that are the application's.
    pub application: Application,
    /// Who may do what.
    pub security: Security,
    /// Puts that were logged.
    pub put_log: PutLog,
}

impl<S> Served<S> {
    /// Records that everybody may read and write; so many puts can be kept in the log.
    pub fn new(database: Database, source: S, logged_puts: usize) -> Self {
        Served {
            database,
            source,
            application: Application::new(),
            security: Security::default(),
            put_log: PutLog::with_capacity(logged_puts),
        }
    }
}

impl From<PutError> for PvError {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Conversion(_) => PvError::Conversion,
            PutError::ReadOnly => PvError::Access,
            PutError::Unknown | PutError::Refused => PvError::Refused,
            PutError::Busy => PvError::Busy,
            PutError::Memory => PvError::Memory,
        }
    }
}

impl<S: StatusSource> Served<S> {
    fn put_value(
        &mut self,
        pv: PvId,
        put: &WireElements<'_>,
        client: &Client<'_>,
        completion: bool,
    ) -> Result<PutResult, PvError> {
        let view = View(pv.view);
        if self.application.is_empty() || !self.database.is_application(pv.index) {
            self.database.put(pv.index, view, put)?;
            return Ok(PutResult::Done);
        }
        let who = (client.user, client.host, client.address);
        Ok(self.application.put(&mut self.database, pv.index, view, put, who, completion)?)
    }

    /// What a put brought, as the record would show it; of an array the first element, and CHAR as the text that it is.
    fn put_as_text(&mut self, pv: PvId, put: &WireElements<'_>) -> Text {
        if put.from == NativeType::Char && put.count > 1 {
            return Text::truncated(put.bytes).0;
        }
        let one = WireElements { count: put.count.min(1), ..*put };
        let mut text = [Text::EMPTY];
        // What does not convert stays empty.
        let _ = self.read(pv, |reading| decode(&one, reading.metadata, &mut text).is_ok());
        text[0]
    }

    /// The current value as text, of an array its first element.
    fn shown(&mut self, pv: PvId) -> Text {
        self.read(pv, |reading| first_as_text(&reading.elements, reading.metadata)).unwrap_or(Text::EMPTY)
    }

    #[cold]
    fn logged_put(
        &mut self,
        pv: PvId,
        put: &WireElements<'_>,
        client: &Client<'_>,
        completion: bool,
    ) -> Result<PutResult, PvError> {
        let mut entry = self.log_entry(pv, client);
        let result = self.put_value(pv, put, client, completion);
        entry.new = match result {
            Ok(PutResult::Done) => self.shown(pv),
            _ => self.put_as_text(pv, put),
        };
        entry.outcome = match result {
            Ok(PutResult::Done) => Outcome::Done,
            Ok(PutResult::Later(token)) => Outcome::Pending(token),
            Err(_) => Outcome::Failed,
        };
        self.put_log.add(entry);
        result
    }

    /// What is known before the put, with the value as it is.
    fn log_entry(&mut self, pv: PvId, client: &Client<'_>) -> Put {
        let who = Subject { user: client.user, host: client.host, address: client.address };
        let time = self.database.time();
        let mut entry = Put::new(time, &who, client.port, |out| self.write_name(pv, out));
        self.refresh(pv);
        entry.old = self.shown(pv);
        entry
    }
}

fn first_as_text(elements: &Elements<'_>, metadata: &Metadata<'_>) -> Text {
    if let Elements::Char(chars) = elements
        && chars.len() > 1
    {
        return Text::truncated(chars).0;
    }
    let mut bytes = [0; Text::SIZE];
    // What does not convert stays empty.
    let _ = encode(elements, metadata, NativeType::String, &mut bytes);
    Text::truncated(&bytes).0
}

/// What an acknowledgement concerns, with its value.
fn numbered(field: &str, value: u16) -> Text {
    Text::written(|bytes| {
        // It fits.
        let _ = write!(Cursor::new(bytes), "{field} {value}");
    })
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

    fn access(&self, pv: PvId, client: &Client<'_>) -> Access {
        let view = View(pv.view);
        let level = if view.number() == View::VALUE.number() { Level::Value } else { Level::Field };
        let who = Subject { user: client.user, host: client.host, address: client.address };
        let granted = self.security.granted(self.database.group_name(pv.index), level, &who);
        Access {
            read: granted.read,
            write: granted.write && self.database.is_writable(pv.index, view),
            logged: granted.logged,
        }
    }

    #[inline]
    fn refresh(&mut self, pv: PvId) {
        if !self.application.is_empty() && self.database.is_application(pv.index) {
            self.application.refresh(pv.index, &mut self.database);
        }
    }

    #[inline]
    fn read<R>(&mut self, pv: PvId, visit: impl FnOnce(&Reading<'_>) -> R) -> Result<R, PvError> {
        self.database.read(pv.index, View(pv.view), &self.source, visit).ok_or(PvError::Refused)
    }

    fn put(
        &mut self,
        pv: PvId,
        put: &WireElements<'_>,
        client: &Client<'_>,
        completion: bool,
    ) -> Result<PutOutcome, PvError> {
        let result = if client.logged {
            self.logged_put(pv, put, client, completion)
        } else {
            self.put_value(pv, put, client, completion)
        };
        match result? {
            PutResult::Later(token) if completion => Ok(PutOutcome::Later(token)),
            // Nobody is told when it ends; the log sees it all the same.
            PutResult::Later(_) | PutResult::Done => Ok(PutOutcome::Done),
        }
    }

    #[cold]
    fn denied(&mut self, pv: PvId, put: Option<&WireElements<'_>>, client: &Client<'_>) {
        let mut entry = self.log_entry(pv, client);
        entry.new = put.map_or(Text::EMPTY, |put| self.put_as_text(pv, put));
        self.put_log.add(entry);
    }

    fn next_change(&mut self) -> Option<Change> {
        let change = self.database.next_change()?;
        Some(Change { pv: PvId { index: change.index, view: change.view.0 }, mask: change.mask })
    }

    fn next_completion(&mut self) -> Option<(u32, Result<(), PvError>)> {
        loop {
            let Ended { token, succeeded, waits } = self.application.next_completion()?;
            self.put_log.ended(token, succeeded);
            if waits {
                return Some((token, if succeeded { Ok(()) } else { Err(PvError::Refused) }));
            }
        }
    }

    fn watched(&mut self, pv: PvId, watched: bool) {
        self.database.watched(pv.index, View(pv.view), watched);
    }

    fn acknowledge(&mut self, pv: PvId, what: Acknowledge, client: &Client<'_>) -> Result<(), PvError> {
        let entry = client.logged.then(|| {
            let mut entry = self.log_entry(pv, client);
            let (transient, severity) = self.database.acknowledgement(pv.index);
            (entry.old, entry.new) = match what {
                Acknowledge::Transient(new) => {
                    (numbered("ACKT", transient.into()), numbered("ACKT", new.into()))
                }
                Acknowledge::Severity(new) => (numbered("ACKS", severity as u16), numbered("ACKS", new)),
            };
            entry
        });
        let result = match what {
            Acknowledge::Transient(transient) => self.database.set_acknowledge_transient(pv.index, transient),
            Acknowledge::Severity(severity) => self.database.acknowledge(pv.index, severity),
        };
        if let Some(mut entry) = entry {
            entry.outcome = if result.is_ok() { Outcome::Done } else { Outcome::Failed };
            self.put_log.add(entry);
        }
        Ok(result?)
    }

    fn acknowledgement(&self, pv: PvId) -> Acknowledgement {
        let (transient, severity) = self.database.acknowledgement(pv.index);
        Acknowledgement { transient, severity: severity as u16 }
    }

    fn next_notice(&mut self) -> Option<Notice> {
        // Both are forgotten here, whichever of them it was.
        let changed = self.security.take_change() | self.database.take_group_change();
        changed.then_some(Notice::Access)
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
