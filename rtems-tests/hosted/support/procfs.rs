// SPDX-License-Identifier: BSD-2-Clause
//! What the kernel says about a process: memory and CPU time.

use std::fs;

/// Resident memory in bytes.
///
/// # Errors
/// If the process is gone.
pub fn resident_bytes(pid: u32) -> Result<u64, String> {
    let text = read(pid, "status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    kilobytes
        .and_then(|number| number.parse::<u64>().ok())
        .map(|number| number * 1024)
        .ok_or_else(|| format!("no VmRSS for process {pid}"))
}

/// CPU time in seconds, user and system, of all its threads, the ended ones included; in steps of 10 ms.
///
/// # Errors
/// If the process is gone.
pub fn cpu_seconds(pid: u32) -> Result<f64, String> {
    let text = read(pid, "stat")?;
    // The name in parentheses may hold blanks; fields 14 and 15 of proc(5) are the 12th and 13th after it.
    let (_, rest) = text.rsplit_once(')').ok_or("no name in stat")?;
    let ticks: u64 =
        rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// CPU time in nanoseconds of all its threads that run now, as the scheduler counts it.
///
/// # Errors
/// If the process is gone, or the kernel keeps no such count.
pub fn cpu_nanoseconds(pid: u32) -> Result<u64, String> {
    let tasks = format!("/proc/{pid}/task");
    let mut sum = 0;
    for entry in fs::read_dir(&tasks).map_err(|error| format!("{tasks}: {error}"))?.flatten() {
        let Ok(text) = fs::read_to_string(entry.path().join("schedstat")) else { continue };
        let first = text.split(' ').next().and_then(|field| field.parse::<u64>().ok());
        sum += first.ok_or("no schedstat in this kernel")?;
    }
    Ok(sum)
}

fn read(pid: u32, file: &str) -> Result<String, String> {
    let path = format!("/proc/{pid}/{file}");
    fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))
}
