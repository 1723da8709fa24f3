// SPDX-License-Identifier: BSD-2-Clause
//! Providers with an application behind some of their process variables, and switches for who may write.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use super::provider::Served;
use crate::app::{CreateError, PutHandler, Puts, Pv, Ring};
use crate::ca::Provider;
use crate::pv::StatusSource;
use crate::security::{PutLog, Security};

/// See the module's description.
pub trait Hosting: Provider {
    /// Says how the application's tasks call the server.
    fn set_bell(&mut self, bell: Arc<dyn Ring>);

    /// Creates a record of the application.
    fn create(
        &mut self,
        type_: &str,
        name: &str,
        fields: &[(&str, &str)],
        handler: Option<Box<dyn PutHandler>>,
    ) -> Result<Pv, CreateError>;

    /// Makes an existing record the application's.
    fn open(&mut self, name: &str, handler: Option<Box<dyn PutHandler>>) -> Result<Pv, CreateError>;

    /// Deletes a record of the application; its index.
    fn delete(&mut self, pv: &Pv) -> Option<u32>;

    /// Through what the application ends puts.
    fn puts(&self) -> Puts;

    /// There are records of the application.
    fn has_application(&self) -> bool;

    /// Who may do what.
    fn security(&mut self) -> &mut Security;

    /// The puts that were logged.
    fn put_log(&self) -> &PutLog;

    /// Says what is in force, in a few lines.
    fn report_access(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

impl<S: StatusSource> Hosting for Served<S> {
    fn set_bell(&mut self, bell: Arc<dyn Ring>) {
        self.application.set_bell(bell);
    }

    fn create(
        &mut self,
        type_: &str,
        name: &str,
        fields: &[(&str, &str)],
        handler: Option<Box<dyn PutHandler>>,
    ) -> Result<Pv, CreateError> {
        self.application.create(&mut self.database, type_, name, fields, handler)
    }

    fn open(&mut self, name: &str, handler: Option<Box<dyn PutHandler>>) -> Result<Pv, CreateError> {
        self.application.open(&mut self.database, name, handler)
    }

    fn delete(&mut self, pv: &Pv) -> Option<u32> {
        self.application.delete(&mut self.database, pv)
    }

    fn puts(&self) -> Puts {
        self.application.puts()
    }

    fn has_application(&self) -> bool {
        !self.application.is_empty()
    }

    fn security(&mut self) -> &mut Security {
        &mut self.security
    }

    fn put_log(&self) -> &PutLog {
        &self.put_log
    }

    fn report_access(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let security = &self.security;
        match security.rules() {
            Some(rules) => {
                let (users, hosts, groups, number) = rules.counts();
                writeln!(
                    out,
                    "rules: {number} in {groups} access groups; {users} user groups, {hosts} host groups"
                )?;
                for name in rules.unresolved() {
                    writeln!(
                        out,
                        "host {} could not be resolved: nobody is let in by it",
                        name.escape_ascii()
                    )?;
                }
            }
            None if security.is_locked() => out.write_str(
                "no valid access security file or settings: until such a file is loaded nobody may write\n",
            )?,
            None => out.write_str("no rules: everybody may read and write\n")?,
        }
        writeln!(out, "read-only: {}", on_off(security.is_read_only()))?;
        let logged = if security.logs_all() {
            "all"
        } else {
            "those that a rule with TRAPWRITE allows, and denied ones"
        };
        writeln!(out, "puts logged: {logged}")
    }
}

const fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}
