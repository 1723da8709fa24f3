// SPDX-License-Identifier: BSD-2-Clause
//! The server's side: which records are the application's, what is taken from its slots, what is asked of it.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use super::handle::{Entry, Pv};
use super::host::Puts;
use super::news::MAX_PVS;
use super::puts::{Answer, Handler, Pending, PutHandler, PutRequest};
use super::shared::{Ring, Shared};
use super::slot::Slot;
use super::update::unpack;
use crate::pv::{Database, Incoming, Kind, PutError, View, db};
use crate::value::WireElements;

/// While values keep coming, the server takes them so often, in milliseconds; what comes in between replaces what was.
const UPDATE_MS: u64 = 1;

/// Why a process variable could not be created, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateError(pub Cow<'static, str>);

impl fmt::Display for CreateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for CreateError {}

fn refused(text: &'static str) -> CreateError {
    CreateError(Cow::Borrowed(text))
}

/// A record that is the application's.
struct Bound {
    entry: Arc<Entry>,
    index: u32,
    handler: Handler,
}

/// What became of a put.
pub enum PutResult {
    /// The record has it.
    Done,
    /// It ends with this token, which [`Application::next_completion`] will name, whether the client waits or not.
    Later(u32),
}

/// A put that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// As [`PutResult::Later`] named it.
    pub token: u32,
    /// The record has the value.
    pub succeeded: bool,
    /// The client waits for it.
    pub waits: bool,
}

/// See the module's description.
pub struct Application {
    shared: Arc<Shared>,
    /// By number.
    bound: Vec<Option<Bound>>,
    /// Record indices with their numbers, sorted.
    numbers: Vec<(u32, u16)>,
    /// For the bytes of the largest value.
    scratch: Vec<u8>,
    pending: Vec<Pending>,
    /// Puts that have ended, of which the log and the clients that wait have not been told.
    ended: Vec<Ended>,
    /// Values have come lately: when to look again without being called.
    look_at: Option<u64>,
}

impl Default for Application {
    fn default() -> Self {
        Self::new()
    }
}

impl Application {
    /// Without process variables.
    pub fn new() -> Self {
        Application {
            shared: Arc::new(Shared::new()),
            bound: Vec::new(),
            numbers: Vec::new(),
            scratch: Vec::new(),
            pending: Vec::new(),
            ended: Vec::new(),
            look_at: None,
        }
    }

    /// Through what puts are ended.
    pub fn puts(&self) -> Puts {
        Puts(Arc::clone(&self.shared))
    }

    /// Says how the server is called when it waits; the first one counts.
    pub fn set_bell(&self, bell: Arc<dyn Ring>) {
        self.shared.set_bell(bell);
    }

    /// Creates a record of the application: `fields` are names and values as in a .db file.
    pub fn create(
        &mut self,
        database: &mut Database,
        type_: &str,
        name: &str,
        fields: &[(&str, &str)],
        handler: Option<Box<dyn PutHandler>>,
    ) -> Result<Pv, CreateError> {
        let index = db::create(database, type_, name, fields).map_err(CreateError)?;
        self.bind(database, index, handler).inspect_err(|_| {
            database.remove(index);
        })
    }

    /// Makes a record that a .db file has created the application's.
    pub fn open(
        &mut self,
        database: &mut Database,
        name: &str,
        handler: Option<Box<dyn PutHandler>>,
    ) -> Result<Pv, CreateError> {
        match database.find(name.as_bytes()) {
            Some((index, View::VALUE)) => self.bind(database, index, handler),
            _ => Err(refused("there is no such record")),
        }
    }

    fn bind(&mut self, database: &mut Database, index: u32, handler: Handler) -> Result<Pv, CreateError> {
        const NO_MEMORY: &str = "out of memory";
        let at = match self.numbers.binary_search_by_key(&index, |(index, _)| *index) {
            Ok(_) => return Err(refused("it is the application's already")),
            Err(at) => at,
        };
        let kind = database
            .application_kind(index)
            .ok_or_else(|| refused("this record has its value from elsewhere"))?;
        let number = match self.bound.iter().position(Option::is_none) {
            Some(number) => number,
            None if self.bound.len() < MAX_PVS => {
                self.bound.try_reserve(1).map_err(|_| refused(NO_MEMORY))?;
                self.bound.push(None);
                self.bound.len() - 1
            }
            None => return Err(refused("as many as there may be")),
        };
        self.numbers.try_reserve(1).map_err(|_| refused(NO_MEMORY))?;
        let more = kind.bytes().saturating_sub(self.scratch.len());
        self.scratch.try_reserve(more).map_err(|_| refused(NO_MEMORY))?;
        self.scratch.resize(self.scratch.len() + more, 0);
        let slot = Slot::new(kind.bytes().div_ceil(size_of::<u32>())).map_err(|_| refused(NO_MEMORY))?;
        let entry = Arc::new(Entry {
            slot,
            kind,
            number,
            shared: Arc::clone(&self.shared),
            deleted: AtomicBool::new(false),
        });
        database.set_application(index, true);
        self.numbers.insert(at, (index, number as u16));
        if let Some(place) = self.bound.get_mut(number) {
            *place = Some(Bound { entry: Arc::clone(&entry), index, handler });
        }
        Ok(Pv(entry))
    }

    /// Deletes a record of the application; its index, of which the server has to be told. Puts that have not ended fail.
    pub fn delete(&mut self, database: &mut Database, pv: &Pv) -> Option<u32> {
        let number = pv.0.number;
        let bound = self.bound.get_mut(number)?.take_if(|bound| Arc::ptr_eq(&bound.entry, &pv.0))?;
        bound.entry.deleted.store(true, Ordering::Relaxed);
        self.numbers.retain(|(index, _)| *index != bound.index);
        for pending in self.pending.extract_if(.., |pending| pending.index == bound.index) {
            self.shared.completions.forget(pending.token);
            self.ended.push(Ended { token: pending.token.0, succeeded: false, waits: pending.waits });
        }
        database.remove(bound.index);
        Some(bound.index)
    }

    fn of_record(&self, index: u32) -> Option<usize> {
        let at = self.numbers.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        self.numbers.get(at).map(|(_, number)| usize::from(*number))
    }

    /// At the start of a turn: takes what has come, as often as the update period allows.
    pub fn begin_turn(&mut self, database: &mut Database, now_ms: u64) {
        let due = match self.look_at {
            Some(at) => now_ms >= at,
            None => self.shared.is_called(),
        };
        if !due {
            return;
        }
        if self.take_all(database) {
            self.look_at = Some(now_ms + UPDATE_MS);
            return;
        }
        // Nothing has come for a while: whoever sets next has to call, and who just did is seen here.
        self.shared.listen();
        self.look_at = self.take_all(database).then_some(now_ms + UPDATE_MS);
    }

    /// When [`Application::begin_turn`] has something to look for without being called.
    pub fn deadline(&self) -> Option<u64> {
        self.look_at
    }

    /// Takes everything that has come; true if there was anything.
    fn take_all(&mut self, database: &mut Database) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut any = shared.news.drain(|number| self.take(number, database));
        shared.completions.drain(|token, succeeded| {
            any = true;
            self.end_put(token.0, succeeded, database);
        });
        any
    }

    /// Takes the newest value of one slot into its record.
    fn take(&mut self, number: usize, database: &mut Database) {
        let Application { bound, scratch, .. } = self;
        let Some(Some(Bound { entry, index, .. })) = bound.get(number) else { return };
        entry.slot.take(|head, words| {
            let length = head.length as usize;
            let (from, count, used) = match entry.kind {
                Kind::Text(_) => (None, head.length, length),
                Kind::Array(native, _) => (Some(native), head.length, length * native.size()),
                kind => (kind.native(), 1, kind.bytes()),
            };
            let Some(bytes) = scratch.get_mut(..used) else { return };
            unpack(words, bytes);
            let incoming = Incoming { from, count, bytes, alarm: head.alarm, stamp: head.stamp };
            // Its type and size were checked when it was set.
            let _ = database.set_from_application(*index, &incoming);
        });
    }

    /// Before a record of the application is read: what was set last counts.
    pub fn refresh(&mut self, index: u32, database: &mut Database) {
        if let Some(number) = self.of_record(index) {
            self.take(number, database);
        }
    }

    /// A client's put to a record of the application: asks its handler.
    pub fn put(
        &mut self,
        database: &mut Database,
        index: u32,
        view: View,
        put: &WireElements<'_>,
        client: (&[u8], &[u8], u32),
        waits: bool,
    ) -> Result<PutResult, PutError> {
        self.refresh(index, database);
        let number = self.of_record(index);
        let bound = number.and_then(|number| self.bound.get_mut(number)).and_then(Option::as_mut);
        let handler =
            bound.and_then(|bound| bound.handler.as_mut()).filter(|_| view.number() == View::VALUE.number());
        let Some(handler) = handler else {
            return database.put(index, view, put).map(|()| PutResult::Done);
        };
        if !database.is_writable(index, view) {
            return Err(PutError::ReadOnly);
        }
        self.pending.try_reserve(1).map_err(|_| PutError::Memory)?;
        self.ended.try_reserve(self.pending.len() + 1).map_err(|_| PutError::Memory)?;
        let token = self.shared.completions.begin().ok_or(PutError::Busy)?;
        let (user, host, address) = client;
        let answer = database.converted(index, view, put, |value| {
            handler.put(&PutRequest { value, user, host, address, waits, token })
        });
        match answer {
            Ok(Answer::Later) => {
                let pending = Pending::new(token, index, view.0, waits, put);
                match pending {
                    Ok(pending) => self.pending.push(pending),
                    // It may complete a put that is nobody's any more.
                    Err(error) => {
                        self.shared.completions.forget(token);
                        return Err(error.into());
                    }
                }
                Ok(PutResult::Later(token.0))
            }
            other => {
                self.shared.completions.forget(token);
                match other? {
                    Answer::Refuse => Err(PutError::Refused),
                    _ => database.put(index, view, put).map(|()| PutResult::Done),
                }
            }
        }
    }

    fn end_put(&mut self, token: u32, succeeded: bool, database: &mut Database) {
        let Some(at) = self.pending.iter().position(|pending| pending.token.0 == token) else { return };
        let pending = self.pending.swap_remove(at);
        let taken = succeeded && database.put(pending.index, View(pending.view), &pending.value()).is_ok();
        if self.ended.try_reserve(1).is_ok() {
            self.ended.push(Ended { token, succeeded: taken, waits: pending.waits });
        }
    }

    /// The next put that has ended.
    pub fn next_completion(&mut self) -> Option<Ended> {
        if self.ended.is_empty() { None } else { Some(self.ended.remove(0)) }
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Number of process variables and the bytes of heap that they take beside their records.
    pub fn size(&self) -> (usize, usize) {
        let bound = self.bound.iter().flatten();
        let slots: usize = bound.map(|bound| bound.entry.slot.heap_bytes() + size_of::<Entry>()).sum();
        let lists = self.bound.capacity() * size_of::<Option<Bound>>() + self.scratch.capacity();
        (self.numbers.len(), slots + lists)
    }
}
