// SPDX-License-Identifier: BSD-2-Clause
//! The program as a person meets it: what it prints, its shell, how it ends, and how it refuses.

use std::fs::File;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::Signal;

use crate::support::circuit;
use crate::support::deadline::PATIENCE;
use crate::support::ports::{free_port, free_ports};
use crate::support::process::{Finished, Process};
use crate::support::server::{self, Server};
use crate::{Test, ours};

/// Name and function of each test here.
pub const TESTS: &[(&str, Test)] = &[
    ("it_says_where_it_listens_and_what_to_try", it_says_where_it_listens_and_what_to_try),
    ("it_ends_cleanly_on_interrupt", it_ends_cleanly_on_interrupt),
    ("it_ends_cleanly_on_terminate", it_ends_cleanly_on_terminate),
    ("the_shell_answers_and_exits", the_shell_answers_and_exits),
    ("the_shell_survives_what_is_no_command", the_shell_survives_what_is_no_command),
    ("it_serves_without_standard_output", it_serves_without_standard_output),
    (
        "help_without_standard_output_is_one_line_and_code_2",
        help_without_standard_output_is_one_line_and_code_2,
    ),
    ("a_bad_option_is_one_line_and_code_2", a_bad_option_is_one_line_and_code_2),
    ("a_bad_database_is_one_line_and_code_2", a_bad_database_is_one_line_and_code_2),
    ("a_missing_database_is_one_line_and_code_2", a_missing_database_is_one_line_and_code_2),
    ("a_port_in_use_is_one_line_and_code_2", a_port_in_use_is_one_line_and_code_2),
    ("a_taken_circuit_port_is_replaced_and_announced", a_taken_circuit_port_is_replaced_and_announced),
    ("an_interface_given_twice_is_one", an_interface_given_twice_is_one),
    ("a_pool_too_small_is_one_line_and_code_2", a_pool_too_small_is_one_line_and_code_2),
    ("a_pool_as_large_as_the_message_says_will_do", a_pool_as_large_as_the_message_says_will_do),
];

fn it_says_where_it_listens_and_what_to_try() -> Result<(), String> {
    let server = ours()?;
    for part in [server.site.port.to_string(), server.site.echo_port.to_string()] {
        server.process.wait_for_line(0, PATIENCE, |line| line.contains(&part))?;
    }
    for client in ["caget ", "catime ", "nc "] {
        server.process.wait_for_line(0, PATIENCE, |line| line.contains(client))?;
    }
    Ok(())
}

fn ends_on(signal: Signal) -> Result<(), String> {
    let server = ours()?;
    // A circuit is open and must not keep it from ending.
    let port = server.tcp_port(crate::KNOWN)?;
    let mut circuit = circuit::Circuit::connect(port)?;
    circuit.create(crate::KNOWN)?;
    let Server { process, .. } = server;
    process.signal(signal)?;
    ended_well(&process.finish(PATIENCE)?)
}

fn it_ends_cleanly_on_interrupt() -> Result<(), String> {
    ends_on(Signal::INT)
}

fn it_ends_cleanly_on_terminate() -> Result<(), String> {
    ends_on(Signal::TERM)
}

fn the_shell_answers_and_exits() -> Result<(), String> {
    let mut server = Server::ours(&["--name", "ioc", "--shell"], "ioc:catime")?;
    for (command, wanted) in
        [("help", "poolstat"), ("poolstat", "largest"), ("casr", "0 circuits"), ("dbl", "ioc:catime")]
    {
        let mark = server.process.mark();
        server.process.say(command)?;
        server
            .process
            .wait_for_line(mark, PATIENCE, |line| line.to_lowercase().contains(wanted))
            .map_err(|error| format!("{command}: {error}"))?;
    }
    let mark = server.process.mark();
    server.process.say("nonsense")?;
    server.process.wait_for_line(mark, PATIENCE, |line| line.contains("nonsense"))?;
    server.process.say("exit")?;
    ended_well(&server.process.finish(PATIENCE)?)
}

/// Bytes that are no text and a line without end are answered and passed over.
fn the_shell_survives_what_is_no_command() -> Result<(), String> {
    let mut server = Server::ours(&["--name", "ioc", "--shell"], "ioc:catime")?;
    let mut noise = b"\xff\xfe\x00\x80 poolstat\n".to_vec();
    noise.extend(vec![b'x'; 70 << 20]);
    noise.push(b'\n');
    let mark = server.process.mark();
    let stdin = server.process.stdin().ok_or("no standard input")?;
    stdin.write_all(&noise).map_err(|error| error.to_string())?;
    server.process.wait_for_line(mark, PATIENCE, |line| line.contains("no such command"))?;
    server.process.wait_for_line(mark, PATIENCE, |line| line.contains("line ignored"))?;
    server.process.say("poolstat")?;
    server.process.wait_for_line(mark, PATIENCE, |line| line.contains("largest free"))?;
    server.process.say("exit")?;
    ended_well(&server.process.finish(PATIENCE)?)
}

/// Standard output that takes nothing: a full disk, and a pipe whose reader is gone.
fn taking_nothing() -> Result<[Stdio; 2], String> {
    let full = File::options().write(true).open("/dev/full").map_err(|error| error.to_string())?;
    let (_, writer) = std::io::pipe().map_err(|error| error.to_string())?;
    Ok([full.into(), writer.into()])
}

fn it_serves_without_standard_output() -> Result<(), String> {
    for stdout in taking_nothing()? {
        let (port, echo_port) = (free_port(), echo_port());
        let mut command = server::program();
        command.args(["serve", "--shell", "--port", &port.to_string(), "--echo-port", &echo_port]);
        let mut process = Process::start_into(command, stdout)?;
        process.say("poolstat")?;
        let found = circuit::search(port, "ioc:catime", PATIENCE).ok_or_else(|| process.text())?;
        circuit::Circuit::connect(found)?.create("ioc:catime")?;
        process.say("exit")?;
        ended_well(&process.finish(PATIENCE)?)?;
    }
    Ok(())
}

fn help_without_standard_output_is_one_line_and_code_2() -> Result<(), String> {
    for stdout in taking_nothing()? {
        let mut command = server::program();
        command.arg("--help");
        refused(&Process::start_into(command, stdout)?.finish(PATIENCE)?, &["standard output"])?;
    }
    Ok(())
}

fn ended_well(finished: &Finished) -> Result<(), String> {
    if finished.code() == 0 {
        return Ok(());
    }
    Err(format!("{}:\n{}", finished.status, finished.text))
}

/// Runs the program on free ports with `options` to its end.
pub fn run(options: &[&str]) -> Result<Finished, String> {
    run_on(&free_port().to_string(), &echo_port(), options)
}

/// Where tcpecho may listen.
fn echo_port() -> String {
    free_ports(server::ECHO_PORTS).to_string()
}

fn run_on(port: &str, echo_port: &str, options: &[&str]) -> Result<Finished, String> {
    let mut command = server::program();
    command.args(["serve", "--port", port, "--echo-port", echo_port]).args(options);
    Process::start(command)?.finish(PATIENCE)
}

/// Demands exit code 2 and one line that has all of `parts`.
pub fn refused(finished: &Finished, parts: &[&str]) -> Result<(), String> {
    let lines: Vec<_> = finished.text.lines().filter(|line| !line.trim().is_empty()).collect();
    let complete = parts.iter().all(|part| finished.text.contains(part));
    if finished.code() == 2 && lines.len() == 1 && complete {
        return Ok(());
    }
    Err(format!("{}, wanted one line with {parts:?} and code 2:\n{}", finished.status, finished.text))
}

fn a_bad_option_is_one_line_and_code_2() -> Result<(), String> {
    refused(&run(&["--nonsense"])?, &["--nonsense"])?;
    refused(&run(&["--pool", "much"])?, &["--pool", "much"])?;
    refused(&run(&["--pool-policy", "hope"])?, &["--pool-policy", "hope"])?;
    refused(&run(&["--interface", "nowhere"])?, &["nowhere"])?;
    refused(&run(&["--interface", "0.0.0.0", "--interface", "127.0.0.1"])?, &["--interface", "alone"])?;
    refused(&run_on("80", &echo_port(), &[])?, &["--port", "80", "5001"])?;
    refused(&run_on(&free_port().to_string(), "65534", &[])?, &["--echo-port", "65534", "65533"])
}

/// A file of this test's own.
pub fn scratch(name: &str, text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hosted-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    Ok(path)
}

fn a_bad_database_is_one_line_and_code_2() -> Result<(), String> {
    for (name, text, line, part) in [
        ("type.db", "# comment\nrecord(nonsense, \"a\") {\n}\n", 2, "nonsense"),
        ("field.db", "record(ai, \"a\") {\n    field(NOPE, \"1\")\n}\n", 2, "NOPE"),
        (
            "value.db",
            "record(waveform, \"a\") {\n    field(FTVL, \"DOUBLE\")\n    field(NELM, \"many\")\n}\n",
            3,
            "many",
        ),
        ("open.db", "record(ai, \"a\") {\n    field(VAL, \"1\n", 2, "open.db"),
    ] {
        let path = scratch(name, text)?;
        let path = path.display().to_string();
        let place = format!("{name}:{line}");
        refused(&run(&["--db", &path])?, &[&place, part])?;
    }
    Ok(())
}

fn a_missing_database_is_one_line_and_code_2() -> Result<(), String> {
    refused(&run(&["--db", "/nowhere/at/all.db"])?, &["/nowhere/at/all.db"])
}

fn a_port_in_use_is_one_line_and_code_2() -> Result<(), String> {
    let port = free_port();
    let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| error.to_string())?;
    let port = port.to_string();
    refused(&run_on(&free_port().to_string(), &port, &[])?, &[&port])?;
    // The name server's UDP port, held by a program that does not share it.
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, free_port())).map_err(|error| error.to_string())?;
    let port = udp.local_addr().map_err(|error| error.to_string())?.port().to_string();
    refused(&run_on(&port, &echo_port(), &[])?, &[&port])?;
    // The TCP port alone, when it was asked for by name.
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, free_port())).map_err(|error| error.to_string())?;
    let port = taken.local_addr().map_err(|error| error.to_string())?.port().to_string();
    refused(&run_on(&port, &echo_port(), &[])?, &["TCP", &port, "--port"])
}

/// As every IOC: a second one on a host takes another TCP port unless one was demanded, says so, and is found through the
/// searches.
fn a_taken_circuit_port_is_replaced_and_announced() -> Result<(), String> {
    let port = free_port();
    let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| error.to_string())?;
    let mut command = server::program();
    command.args(["serve", "--name", "ioc", "--echo-port", &echo_port()]);
    command.env("EPICS_CAS_SERVER_PORT", port.to_string());
    let process = Process::start(command)?;
    let found = circuit::search(port, "ioc:catime", PATIENCE).ok_or_else(|| process.text())?;
    if found == port {
        return Err("it claims the taken port".to_owned());
    }
    process.wait_for_line(0, PATIENCE, |line| line.contains("taken") && line.contains(&found.to_string()))?;
    circuit::Circuit::connect(found)?.create("ioc:catime")?;
    Ok(())
}

fn an_interface_given_twice_is_one() -> Result<(), String> {
    Server::ours(&["--interface", "127.0.0.1", "--interface", "127.0.0.1"], "ioc:catime").map(|_| ())
}

fn a_pool_too_small_is_one_line_and_code_2() -> Result<(), String> {
    for pool in ["1M", "2M", "4M", "5M"] {
        refused(&run(&["--pool", pool, "--fragment", "20000"])?, &["--fragment 20000", "--pool 6M"])?;
    }
    let endless = usize::MAX.to_string();
    refused(&run(&["--fragment", &endless])?, &["--fragment", &endless])?;
    let mut records = String::new();
    for number in 0..20_000 {
        records.push_str(&format!("record(stringin, \"many:{number}\") {{ field(VAL, \"{number}\") }}\n"));
    }
    let path = scratch("many.db", &records)?.display().to_string();
    for pool in ["1M", "2M"] {
        refused(&run(&["--pool", pool, "--db", &path])?, &["many.db", "out of memory", "larger --pool"])?;
    }
    Ok(())
}

fn a_pool_as_large_as_the_message_says_will_do() -> Result<(), String> {
    Server::ours(&["--pool", "6M", "--fragment", "20000"], "ioc:catime").map(|_| ())
}
