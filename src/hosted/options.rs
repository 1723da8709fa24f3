// SPDX-License-Identifier: BSD-2-Clause
//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use rtems_ioc::net::settings::{PORT_REMEDY, dotted, is_client_port};
use rtems_ioc::os::hosted::allocator;
use rtems_ioc::pool::Policy;

use super::diagnosis::{RtexOptions, SpyOptions};

/// Channel Access server, tcpecho and pool status of an RTEMS IOC, run on this host.
#[derive(Parser, Debug)]
#[command(name = "rtems-ioc", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; serve if nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of serve may be given without naming it.
    #[command(flatten)]
    pub serve: ServeOptions,
}

/// What the program can do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Serve process variables and tcpecho until told to stop (the default)
    Serve(ServeOptions),
    /// Measure the network to a host that runs tcpecho, and say what is wrong with it
    Netcheck(rtems_ioc::netcheck::Command),
    /// Channel Access benchmark, as EPICS's catime
    Catime(rtems_ioc::catime::hosted::Command),
    /// First-touch cost of heap and stack
    Rtex(RtexOptions),
    /// Share of the processor of each thread of a process
    Spy(SpyOptions),
}

/// How to serve. The EPICS_CAS_* and EPICS_CA_* variables of any IOC count as well; an option comes before a variable.
#[derive(Args, Clone, Debug)]
pub struct ServeOptions {
    /// Name of the IOC: the first part of the names of its own process variables
    #[arg(long, default_value = "ioc", value_parser = ioc_name)]
    pub name: String,
    /// EPICS database (.db) to load; may be given several times
    #[arg(long = "db", value_name = "FILE")]
    pub databases: Vec<PathBuf>,
    /// Macros for the databases: A=1,B=2
    #[arg(long = "macro", alias = "macros", value_name = "A=B,...")]
    pub macros: Vec<String>,
    /// Access security file (ACF): who may read and write
    #[arg(long, value_name = "FILE")]
    pub acf: Option<PathBuf>,
    /// In that file host names stand for the addresses that clients come from, not for the names that they claim
    #[arg(long)]
    pub check_client_ip: bool,
    /// Nobody may write
    #[arg(long)]
    pub read_only: bool,
    /// Log every put, not only those that a rule with TRAPWRITE allows
    #[arg(long)]
    pub put_log: bool,
    /// Address of an interface to serve; may be given several times; 0.0.0.0 is all [default: 127.0.0.1]
    #[arg(long = "interface", value_name = "ADDR", value_parser = address)]
    pub interfaces: Vec<u32>,
    /// UDP and TCP port of Channel Access, which must be free; 0 takes any free one [default: 5064, and if that is
    /// taken any free TCP port]
    #[arg(long, value_parser = server_port)]
    pub port: Option<u16>,
    /// TCP port of the echo service; discard and source take the next two; 0 takes any free ones
    #[arg(long, value_name = "PORT", default_value_t = rtems_ioc::tcpecho::DEFAULT_PORT, value_parser = echo_port)]
    pub echo_port: u16,
    /// Size of the heap that plays the board's memory: bytes, or with k, M, G
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    pub pool: usize,
    /// How the pool answers whether there is room: tracker, always, walk or largest-walk
    #[arg(long, value_name = "POLICY", default_value_t = Policy::Tracker)]
    pub pool_policy: Policy,
    /// Bytes that have to be left after a request, or with k, M, G
    #[arg(long, value_name = "SIZE", default_value = "50000", value_parser = reserve)]
    pub reserve: usize,
    /// Leave so many free blocks in the heap before serving, as it looks after some weeks
    #[arg(long, value_name = "FREE_BLOCKS", default_value_t = 0)]
    pub fragment: usize,
    /// Read shell commands from standard input even if it is no terminal; its end ends the program
    #[arg(long)]
    pub shell: bool,
    /// Log more: clients that come and go
    #[arg(long, short)]
    pub verbose: bool,
}

/// The name becomes part of record names, which have at most 60 characters.
fn ioc_name(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-:+[]<>;".contains(c);
    if !text.is_empty() && text.len() <= 40 && text.chars().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("give 1 to 40 letters, digits or any of _-:+[]<>;".to_owned())
    }
}

fn address(text: &str) -> Result<u32, String> {
    dotted(text)
        .ok_or_else(|| "give an IPv4 address like 192.168.1.5, or 0.0.0.0 for all interfaces".to_owned())
}

fn server_port(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(port) if port == 0 || is_client_port(port) => Ok(port),
        _ => Err(format!("{PORT_REMEDY}, or 0 for any free one")),
    }
}

fn echo_port(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(port) if rtems_ioc::tcpecho::takes_port(port) => Ok(port),
        _ => {
            Err("give a port up to 65533, since discard and source take the next two, or 0 for any free ones"
                .to_owned())
        }
    }
}

/// The size of the pool.
fn size(text: &str) -> Result<usize, String> {
    let allowed = allocator::MINIMUM_POOL..=allocator::MAXIMUM_POOL;
    bytes(text)
        .filter(|bytes| allowed.contains(bytes))
        .ok_or_else(|| "give bytes from 1M to 4G, like 67108864 or 64M".to_owned())
}

fn reserve(text: &str) -> Result<usize, String> {
    bytes(text).ok_or_else(|| "give bytes, like 50000 or 1M".to_owned())
}

/// A number of bytes with an optional k, M or G (of 1024).
fn bytes(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_stand_with_or_without_serve() {
        for line in [&["rtems-ioc", "--port", "6000"][..], &["rtems-ioc", "serve", "--port", "6000"]] {
            let cli = Cli::try_parse_from(line).unwrap();
            let serve = match cli.command {
                Some(Command::Serve(serve)) => serve,
                None => cli.serve,
                Some(other) => panic!("{other:?}"),
            };
            assert_eq!(serve.port, Some(6000));
            assert_eq!(serve.pool, 64 << 20);
        }
    }

    #[test]
    fn sizes_have_units_and_limits() {
        assert_eq!(size("67108864"), Ok(64 << 20));
        assert_eq!(size("2048k"), Ok(2 << 20));
        assert_eq!(size("1G"), Ok(1 << 30));
        for bad in ["", "M", "64X", "-1", "1", "5G", "99999999999999999999G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!((reserve("0"), reserve("50000"), reserve("1M")), (Ok(0), Ok(50_000), Ok(1 << 20)));
        assert!(reserve("much").is_err());
    }

    #[test]
    fn ports_are_those_that_can_be_used() {
        assert_eq!(
            (server_port("0"), server_port("5001"), server_port("65535")),
            (Ok(0), Ok(5001), Ok(65535))
        );
        assert_eq!((echo_port("0"), echo_port("7"), echo_port("65533")), (Ok(0), Ok(7), Ok(65533)));
        for bad in ["80", "5000", "65536", "-1", "x"] {
            assert!(server_port(bad).is_err(), "{bad}");
        }
        for bad in ["65534", "65535", "65536", "x"] {
            assert!(echo_port(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_fit_into_record_names() {
        assert!(ioc_name("B1:vac-2").is_ok());
        for bad in ["", "a b", "x.y", "a$", &"n".repeat(41)] {
            assert!(ioc_name(bad).is_err(), "{bad}");
        }
    }
}
