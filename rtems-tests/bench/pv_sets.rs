// SPDX-License-Identifier: BSD-2-Clause
//! What setting a process variable costs the application's task, in instructions: `cargo bench --bench pv_sets`.
//!
//! The program runs itself under valgrind's callgrind with two numbers of sets; the difference of the totals over the
//! difference of the numbers is one set. The server takes no value meanwhile, as when a task sets faster than it has turns;
//! in the second row it takes each, so that the bell is rung for every one. A row beyond the limit fails.

use rtems_ioc::app::{Application, Ring};
use rtems_ioc::pv::Database;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts, as a bell that somebody waits for would do at least.
struct Counter(AtomicU32);

impl Ring for Counter {
    fn ring(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Name of the row, type of the record, whether the server takes each value.
const ROWS: [(&str, &str, bool); 3] = [
    ("double, values keep coming", "ai", false),
    ("double, rings each time", "ai", true),
    ("text", "stringin", false),
];
/// The most instructions that a set may take.
const LIMIT: f64 = 300.0;
const FEW: u32 = 1_000;
const MANY: u32 = 11_000;

/// The same work with `sets` sets; only those of the row are counted, what the server does is outside.
fn run(row: usize, sets: u32) {
    let (_, type_, taken) = ROWS[row];
    let mut database = Database::new();
    let mut application = Application::new();
    let counter = Arc::new(Counter(AtomicU32::new(0)));
    application.set_bell(counter.clone());
    let pv = application.create(&mut database, type_, "x", &[], None).expect("a record");
    for number in 0..sets {
        if type_ == "ai" {
            counted_number(&pv, f64::from(number));
        } else {
            counted_text(&pv);
        }
        if taken {
            // The second turn finds nothing and listens for the bell again.
            application.begin_turn(&mut database, 10 * u64::from(number));
            application.begin_turn(&mut database, 10 * u64::from(number) + 5);
        }
    }
    assert_eq!(counter.0.load(Ordering::Relaxed), if taken { sets } else { 1 });
}

#[inline(never)]
fn counted_number(pv: &rtems_ioc::app::Pv, value: f64) {
    pv.set(value).expect("room");
}

#[inline(never)]
fn counted_text(pv: &rtems_ioc::app::Pv) {
    pv.set("a text with room for a few more").expect("room");
}

/// Instructions of the counted functions.
fn count(row: usize, sets: u32) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*::counted_*"])
        .arg("--callgrind-out-file=/dev/null")
        .arg(std::env::current_exe().ok()?)
        .args([row.to_string(), sets.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.split_whitespace().last()?.parse().ok()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if let [row, sets] = &words[..] {
        return run(row.parse().expect("a row"), sets.parse().expect("a number"));
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("pv_sets: SKIPPED: valgrind is not installed");
        return;
    }
    println!("{:<32} {:>12}   at most {LIMIT}", "set", "instructions");
    let mut failed = false;
    for (row, (name, ..)) in ROWS.iter().enumerate() {
        match (count(row, FEW), count(row, MANY)) {
            (Some(few), Some(many)) => {
                let instructions = (many - few) as f64 / f64::from(MANY - FEW);
                // A set that takes nothing was not counted.
                let good = (1.0..=LIMIT).contains(&instructions);
                failed |= !good;
                println!("{name:<32} {instructions:>12.1}{}", if good { "" } else { "   FAILED" });
            }
            _ => {
                failed = true;
                println!("{name:<32} valgrind failed");
            }
        }
    }
    if failed {
        std::process::exit(1);
    }
}
