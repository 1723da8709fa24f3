// SPDX-License-Identifier: BSD-2-Clause
//! Processor time of each thread of a process, from /proc.

use crate::spy::{Accounting, Task};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

/// The process that is looked at.
#[derive(Clone, Debug)]
pub struct Process {
    directory: PathBuf,
}

impl Process {
    /// This one.
    pub fn own() -> Process {
        Process { directory: "/proc/self/task".into() }
    }

    /// Another one.
    pub fn of(id: u32) -> Process {
        Process { directory: format!("/proc/{id}/task").into() }
    }
}

/// The number of the row that stands for all idle processors: no thread has it.
const IDLE: u64 = 0;

impl Accounting for Process {
    fn now_ns(&self) -> u64 {
        super::clock::monotonic_ns()
    }

    fn processors(&self) -> u32 {
        std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
    }

    fn tasks(&self, visit: &mut dyn FnMut(Task)) -> Result<(), &'static str> {
        let entries = fs::read_dir(&self.directory).map_err(|error| match error.kind() {
            ErrorKind::NotFound => "no such process",
            ErrorKind::PermissionDenied => "not permitted to look at this process",
            _ => "/proc cannot be read",
        })?;
        visit(Task {
            id: IDLE,
            name: name_of("IDLE"),
            cpu_ns: idle_ns().ok_or("/proc/stat cannot be read")?,
            idle: true,
        });
        for entry in entries.flatten() {
            // A thread may end while it is looked at.
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let Ok(schedule) = fs::read_to_string(entry.path().join("schedstat")) else { continue };
            let Some(cpu_ns) = schedule.split(' ').next().and_then(|text| text.parse().ok()) else {
                continue;
            };
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            visit(Task { id, name: name_of(name.trim_end()), cpu_ns, idle: false });
        }
        Ok(())
    }

    fn sleep_ms(&self, milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}

/// Idle time of all processors since boot: fields 4 and 5 of the first line of /proc/stat, in ticks of 10 ms.
fn idle_ns() -> Option<u64> {
    const TICK_NS: u64 = 10_000_000;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let mut fields = stat.lines().next()?.split_whitespace().skip(4);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks * TICK_NS)
}

fn name_of(text: &str) -> [u8; 16] {
    let mut name = [0; 16];
    let bytes = text.len().min(15);
    name[..bytes].copy_from_slice(&text.as_bytes()[..bytes]);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spy::Interval;

    #[test]
    fn a_busy_thread_is_seen() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let text = std::thread::scope(|scope| {
            std::thread::Builder::new()
                .name("busy-bee".into())
                .spawn_scoped(scope, || {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                })
                .unwrap();
            let interval = Interval::watch(&Process::own(), 300);
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            let mut text = String::new();
            interval.unwrap().report(&mut text).unwrap();
            text
        });
        assert!(text.lines().nth(1).unwrap().contains("IDLE"), "{text}");
        assert!(text.contains("busy-bee"), "{text}");
    }

    #[test]
    fn an_unknown_process_is_said_so() {
        assert_eq!(Process::of(u32::MAX).tasks(&mut |_| {}), Err("no such process"));
    }
}
