// SPDX-License-Identifier: BSD-2-Clause
//! What only the hosted program has: a command line, a terminal, signals.

mod announce;
mod databases;
mod diagnosis;
mod options;
mod serve;
mod terminal;

use std::fmt;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use options::{Cli, Command};
use rtems_ioc::os::hosted::console::{Output, complain};

/// Why the program ends with exit code 2: one line that names the thing and its remedy.
pub struct Failure(String);

impl Failure {
    /// With this text.
    pub fn new(text: impl fmt::Display) -> Failure {
        Failure(text.to_string())
    }
}

/// The whole program.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let result = match cli.command {
        Some(Command::Serve(options)) => serve::run(&options),
        None => serve::run(&cli.serve),
        Some(Command::Netcheck(command)) => return status(command.run()),
        Some(Command::Catime(command)) => return status(command.run()),
        Some(Command::Rtex(options)) => return status(options.run()),
        Some(Command::Spy(options)) => return status(options.run()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(text)) => fail(&text),
    }
}

/// The exit code of a command's status.
fn status(status: i32) -> ExitCode {
    ExitCode::from(u8::try_from(status).unwrap_or(2))
}

fn fail(text: &str) -> ExitCode {
    complain(format_args!("rtems-ioc: {text}\n"));
    ExitCode::from(2)
}

/// Help and version as they are; an error as one line.
fn explain(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return match Output.show(&error.to_string()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&format!("standard output: {error}")),
        };
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or("bad command line");
    fail(&format!("{} (see rtems-ioc --help)", line.strip_prefix("error: ").unwrap_or(line)))
}
