// SPDX-License-Identifier: BSD-2-Clause
//! The table of commands and how each reads its arguments.

use core::fmt;

use super::diagnosis::{CATIME, RTEX, SPY};
use super::echo::TCPECHO;
use super::{Command, FAILED, OK, Services, Switch, TOPIC, USAGE, services};
use crate::pool;

/// All commands.
pub const COMMANDS: &[Command] = &[
    Command {
        name: "poolstat",
        topic: TOPIC,
        usage: "poolstat [-w]            state of the heap; -w compares it with a walk over all blocks",
        run: |out, arguments| match arguments {
            [] => written(pool::write_report(false, out)),
            ["-w"] => written(pool::write_report(true, out)),
            _ => usage(out, "poolstat"),
        },
    },
    Command {
        name: "casr",
        topic: TOPIC,
        usage: "casr [LEVEL]             Channel Access server: clients and counters; levels 0 to 4",
        run: |out, arguments| match arguments {
            [] => show(out, |services, out| services.server_report(0, out)),
            [level] => match level.parse() {
                Ok(level @ 0..=4) => show(out, |services, out| services.server_report(level, out)),
                _ => usage(out, "casr"),
            },
            _ => usage(out, "casr"),
        },
    },
    Command {
        name: "casrv",
        topic: TOPIC,
        usage: "casrv start|stop|pause|run   the Channel Access server; paused, it is not found, and circuits go on",
        run: |out, arguments| match arguments {
            ["start"] => act(out, |services, out| services.start_server(out)),
            ["stop"] => act(out, |services, out| services.stop_server(out)),
            ["pause"] => act(out, |services, out| services.pause_server(true, out)),
            ["run"] => act(out, |services, out| services.pause_server(false, out)),
            _ => usage(out, "casrv"),
        },
    },
    Command {
        name: "dbl",
        topic: TOPIC,
        usage: "dbl [TEXT]               names of the process variables [that contain TEXT]",
        run: |out, arguments| match arguments {
            [] => show(out, |services, out| services.list_names("", out)),
            [text] => show(out, |services, out| services.list_names(text, out)),
            _ => usage(out, "dbl"),
        },
    },
    TCPECHO,
    Command {
        name: "access",
        topic: TOPIC,
        usage: "access [load FILE|clear|read-only on|read-only off]   who may read and write",
        run: |out, arguments| match arguments {
            [] => show(out, |services, out| services.access_report(out)),
            ["load", path] => act(out, |services, out| services.load_access(Some(path), out)),
            ["clear"] => act(out, |services, out| services.load_access(None, out)),
            ["read-only", state @ ("on" | "off")] => {
                act(out, |services, out| services.switch_access(Switch::ReadOnly, *state == "on", out))
            }
            _ => usage(out, "access"),
        },
    },
    Command {
        name: "putlog",
        topic: TOPIC,
        usage: "putlog [on|off]          who wrote what; on: log all puts, off: those that the rules say",
        run: |out, arguments| match arguments {
            [] => show(out, |services, out| services.put_log(out)),
            [state @ ("on" | "off")] => {
                act(out, |services, out| services.switch_access(Switch::LogAll, *state == "on", out))
            }
            _ => usage(out, "putlog"),
        },
    },
    RTEX,
    CATIME,
    SPY,
];

/// Runs something that answers with a status.
fn act(out: &mut dyn fmt::Write, run: impl FnOnce(&'static dyn Services, &mut dyn fmt::Write) -> i32) -> i32 {
    match services() {
        Some(services) => run(services, out),
        None => super::nothing_runs(out),
    }
}

/// Runs something that only shows.
fn show(
    out: &mut dyn fmt::Write,
    run: impl FnOnce(&'static dyn Services, &mut dyn fmt::Write) -> fmt::Result,
) -> i32 {
    act(out, |services, out| written(run(services, out)))
}

/// The status of something that only shows.
fn written(result: fmt::Result) -> i32 {
    if result.is_ok() { OK } else { FAILED }
}

/// Says how a command is used.
fn usage(out: &mut dyn fmt::Write, name: &str) -> i32 {
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => super::wrong_arguments(out, command.usage),
        None => USAGE,
    }
}
