// SPDX-License-Identifier: BSD-2-Clause
//! What a client's put asks of the application, and puts that have not ended.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::completions::PutToken;
use crate::pv::OutOfMemory;
use crate::value::{Elements, NativeType, WireElements};

/// A client's put, before the record has taken it.
#[derive(Clone, Copy, Debug)]
pub struct PutRequest<'a> {
    /// The new value in the record's own type.
    pub value: Elements<'a>,
    /// User and host as the client claims them.
    pub user: &'a [u8],
    /// See `user`.
    pub host: &'a [u8],
    /// IPv4 address of the client, host order.
    pub address: u32,
    /// The client waits for the end (put-callback).
    pub waits: bool,
    /// To end the put with when the answer is [`Answer::Later`].
    pub token: PutToken,
}

/// What becomes of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The record takes the value now.
    Accept,
    /// The client is told that the put failed; the record stays as it is.
    Refuse,
    /// Neither yet: [`super::Pv::complete`] decides.
    Later,
}

/// Asked in the server's task for every put of a client; must not wait for anything, nor create or delete.
pub trait PutHandler: Send {
    /// Decides.
    fn put(&mut self, request: &PutRequest<'_>) -> Answer;
}

impl<F: FnMut(&PutRequest<'_>) -> Answer + Send> PutHandler for F {
    fn put(&mut self, request: &PutRequest<'_>) -> Answer {
        self(request)
    }
}

/// A handler that is nobody's: clients' puts are accepted.
pub(super) type Handler = Option<Box<dyn PutHandler>>;

/// A put that has not ended, with the value that its record takes then.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) token: PutToken,
    /// Index of the record.
    pub(super) index: u32,
    /// The client waits.
    pub(super) waits: bool,
    pub(super) from: NativeType,
    pub(super) view: u8,
    pub(super) count: u32,
    pub(super) bytes: Vec<u8>,
}

impl Pending {
    pub(super) fn new(
        token: PutToken,
        index: u32,
        view: u8,
        waits: bool,
        put: &WireElements<'_>,
    ) -> Result<Self, OutOfMemory> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(put.bytes.len()).map_err(|_| OutOfMemory)?;
        bytes.extend_from_slice(put.bytes);
        Ok(Pending { token, index, waits, from: put.from, view, count: put.count, bytes })
    }

    pub(super) fn value(&self) -> WireElements<'_> {
        WireElements { from: self.from, count: self.count, bytes: &self.bytes }
    }
}
