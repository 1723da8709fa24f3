// SPDX-License-Identifier: BSD-2-Clause
//! The commands `access` and `putlog` on a running IOC.

use core::fmt;

use super::{Ioc, OK, Page, Switch, refused};
use crate::ca::Admission;
use crate::net::{Clocked, Hosting};
use crate::os::System;
use crate::security::acf;

impl<S, P, A> Ioc<S, P, A>
where
    S: System,
    P: Clocked + Hosting + Send + 'static,
    A: Admission + Send + 'static,
{
    /// Takes an access security file into force, or none; what is wrong with it is said, and then nothing changes.
    pub(super) fn load_rules(&self, path: Option<&str>, out: &mut dyn fmt::Write) -> i32 {
        let rules = match path {
            None => None,
            Some(path) => {
                let text = match self.system().read_file(path) {
                    Ok(text) => text,
                    Err(error) => return refused(out, path, &error),
                };
                let resolve = self.by_address();
                let resolve = resolve.as_ref().map(|resolve| resolve as acf::Resolve<'_>);
                match acf::parse(path, &text, resolve) {
                    Ok(rules) => Some(rules),
                    Err(error) => return refused(out, "access", &error),
                }
            }
        };
        self.change(|provider| provider.security().set_rules(rules));
        let _ = self.report_access(out);
        OK
    }

    /// Changes a switch.
    pub(super) fn switch(&self, switch: Switch, on: bool, out: &mut dyn fmt::Write) -> i32 {
        self.change(|provider| match switch {
            Switch::ReadOnly => provider.security().set_read_only(on),
            Switch::LogAll => provider.security().set_log_all(on),
        });
        let _ = self.report_access(out);
        OK
    }

    /// Changes something of the process variables between two turns, and has the server act on it.
    fn change(&self, change: impl FnOnce(&mut P)) {
        self.server().with(|server| change(server.protocol_mut().provider_mut()));
        self.server().wake();
    }

    /// What is in force.
    pub(super) fn report_access(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut page = Page::default();
        // A cut page says so itself.
        let _ = self.server().with(|server| server.protocol().provider().report_access(&mut page));
        page.print(out)
    }

    /// The puts that were logged.
    pub(super) fn report_puts(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut page = Page::default();
        // A cut page says so itself.
        let _ = self.server().with(|server| server.protocol().provider().put_log().report(&mut page));
        page.print(out)
    }
}
