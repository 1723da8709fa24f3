// SPDX-License-Identifier: BSD-2-Clause
//! The measuring commands on Linux: as subcommands, and behind the shell's table.

use rtems_ioc::catime;
use rtems_ioc::os::hosted::Hosted;
use rtems_ioc::os::hosted::accounting::Process;
use rtems_ioc::os::hosted::console::Output;
use rtems_ioc::os::hosted::rtex::Linux;
use rtems_ioc::shell::Diagnosis;
use rtems_ioc::{rtex, spy};

/// For the shell.
pub struct Kit;

impl Diagnosis for Kit {
    fn rtex(&self, out: &mut dyn std::fmt::Write, arguments: &[&str]) -> i32 {
        rtex::command(&mut Linux, out, arguments)
    }

    fn catime(&self, out: &mut dyn std::fmt::Write, arguments: &[&str]) -> i32 {
        catime::hosted::environment(|environment| catime::command(Hosted, environment, out, arguments))
    }

    fn spy(&self, out: &mut dyn std::fmt::Write, arguments: &[&str]) -> i32 {
        spy::command(&Process::own(), out, arguments)
    }
}

/// First-touch cost of heap and stack, on the C library's own malloc.
#[derive(clap::Args, Debug)]
pub struct RtexOptions {
    /// Option bits (hexadecimal), then bytes of heap and of stack; without them, what the bits mean
    #[arg(num_args = 0..=3, value_names = ["OPTIONS", "HEAP", "STACK"])]
    words: Vec<String>,
}

impl RtexOptions {
    /// Runs it; the exit status.
    pub fn run(&self) -> i32 {
        rtex::command(&mut Linux, &mut Output, &words(&self.words))
    }
}

/// Each thread's share of the processor.
#[derive(clap::Args, Debug)]
pub struct SpyOptions {
    /// Process to look at
    process: u32,
    /// Seconds of an interval, then how many intervals
    #[arg(num_args = 0..=2, value_names = ["SECONDS", "REPEATS"])]
    words: Vec<String>,
}

impl SpyOptions {
    /// Runs it; the exit status.
    pub fn run(&self) -> i32 {
        spy::command(&Process::of(self.process), &mut Output, &words(&self.words))
    }
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
