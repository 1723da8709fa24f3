// SPDX-License-Identifier: BSD-2-Clause
//! caget, caput, camonitor, cainfo and casw as people use them.

use crate::ClientTest;
use crate::support::client_tools::{run, tool};
use crate::support::deadline::PATIENCE;
use crate::support::process::Process;
use crate::support::python::Clients;
use crate::support::server::Server;

/// Name and function of each test here.
pub const TESTS: &[(&str, ClientTest)] = &[
    ("caget_reads_every_record_type", caget_reads_every_record_type),
    ("caget_shows_the_metadata", caget_shows_the_metadata),
    ("caget_of_an_unknown_name_fails", caget_of_an_unknown_name_fails),
    ("caput_writes_numbers_labels_and_strings", caput_writes_numbers_labels_and_strings),
    ("caput_of_arrays_and_long_strings", caput_of_arrays_and_long_strings),
    ("caput_of_nonsense_fails_and_changes_nothing", caput_of_nonsense_fails_and_changes_nothing),
    ("caput_with_completion", caput_with_completion),
    ("camonitor_sees_each_put", camonitor_sees_each_put),
    ("camonitor_of_an_array_follows_its_length", camonitor_of_an_array_follows_its_length),
    ("cainfo_describes_the_channel", cainfo_describes_the_channel),
    ("casw_sees_the_beacons", casw_sees_the_beacons),
];

/// The words of a line, one blank between them.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Demands a line of `text` that has exactly the words of `wanted`.
fn has_line(text: &str, wanted: &str) -> Result<(), String> {
    if text.lines().any(|line| words(line) == wanted) {
        return Ok(());
    }
    Err(format!("no line {wanted:?} in:\n{text}"))
}

fn caget_reads_every_record_type(clients: &Clients, server: &Server) -> Result<(), String> {
    let names = ["cmp:ai", "cmp:ao", "cmp:longin", "cmp:longout", "cmp:bo", "cmp:mbbo", "cmp:stringin"];
    let text = tool(clients, server, "caget", &names)?;
    for line in [
        "cmp:ai 3.7",
        "cmp:ao 1.25",
        "cmp:longin -7",
        "cmp:longout 70000",
        "cmp:bo Off",
        "cmp:mbbo Run",
        "cmp:stringin hello",
    ] {
        has_line(&text, line)?;
    }
    // The other ways to ask: as a string (precision applies), as a number, several at once with the wide format.
    has_line(&tool(clients, server, "caget", &["-s", "cmp:ai"])?, "cmp:ai 3.700")?;
    has_line(&tool(clients, server, "caget", &["-n", "cmp:mbbo"])?, "cmp:mbbo 1")?;
    let wide = tool(clients, server, "caget", &["-a", "cmp:longin"])?;
    if wide.contains("UDF") || !wide.contains("cmp:longin") {
        return Err(format!("a processed record is not undefined:\n{wide}"));
    }
    Ok(())
}

fn caget_shows_the_metadata(clients: &Clients, server: &Server) -> Result<(), String> {
    let text = tool(clients, server, "caget", &["-d", "DBR_CTRL_DOUBLE", "cmp:ai"])?;
    for line in [
        "Native data type: DBF_DOUBLE",
        "Request type: DBR_CTRL_DOUBLE",
        "Element count: 1",
        "Value: 3.7",
        "Status: NO_ALARM",
        "Severity: NO_ALARM",
        "Units: mm",
        "Precision: 3",
        "Lo disp limit: -100",
        "Hi disp limit: 100",
        "Lo alarm limit: -90",
        "Lo warn limit: -80",
        "Hi warn limit: 80",
        "Hi alarm limit: 90",
    ] {
        has_line(&text, line)?;
    }
    let text = tool(clients, server, "caget", &["-d", "DBR_CTRL_ENUM", "cmp:mbbo"])?;
    for line in ["Value: Run", "Enums: ( 3)", "[ 0] Idle", "[ 1] Run", "[ 2] Fault"] {
        has_line(&text, line)?;
    }
    let text = tool(clients, server, "caget", &["-d", "DBR_CLASS_NAME", "cmp:ai"])?;
    has_line(&text, "Class Name: ai")
}

fn caget_of_an_unknown_name_fails(clients: &Clients, server: &Server) -> Result<(), String> {
    let mut command = clients.tool("caget");
    command.args(["-w", "0.5", "cmp:nothing"]);
    let finished = run(server, command, PATIENCE)?;
    if finished.status.success() || !finished.text.contains("'cmp:nothing' not found") {
        return Err(format!("{}:\n{}", finished.status, finished.text));
    }
    Ok(())
}

fn caput_writes_numbers_labels_and_strings(clients: &Clients, server: &Server) -> Result<(), String> {
    for (name, value, shown) in [
        ("cmp:ao", "2.5", "cmp:ao 2.5"),
        ("cmp:longout", "-12", "cmp:longout -12"),
        ("cmp:bo", "On", "cmp:bo On"),
        ("cmp:bo", "0", "cmp:bo Off"),
        ("cmp:mbbo", "Fault", "cmp:mbbo Fault"),
        ("cmp:mbbo", "1", "cmp:mbbo Run"),
        ("cmp:stringin", "beam on", "cmp:stringin beam on"),
    ] {
        let text = tool(clients, server, "caput", &[name, value])?;
        if !text.contains("New :") {
            return Err(format!("caput {name} {value}: {text}"));
        }
        has_line(&tool(clients, server, "caget", &[name])?, shown)?;
    }
    Ok(())
}

fn caput_of_arrays_and_long_strings(clients: &Clients, server: &Server) -> Result<(), String> {
    tool(clients, server, "caput", &["-a", "cmp:wflong", "3", "1", "-2", "3"])?;
    has_line(&tool(clients, server, "caget", &["cmp:wflong"])?, "cmp:wflong 10 1 -2 3 0 0 0 0 0 0 0")?;
    has_line(&tool(clients, server, "caget", &["-#", "2", "cmp:wflong"])?, "cmp:wflong 2 1 -2")?;
    tool(clients, server, "caput", &["-a", "cmp:wfstring", "2", "one", "two"])?;
    has_line(&tool(clients, server, "caget", &["-#", "2", "cmp:wfstring"])?, "cmp:wfstring 2 one two")?;
    let long = "a text of more than thirty-nine characters, as a char waveform";
    tool(clients, server, "caput", &["-S", "cmp:wfchar", long])?;
    has_line(&tool(clients, server, "caget", &["-S", "cmp:wfchar"])?, &format!("cmp:wfchar {long}"))
}

fn caput_of_nonsense_fails_and_changes_nothing(clients: &Clients, server: &Server) -> Result<(), String> {
    for (name, value, before) in
        [("cmp:ao", "nonsense", "cmp:ao 1.25"), ("cmp:mbbo", "Nowhere", "cmp:mbbo Run")]
    {
        let mut command = clients.tool("caput");
        command.args(["-c", name, value]);
        let finished = run(server, command, PATIENCE)?;
        let refused = finished.text.to_lowercase().contains("fail")
            || finished.text.contains("not a valid")
            || !finished.status.success();
        if !refused {
            return Err(format!("caput {name} {value} was accepted:\n{}", finished.text));
        }
        has_line(&tool(clients, server, "caget", &[name])?, before)?;
    }
    Ok(())
}

fn caput_with_completion(clients: &Clients, server: &Server) -> Result<(), String> {
    tool(clients, server, "caput", &["-c", "-w", "10", "cmp:ao", "7"])?;
    has_line(&tool(clients, server, "caget", &["cmp:ao"])?, "cmp:ao 7")
}

/// Starts camonitor on `arguments`.
fn monitor(clients: &Clients, server: &Server, arguments: &[&str]) -> Result<Process, String> {
    let mut command = clients.tool("camonitor");
    command.args(arguments);
    Process::start(server.site.client(command))
}

fn camonitor_sees_each_put(clients: &Clients, server: &Server) -> Result<(), String> {
    let process = monitor(clients, server, &["cmp:ao", "cmp:mbbo"])?;
    process.wait_for_line(0, PATIENCE, |line| words(line).starts_with("cmp:ao") && line.contains("1.25"))?;
    process.wait_for_line(0, PATIENCE, |line| line.contains("cmp:mbbo") && line.contains("Run"))?;
    for value in ["2.5", "3.5", "4.5"] {
        let mark = process.mark();
        tool(clients, server, "caput", &["cmp:ao", value])?;
        process.wait_for_line(mark, PATIENCE, |line| line.contains("cmp:ao") && line.contains(value))?;
    }
    // Entering an alarm state is an event with the severity in it.
    let mark = process.mark();
    tool(clients, server, "caput", &["cmp:mbbo", "Fault"])?;
    process.wait_for_line(mark, PATIENCE, |line| line.contains("Fault") && line.contains("MAJOR"))?;
    Ok(())
}

fn camonitor_of_an_array_follows_its_length(clients: &Clients, server: &Server) -> Result<(), String> {
    tool(clients, server, "caput", &["-a", "cmp:wfdouble", "1", "0.5"])?;
    let process = monitor(clients, server, &["cmp:wfdouble"])?;
    process.wait_for_line(0, PATIENCE, |line| words(line).ends_with(" 0.5"))?;
    let mark = process.mark();
    tool(clients, server, "caput", &["-a", "cmp:wfdouble", "3", "1", "2", "3"])?;
    process.wait_for_line(mark, PATIENCE, |line| words(line).ends_with(" 3 1 2 3"))?;
    Ok(())
}

fn cainfo_describes_the_channel(clients: &Clients, server: &Server) -> Result<(), String> {
    let text = tool(clients, server, "cainfo", &["cmp:wfdouble"])?;
    for line in
        ["State: connected", "Access: read, write", "Native data type: DBF_DOUBLE", "Element count: 1000"]
    {
        has_line(&text, line)?;
    }
    has_line(&tool(clients, server, "cainfo", &["cmp:mbbo"])?, "Native data type: DBF_ENUM")?;
    if text.contains(&format!(":{}", server.site.port)) {
        return Ok(());
    }
    Err(format!("cainfo does not name port {}:\n{text}", server.site.port))
}

fn casw_sees_the_beacons(clients: &Clients, server: &Server) -> Result<(), String> {
    let mut command = clients.tool("casw");
    command.args(["-i", "3"]);
    let process = Process::start(server.site.client(command))?;
    let place = format!(":{}", server.site.port);
    process.wait_for_line(0, PATIENCE, |line| line.contains(&place))?;
    Ok(())
}
