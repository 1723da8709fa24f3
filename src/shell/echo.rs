// SPDX-License-Identifier: BSD-2-Clause
//! tcpecho as a command: by itself, so that an image that brings another server can have it without ours.

use core::fmt::{self, Write as _};

use super::{Command, FAILED, OK, Page, TOPIC, wrong_arguments};
use crate::net::service::{Service, StartError};
use crate::os::{Lock, Role, System};
use crate::tcpecho::{self, TcpEcho};

/// What the command acts on.
pub trait EchoCommands: Sync {
    /// Starts tcpecho; `None` as port means where it was before.
    fn start(&self, port: Option<u16>, out: &mut dyn fmt::Write) -> i32;

    /// Stops it.
    fn stop(&self, out: &mut dyn fmt::Write) -> i32;

    /// Shows its clients and counters.
    fn report(&self, out: &mut dyn fmt::Write) -> fmt::Result;
}

static ECHO: spin::Once<&'static dyn EchoCommands> = spin::Once::new();

/// Says what the command acts on; the first call counts. To be called before any other task runs the command.
pub fn register_echo(echo: &'static dyn EchoCommands) {
    ECHO.call_once(|| echo);
}

const USAGE: &str =
    "tcpecho start [PORT]|stop|status   TCP echo on PORT (to 65533), discard and source on the next two";

/// `tcpecho`.
pub const TCPECHO: Command = Command {
    name: "tcpecho",
    topic: TOPIC,
    usage: USAGE,
    run: |out, arguments| match arguments {
        [] | ["status"] => with(out, |echo, out| if echo.report(out).is_ok() { OK } else { FAILED }),
        ["start"] => with(out, |echo, out| echo.start(None, out)),
        ["start", port] => match port.parse().ok().filter(|&port| tcpecho::takes_port(port)) {
            Some(port) => with(out, |echo, out| echo.start(Some(port), out)),
            None => wrong_arguments(out, USAGE),
        },
        ["stop"] => with(out, |echo, out| echo.stop(out)),
        _ => wrong_arguments(out, USAGE),
    },
};

fn with(
    out: &mut dyn fmt::Write,
    run: impl FnOnce(&'static dyn EchoCommands, &mut dyn fmt::Write) -> i32,
) -> i32 {
    match ECHO.get() {
        Some(&echo) => run(echo, out),
        None => super::nothing_runs(out),
    }
}

/// The service and how it is started again.
pub struct Echo<S: System> {
    system: S,
    service: TcpEcho<S>,
    options: S::Mutex<tcpecho::Options>,
}

impl<S: System> Echo<S> {
    /// A service that does not run yet.
    pub fn new(system: S, options: tcpecho::Options) -> Self {
        let service = Service::new(system.clone(), Role::TcpEcho, tcpecho::Server::default());
        Echo { system, service, options: Lock::new(options) }
    }

    /// The service itself.
    pub fn service(&self) -> &TcpEcho<S> {
        &self.service
    }

    /// Starts it, on this port or where it was before.
    pub fn start(&self, port: Option<u16>) -> Result<(), StartError<tcpecho::OpenError>> {
        let options = self.options.with(|options| {
            options.port = port.unwrap_or(options.port);
            options.clone()
        });
        self.service.start(options)
    }
}

impl<S: System> EchoCommands for Echo<S> {
    fn start(&self, port: Option<u16>, out: &mut dyn fmt::Write) -> i32 {
        match Echo::start(self, port) {
            Ok(()) if self.report(out).is_ok() => OK,
            Ok(()) => FAILED,
            Err(error) => super::refused(out, "tcpecho", &error),
        }
    }

    fn stop(&self, out: &mut dyn fmt::Write) -> i32 {
        super::stopped(out, "tcpecho", self.service.stop())
    }

    fn report(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let now = self.system.monotonic_ms();
        let mut page = Page::default();
        // A cut page says so itself.
        let _ = self.service.with(|echo| echo.report(&mut page, now));
        self.system.media(&mut |name, media| {
            let _ = writeln!(page, "{name:8} media: {media}");
        });
        page.print(out)
    }
}
