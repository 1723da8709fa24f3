// SPDX-License-Identifier: BSD-2-Clause
//! The running servers of one IOC, as the shell commands see them.

use core::fmt::{self, Write};

use super::{Echo, FAILED, OK, Page, Services, Switch, refused, stopped};
use crate::ca::{Admission, PvId, ReportPosition};
use crate::net::server::Server;
use crate::net::service::Service;
use crate::net::settings::Settings;
use crate::net::{Clocked, Courier, Hosting};
use crate::os::{Role, System};
use crate::tcpecho;

/// Names per look into the database: between two of them the circuits have their turn.
const NAMES_PER_LOOK: u32 = 256;

/// The Channel Access server as a task.
pub type CaServer<S, P, A> = Service<S, Server<S, P, A>>;

/// Both servers and the settings with which they are started again.
pub struct Ioc<S, P, A>
where
    S: System,
    P: Clocked + Hosting + Send + 'static,
    A: Admission + Send + 'static,
{
    system: S,
    server: CaServer<S, P, A>,
    echo: Echo<S>,
    settings: Settings,
    /// Runs while the application has process variables.
    courier: Courier<S>,
    /// Host names in access security files stand for addresses; how they are resolved.
    by_address: Option<Resolver>,
}

/// Turns a host name into an address.
pub type Resolver = fn(&str) -> Option<u32>;

impl<S, P, A> Ioc<S, P, A>
where
    S: System,
    P: Clocked + Hosting + Send + 'static,
    A: Admission + Send + 'static,
{
    /// Servers that do not run yet.
    pub fn new(
        system: S,
        server: Server<S, P, A>,
        settings: Settings,
        echo_options: tcpecho::Options,
    ) -> Self {
        Ioc {
            server: Service::new(system.clone(), Role::CaServer, server),
            echo: Echo::new(system.clone(), echo_options),
            courier: Courier::new(system.clone()),
            by_address: None,
            system,
            settings,
        }
    }

    /// The address that a client comes from counts, not the host name that it claims: names in access security files
    /// are resolved when they are loaded.
    pub fn check_addresses(&mut self, resolve: Resolver) {
        self.by_address = Some(resolve);
    }

    /// See [`Ioc::check_addresses`].
    pub(super) fn by_address(&self) -> Option<Resolver> {
        self.by_address
    }

    /// The operating system.
    pub(super) fn system(&self) -> &S {
        &self.system
    }

    /// Who calls the server for the application.
    pub(super) fn courier(&self) -> &Courier<S> {
        &self.courier
    }

    /// The Channel Access server.
    pub fn server(&self) -> &CaServer<S, P, A> {
        &self.server
    }

    /// tcpecho.
    pub fn echo(&self) -> &Echo<S> {
        &self.echo
    }

    /// Starts the Channel Access server.
    pub fn start_server(&self) -> Result<(), crate::net::service::StartError<crate::net::server::OpenError>> {
        self.server.start(self.settings.clone())?;
        if self.server.with(|server| server.protocol().provider().has_application()) {
            self.courier.start(&self.server).map_err(crate::net::service::StartError::Spawn)?;
        }
        Ok(())
    }

    /// Ends both; returns when every socket is closed.
    pub fn stop(&self) {
        self.courier.stop();
        self.server.stop();
        self.echo.service().stop();
    }

    fn where_the_server_is(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut page = Page::default();
        self.server.with(|server| {
            for at in server.listening() {
                writeln!(page, "Channel Access on {at} (TCP)")?;
            }
            for at in server.searchable() {
                writeln!(page, "name searches on {at} (UDP)")?;
            }
            for to in server.beacon_targets() {
                writeln!(page, "beacons to {to}")?;
            }
            Ok(())
        })?;
        page.print(out)
    }
}

impl<S, P, A> Services for Ioc<S, P, A>
where
    S: System,
    P: Clocked + Hosting + Send + 'static,
    A: Admission + Send + 'static,
{
    fn server_report(&self, level: u8, out: &mut dyn fmt::Write) -> fmt::Result {
        if !self.server.is_running() {
            out.write_str("the Channel Access server is stopped\n")?;
        }
        self.where_the_server_is(out)?;
        let now = self.system.monotonic_ms();
        let mut position = ReportPosition::default();
        loop {
            let mut page = Page::default();
            // A cut page says so itself, and is the last.
            let more =
                self.server.with(|server| server.protocol().report(level, &mut position, &mut page, now));
            page.print(out)?;
            if more != Ok(true) {
                return Ok(());
            }
        }
    }

    fn start_server(&self, out: &mut dyn fmt::Write) -> i32 {
        match Ioc::start_server(self) {
            Ok(()) => said(self.where_the_server_is(out)),
            Err(error) => refused(out, "casrv", &error),
        }
    }

    fn stop_server(&self, out: &mut dyn fmt::Write) -> i32 {
        stopped(out, "casrv", self.server.stop())
    }

    fn pause_server(&self, paused: bool, out: &mut dyn fmt::Write) -> i32 {
        self.server.with(|server| server.protocol_mut().pause(paused));
        self.server.wake();
        said(writeln!(out, "casrv: {}", if paused { "paused" } else { "running" }))
    }

    fn list_names(&self, containing: &str, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut from = 0;
        loop {
            let mut page = Page::default();
            let capacity = self.server.with(|server| {
                let provider = server.protocol().provider();
                let capacity = provider.capacity();
                for index in from..capacity.min(from + NAMES_PER_LOOK) {
                    let mut name = Name::default();
                    let _ = provider.write_name(PvId { index, view: 0 }, &mut name);
                    if !name.as_str().is_empty() && name.as_str().contains(containing) {
                        // A cut page says so itself.
                        let _ = writeln!(page, "{}", name.as_str());
                    }
                }
                capacity
            });
            page.print(out)?;
            from += NAMES_PER_LOOK;
            if from >= capacity {
                return Ok(());
            }
        }
    }

    fn access_report(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.report_access(out)
    }

    fn load_access(&self, path: Option<&str>, out: &mut dyn fmt::Write) -> i32 {
        self.load_rules(path, out)
    }

    fn switch_access(&self, switch: Switch, on: bool, out: &mut dyn fmt::Write) -> i32 {
        self.switch(switch, on, out)
    }

    fn put_log(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.report_puts(out)
    }
}

fn said(result: fmt::Result) -> i32 {
    if result.is_ok() { OK } else { FAILED }
}

/// A record name while it is looked at.
struct Name {
    bytes: [u8; 80],
    length: usize,
}

impl Default for Name {
    fn default() -> Self {
        Name { bytes: [0; 80], length: 0 }
    }
}

impl Name {
    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl fmt::Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}
