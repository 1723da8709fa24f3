// SPDX-License-Identifier: BSD-2-Clause
//! The measuring subcommands as a user runs them: rtex shows the known pattern, catime and netcheck measure our own servers.

use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_rtems-ioc"));
    program
        .env("EPICS_CA_ADDR_LIST", "127.0.0.1")
        .env("EPICS_CA_AUTO_ADDR_LIST", "NO")
        .env("EPICS_CAS_AUTO_BEACON_ADDR_LIST", "NO");
    program
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Page faults of the lines with this label, in order.
fn faults(text: &str, label: &str) -> Vec<u64> {
    let lines = text.lines().filter(|line| line.contains(label));
    lines.map(|line| line.split_whitespace().nth(2).unwrap().parse().unwrap()).collect()
}

#[test]
fn rtex_first_touch_is_expensive_without_remedies_and_flat_with_all() {
    let plain = text(&program().args(["rtex", "0x10"]).output().unwrap());
    let (heap, stack) = (faults(&plain, "testfunc_malloc"), faults(&plain, "testfunc_deepstack"));
    // 10 MiB are 2560 pages; the first block is mapped by itself and given back, the second one stays in the heap.
    assert!(heap[0] >= 2500 && heap[1] >= 2500 && heap[2] < 100 && heap[3] < 100, "{plain}");
    assert!(stack[0] >= 1000 && stack[1..].iter().all(|&faults| faults < 20), "{plain}");

    let remedied = text(&program().args(["rtex", "0x1f"]).output().unwrap());
    let all = faults(&remedied, "testfunc_");
    assert!(all.len() == 8 && all.iter().all(|&faults| faults < 20), "{remedied}");
    assert!(faults(&remedied, "main setup")[0] >= 5000, "{remedied}");
}

/// A server that is ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Four free ports in a row would be luck: one for Channel Access, three in a row for tcpecho.
fn serve() -> (Server, u16, u16) {
    for base in (20_000 + std::process::id() as u16 % 20_000..).step_by(8) {
        let free = (base..base + 4).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
        if !free {
            continue;
        }
        let ports = [base.to_string(), (base + 1).to_string()];
        let child = program()
            .args(["--port", &ports[0], "--echo-port", &ports[1]])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let server = Server(child);
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", base)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        return (server, base, base + 1);
    }
    unreachable!("the ports of a computer are finite")
}

#[test]
fn catime_and_netcheck_measure_our_own_servers() {
    let (_server, channel_access, echo) = serve();
    let catime = |words: &[&str]| {
        let mut command = program();
        command.env("EPICS_CA_SERVER_PORT", channel_access.to_string());
        let output = command.args(["catime", "--search-timeout", "20"]).args(words).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let rows = catime(&["ioc:catime", "200", "1"]);
    assert!(rows.contains("channel name=ioc:catime000000, native type=6, native count=1\n"), "{rows}");
    assert_eq!(rows.matches("Per Op, ").count(), 15, "{rows}");
    assert!(catime(&["--table", "ioc:catime", "50"]).contains("async get DBR_STRING"));
    // With threads and without; as many channels as the heap of the start would not hold.
    for (words, channels) in [(&["--json"][..], 40_000), (&["--json", "--one-thread"], 50)] {
        let count = channels.to_string();
        let text = catime(&[words, &["ioc:catime", &count]].concat());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&json["channels"], &json["errors"]), (&channels.into(), &0.into()));
    }

    let output = program()
        .args(["netcheck", "127.0.0.1", "--port", &echo.to_string(), "--megabytes", "8", "--json"])
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // Whatever a busy computer does to the rates of its loopback: no byte is wrong, and all came.
    for mode in ["out", "in", "both"] {
        assert_eq!(json["measurements"][mode]["wrong_at"], serde_json::Value::Null);
        assert_eq!(json["measurements"][mode]["complete"], true, "{mode}: {json}");
    }
    assert_eq!(json["measurements"]["round_trips"].as_array().map(Vec::len), Some(26));
}

#[test]
fn what_cannot_be_measured_is_said() {
    let nobody = program().args(["netcheck", "127.0.0.1", "--port", "1"]).output().unwrap();
    assert_eq!(nobody.status.code(), Some(2));
    assert!(text(&nobody).contains("round trips (echo)"), "{}", text(&nobody));
    assert_eq!(program().args(["catime", "x", "0"]).output().unwrap().status.code(), Some(2));
    assert_eq!(program().args(["spy", "4294967295", "0.1"]).output().unwrap().status.code(), Some(1));
}
