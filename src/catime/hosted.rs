// SPDX-License-Identifier: BSD-2-Clause
//! `rtems-ioc catime`: the benchmark from the desk.

use super::command::{Way, way};
use super::threads::Threads;
use super::{
    Abort, Arguments, Environment, JsonReport, Network, Outcome, TableReport, TextReport, open, run,
};
use crate::os::hosted::Hosted;
use crate::os::hosted::allocator::{DEFAULT_POOL, set_pool};
use crate::os::hosted::console::{Output, complain};
use std::fmt::Write as _;
use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;

/// The command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Command {
    /// PV name, then channel count (default 10000), then 1 to append a number to the name
    #[arg(required = true, num_args = 1..=3, value_names = ["PV", "COUNT", "APPEND"])]
    words: Vec<String>,
    /// Print one table of items and megabits per second at the end
    #[arg(long)]
    table: bool,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
    /// No threads between the benchmark and the sockets: less of the client in the figures, as on a board
    #[arg(long)]
    one_thread: bool,
    /// Give up after so many seconds if a channel cannot be found (default: never)
    #[arg(long)]
    search_timeout: Option<f64>,
}

impl Command {
    /// Runs it; the exit status.
    pub fn run(&self) -> i32 {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let arguments = match Arguments::parse(&words) {
            Ok(arguments) => arguments,
            Err(text) => {
                complain(text);
                return 2;
            }
        };
        match self.measure(&arguments) {
            Ok(Outcome { errors: 0 }) => 0,
            Ok(_) => 1,
            Err(text) => {
                complain(format_args!("catime: {text}\n"));
                2
            }
        }
    }

    fn measure(&self, arguments: &Arguments<'_>) -> Result<Outcome, String> {
        // The heap that a program starts with does not hold 100 000 channels.
        set_pool(DEFAULT_POOL).map_err(|error| error.to_string())?;
        if self.one_thread {
            return self.measure_on(environment(|environment| open(Hosted, environment))?, arguments);
        }
        let Way { addresses, user, host } = environment(|environment| way(&Hosted, environment))?;
        let network =
            Threads::open(addresses, user, host).map_err(|error| format!("search socket: {error}"))?;
        self.measure_on(network, arguments)
    }

    fn measure_on(&self, network: impl Network, arguments: &Arguments<'_>) -> Result<Outcome, String> {
        let timeout = match self.search_timeout {
            None => None,
            Some(seconds) => {
                let timeout = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
                Some(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX))
            }
        };
        if !self.table && !self.json {
            let mut out = Output;
            let mut report = TextReport(&mut out);
            return finish(run(network, arguments, timeout, &mut |event| report.event(event)));
        }
        let mut table = TableReport::default();
        let outcome = finish(run(network, arguments, timeout, &mut |event| {
            if table.event(event) { Ok(()) } else { Err(std::fmt::Error) }
        }))?;
        let mut text = String::new();
        if self.json {
            writeln!(text, "{}", JsonReport(&table)).map_err(|error| error.to_string())?;
        } else {
            table.table(&mut text).map_err(|error| error.to_string())?;
        }
        Output.show(&text).map_err(|error| format!("standard output: {error}"))?;
        Ok(outcome)
    }
}

fn finish(result: Result<Outcome, Abort>) -> Result<Outcome, String> {
    result.map_err(|abort| abort.to_string())
}

/// The environment of this program.
pub fn environment<T>(use_it: impl FnOnce(&Environment<'_>) -> T) -> T {
    let get = |name: &str| match name {
        // A variable of the shell, seldom of its children.
        "HOSTNAME" => {
            std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|host| host.trim().to_owned())
        }
        name => std::env::var(name).ok(),
    };
    use_it(&Environment { get: &get, resolve: &resolve })
}

/// IPv4 address of a host name, in host order.
fn resolve(name: &str) -> Option<u32> {
    (name, 0).to_socket_addrs().ok()?.find_map(|address| match address.ip() {
        IpAddr::V4(ip) => Some(u32::from(ip)),
        IpAddr::V6(_) => None,
    })
}
