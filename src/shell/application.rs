// SPDX-License-Identifier: BSD-2-Clause
//! An IOC's interface to the application: creating, opening and deleting its process variables.

use alloc::boxed::Box;
use alloc::format;

use super::Ioc;
use crate::app::{CreateError, Host, PutHandler, Puts, Pv};
use crate::ca::Admission;
use crate::net::{Clocked, Hosting};
use crate::os::System;

impl<S, P, A> Ioc<S, P, A>
where
    S: System,
    P: Clocked + Hosting + Send + 'static,
    A: Admission + Send + 'static,
{
    /// Creates a record whose values come from the application: `type_` is a record type, `fields` are names and values
    /// as in a .db file. `handler` is asked for every put of a client; without one puts are accepted.
    ///
    /// Waits for the server between two of its turns: not for a task that must not be held up, nor within a handler.
    pub fn create(
        &self,
        type_: &str,
        name: &str,
        fields: &[(&str, &str)],
        handler: Option<Box<dyn PutHandler>>,
    ) -> Result<Pv, CreateError> {
        self.with_application(|provider| provider.create(type_, name, fields, handler))
    }

    /// Makes a record that a .db file has created the application's. Otherwise as [`Ioc::create`].
    pub fn open(&self, name: &str, handler: Option<Box<dyn PutHandler>>) -> Result<Pv, CreateError> {
        self.with_application(|provider| provider.open(name, handler))
    }

    fn with_application(
        &self,
        make: impl FnOnce(&mut P) -> Result<Pv, CreateError>,
    ) -> Result<Pv, CreateError> {
        self.courier().start(self.server()).map_err(|error| CreateError(format!("{error}").into()))?;
        self.server().with(|server| {
            let provider = server.protocol_mut().provider_mut();
            provider.set_bell(self.courier().ring());
            make(provider)
        })
    }

    /// Deletes a process variable: the channels of clients are closed, puts that have not ended fail, and further sets are
    /// refused. False if it was deleted already. Waits as [`Ioc::create`] does.
    pub fn delete(&self, pv: &Pv) -> bool {
        let deleted = self.server().with(|server| {
            let protocol = server.protocol_mut();
            let index = protocol.provider_mut().delete(pv)?;
            protocol.removed(index);
            Some(())
        });
        self.server().wake();
        deleted.is_some()
    }
}

impl<S, P, A> Host for Ioc<S, P, A>
where
    S: System,
    P: Clocked + Hosting + Send + 'static,
    A: Admission + Send + 'static,
{
    fn create(
        &self,
        type_: &str,
        name: &str,
        fields: &[(&str, &str)],
        handler: Option<Box<dyn PutHandler>>,
    ) -> Result<Pv, CreateError> {
        Ioc::create(self, type_, name, fields, handler)
    }

    fn open(&self, name: &str, handler: Option<Box<dyn PutHandler>>) -> Result<Pv, CreateError> {
        Ioc::open(self, name, handler)
    }

    fn delete(&self, pv: &Pv) -> bool {
        Ioc::delete(self, pv)
    }

    fn puts(&self) -> Puts {
        self.server().with(|server| server.protocol_mut().provider_mut().puts())
    }
}
