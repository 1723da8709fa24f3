// SPDX-License-Identifier: BSD-2-Clause
//! What Linux says about this process.

#![allow(unsafe_code)]

use crate::os::{CpuTime, Descriptors, Identity};
use crate::value::Text;

/// Open file descriptors and their limit.
pub fn descriptors() -> Option<Descriptors> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local that getrlimit fills in.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return None;
    }
    // The directory itself is open while it is read.
    let used = std::fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
    Some(Descriptors { used: used as u32, limit: u32::try_from(limit.rlim_cur).unwrap_or(u32::MAX) })
}

/// What the kernel shows in a file of one line.
fn line(path: &str) -> Text {
    std::fs::read_to_string(path).map_or(Text::EMPTY, |text| Text::from(text.trim()))
}

/// Host, kernel and process.
pub fn identity() -> Identity {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Identity {
        host: line("/proc/sys/kernel/hostname"),
        kernel: Text::from(format!("Linux {}", release.trim()).as_str()),
        processors: std::thread::available_parallelism().ok().map(|count| count.get() as u32),
        process: Some(std::process::id()),
    }
}

/// Processor time in clock ticks, from /proc.
pub fn cpu_time() -> Option<CpuTime> {
    let system = std::fs::read_to_string("/proc/stat").ok()?;
    // user nice system idle iowait irq softirq steal; guest times are in user and nice already.
    let fields = system.lines().next()?.strip_prefix("cpu")?.split_whitespace().take(8);
    let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
    let own = std::fs::read_to_string("/proc/self/stat").ok()?;
    // utime and stime are the 12th and 13th field after the name in parentheses, which may contain blanks.
    let mut fields = own.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    let own = next()? + next()?;
    Some(CpuTime { total: ticks.iter().sum(), idle: ticks.get(3)? + ticks.get(4)?, own })
}

#[cfg(test)]
mod tests {
    #[test]
    fn processor_time_is_accounted_for() {
        let before = super::cpu_time().unwrap();
        let start = std::time::Instant::now();
        while start.elapsed() < std::time::Duration::from_millis(60) {}
        let after = super::cpu_time().unwrap();
        assert!(after.own > before.own && after.total > before.total && after.idle < after.total);
        assert!(!super::identity().host.as_bytes().is_empty());
    }

    #[test]
    fn descriptors_are_counted() {
        let found = super::descriptors().unwrap();
        assert!(found.used >= 3 && found.used < found.limit);
    }
}
