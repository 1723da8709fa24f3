// SPDX-License-Identifier: BSD-2-Clause
//! Where the processor's time goes while a load runs: each task's share of an interval, idle first.
//!
//! Two looks at the operating system's own accounting ([`Accounting`]) and their difference. What the accounting does not
//! name (interrupts, tasks that came and went in between, other programs) is shown as the rest, so that the shares add up.

use crate::shell;
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// One task as the accounting knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The system's number of it, never used for two tasks within an interval.
    pub id: u64,
    /// Its name, padded with zeros.
    pub name: [u8; 16],
    /// Processor time used so far, nanoseconds.
    pub cpu_ns: u64,
    /// It runs only when nobody else wants to.
    pub idle: bool,
}

/// The operating system's accounting.
pub trait Accounting {
    /// Monotonic time, nanoseconds.
    fn now_ns(&self) -> u64;

    /// Processors in use.
    fn processors(&self) -> u32;

    /// Visits every task. The error is what to print.
    fn tasks(&self, visit: &mut dyn FnMut(Task)) -> Result<(), &'static str>;

    /// Sleeps so long.
    fn sleep_ms(&self, milliseconds: u64);
}

/// One task's part of the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    task: Task,
    ns: u64,
}

/// What an interval looked like.
#[derive(Debug, Default)]
pub struct Interval {
    ns: u64,
    processors: u32,
    shares: Vec<Share>,
    /// Time that no task accounts for.
    rest_ns: u64,
}

impl Interval {
    /// Looks, sleeps and looks again.
    pub fn watch(accounting: &impl Accounting, milliseconds: u64) -> Result<Interval, &'static str> {
        let before = look(accounting)?;
        let start = accounting.now_ns();
        accounting.sleep_ms(milliseconds);
        let ns = accounting.now_ns().saturating_sub(start);
        let after = look(accounting)?;
        Interval::between(&before, after, ns, accounting.processors())
    }

    fn between(
        before: &[Task],
        after: Vec<Task>,
        ns: u64,
        processors: u32,
    ) -> Result<Interval, &'static str> {
        let mut shares = Vec::new();
        shares.try_reserve_exact(after.len()).map_err(|_| NO_MEMORY)?;
        for task in after {
            let used = match before.binary_search_by_key(&task.id, |task| task.id) {
                Ok(index) => task.cpu_ns.saturating_sub(before[index].cpu_ns),
                // It came in between: all it has used fell into the interval.
                Err(_) => task.cpu_ns,
            };
            shares.push(Share { task, ns: used });
        }
        shares.sort_unstable_by_key(|share| (!share.task.idle, core::cmp::Reverse(share.ns), share.task.id));
        let all = ns.saturating_mul(u64::from(processors));
        let rest_ns = all.saturating_sub(shares.iter().map(|share| share.ns).sum());
        Ok(Interval { ns, processors, shares, rest_ns })
    }

    /// Prints it; tasks that used nothing are counted, not listed.
    pub fn report(&self, out: &mut dyn Write) -> fmt::Result {
        let Interval { ns, processors, rest_ns, .. } = *self;
        writeln!(out, "{}.{:03} s on {processors} CPU", ns / 1_000_000_000, ns / 1_000_000 % 1000)?;
        let mut quiet = 0;
        for Share { task, ns } in &self.shares {
            let permille = self.permille(*ns);
            if permille == 0 && !task.idle {
                quiet += 1;
                continue;
            }
            let name = task.name.split(|&byte| byte == 0).next().unwrap_or_default();
            write!(out, "{:4}.{} %  ", permille / 10, permille % 10)?;
            for &byte in name {
                out.write_char(if byte.is_ascii_graphic() { char::from(byte) } else { '?' })?;
            }
            writeln!(out, "{:width$}  {:#x}", "", task.id, width = 16 - name.len())?;
        }
        let permille = self.permille(rest_ns);
        writeln!(
            out,
            "{:4}.{} %  (the rest: interrupts and what no task accounts for)",
            permille / 10,
            permille % 10
        )?;
        writeln!(out, "{quiet} tasks used less than 0.1 %")
    }

    /// Of all processors.
    fn permille(&self, ns: u64) -> u64 {
        let all = self.ns.saturating_mul(u64::from(self.processors)).max(1);
        // Rounded, without leaving 64 bits for any interval up to some months.
        (ns.saturating_mul(1000).saturating_add(all / 2)) / all
    }
}

const NO_MEMORY: &str = "no memory for the list of tasks";

/// All tasks, in the order of their numbers.
fn look(accounting: &impl Accounting) -> Result<Vec<Task>, &'static str> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut full = false;
    accounting.tasks(&mut |task| {
        // The list is made while the system is looked at: it must not fail in the middle.
        if tasks.try_reserve(1).is_ok() { tasks.push(task) } else { full = true }
    })?;
    if full {
        return Err(NO_MEMORY);
    }
    tasks.sort_unstable_by_key(|task| task.id);
    Ok(tasks)
}

/// How the command is used.
pub const USAGE: &str = "usage: spy [SECONDS [REPEATS]]\n";
/// Longest interval, seconds.
const LONGEST: f64 = 3600.0;

/// The shell command: one interval (2 s) or several, one report each.
pub fn command(accounting: &impl Accounting, out: &mut dyn Write, arguments: &[&str]) -> i32 {
    let parsed = match arguments {
        [] => Some((2.0, 1)),
        [seconds] => seconds.parse().ok().map(|seconds| (seconds, 1)),
        [seconds, repeats] => seconds.parse().ok().zip(repeats.parse().ok()),
        _ => None,
    };
    let Some((seconds, repeats)) =
        parsed.filter(|&(seconds, _): &(f64, u32)| seconds > 0.0 && seconds <= LONGEST)
    else {
        let _ = out.write_str(USAGE);
        return shell::USAGE;
    };
    for _ in 0..repeats {
        let reported = match Interval::watch(accounting, (seconds * 1000.0) as u64) {
            Ok(interval) => interval.report(out),
            Err(text) => {
                let _ = writeln!(out, "spy: {text}");
                return shell::FAILED;
            }
        };
        if reported.is_err() {
            return shell::FAILED;
        }
    }
    shell::OK
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use core::cell::Cell;

    /// Two seconds in which "work" runs 500 ms, "IDLE" 1200 ms, and one task comes in between with 100 ms.
    struct Scripted(Cell<u32>);

    fn task(id: u64, name: &str, ms: u64) -> Task {
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        Task { id, name: bytes, cpu_ns: ms * 1_000_000, idle: name == "IDLE" }
    }

    impl Accounting for Scripted {
        fn now_ns(&self) -> u64 {
            u64::from(self.0.get()) * 2_000_000_000
        }
        fn processors(&self) -> u32 {
            1
        }
        fn tasks(&self, visit: &mut dyn FnMut(Task)) -> Result<(), &'static str> {
            let later = u64::from(self.0.get());
            visit(task(0x0a010009, "work", 70 + 500 * later));
            visit(task(0x0a010002, "quiet", 40));
            visit(task(0x09010001, "IDLE", 9000 + 1200 * later));
            if later > 0 {
                visit(task(0x0a010010, "new\x1b", 100));
            }
            Ok(())
        }
        fn sleep_ms(&self, milliseconds: u64) {
            assert_eq!(milliseconds, 2000);
            self.0.set(1);
        }
    }

    #[test]
    fn shares_add_up_and_idle_comes_first() {
        let mut text = String::new();
        assert_eq!(command(&Scripted(Cell::new(0)), &mut text, &[]), 0);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "2.000 s on 1 CPU");
        assert_eq!(lines[1], "  60.0 %  IDLE              0x9010001");
        assert_eq!(lines[2], "  25.0 %  work              0xa010009");
        assert_eq!(lines[3], "   5.0 %  new?              0xa010010");
        assert!(lines[4].starts_with("  10.0 %  (the rest"));
        assert_eq!(lines[5], "1 tasks used less than 0.1 %");
    }

    #[test]
    fn wrong_arguments_show_the_usage() {
        for arguments in [&["x"][..], &["0"], &["-1"], &["nan"], &["1", "y"], &["1", "2", "3"], &["1e9"]] {
            let mut text = String::new();
            assert_eq!(command(&Scripted(Cell::new(0)), &mut text, arguments), shell::USAGE);
            assert_eq!(text, USAGE);
        }
    }
}
