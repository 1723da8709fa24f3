// SPDX-License-Identifier: BSD-2-Clause
//! What only the hosted program has: a command line, a terminal, signals.

mod announce;
mod databases;
mod options;
mod serve;
mod terminal;

use std::fmt;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use options::{Cli, Command};

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
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(text)) => fail(&text),
    }
}

fn fail(text: &str) -> ExitCode {
    eprintln!("rtems-ioc: {text}");
    ExitCode::from(2)
}

/// Help and version as they are; an error as one line.
fn explain(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        print!("{error}");
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or("bad command line");
    fail(&format!("{} (see rtems-ioc --help)", line.strip_prefix("error: ").unwrap_or(line)))
}
