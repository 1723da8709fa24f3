// SPDX-License-Identifier: BSD-2-Clause
//! What Linux says about this process.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsRawFd;

use crate::os::{CpuTime, Descriptors, Identity};
use crate::value::Text;

/// Open file descriptors and their limit. Allocates nothing: a client may ask at any time.
pub fn descriptors() -> Option<Descriptors> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local that getrlimit fills in.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return None;
    }
    // The directory itself is open while it is read, and has an entry for itself and one for its parent.
    let used = entries(&File::open("/proc/self/fd").ok()?)?.saturating_sub(3);
    Some(Descriptors { used, limit: u32::try_from(limit.rlim_cur).unwrap_or(u32::MAX) })
}

/// How many entries an open directory has.
fn entries(directory: &File) -> Option<u32> {
    /// Where the length of an entry stands in it: after the two 64-bit numbers d_ino and d_off.
    const LENGTH_AT: usize = 16;
    let mut buffer = [0u8; 2048];
    let mut count = 0;
    loop {
        // SAFETY: the kernel writes at most as many bytes as the buffer has, and it is ours alone.
        let read = unsafe {
            libc::syscall(libc::SYS_getdents64, directory.as_raw_fd(), buffer.as_mut_ptr(), buffer.len())
        };
        let mut rest = buffer.get(..usize::try_from(read).ok()?)?;
        if rest.is_empty() {
            return Some(count);
        }
        while let Some(&[low, high]) = rest.get(LENGTH_AT..LENGTH_AT + 2) {
            let length = usize::from(u16::from_ne_bytes([low, high]));
            rest = rest.get(length.max(1)..)?;
            count += 1;
        }
    }
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

/// Processor time in clock ticks, from /proc. Allocates nothing.
pub fn cpu_time() -> Option<CpuTime> {
    let mut buffer = [0; 1024];
    // user nice system idle iowait irq softirq steal; guest times are in user and nice already.
    let fields = beginning("/proc/stat", &mut buffer)?.lines().next()?.strip_prefix("cpu")?;
    let mut ticks = [0u64; 8];
    for (ticks, field) in ticks.iter_mut().zip(fields.split_whitespace()) {
        *ticks = field.parse().ok()?;
    }
    // utime and stime are the 12th and 13th field after the name in parentheses, which may contain blanks.
    let own = beginning("/proc/self/stat", &mut buffer)?;
    let mut fields = own.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    let own = next()? + next()?;
    Some(CpuTime { total: ticks.iter().sum(), idle: ticks[3] + ticks[4], own })
}

/// As much of a file of the kernel's as the buffer holds.
fn beginning<'a>(path: &str, buffer: &'a mut [u8]) -> Option<&'a str> {
    let mut file = File::open(path).ok()?;
    let read = file.read(buffer).ok()?;
    buffer[..read].utf8_chunks().next().map(|chunk| chunk.valid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn processor_time_is_accounted_for() {
        let before = cpu_time().unwrap();
        // However long it takes to get the processor for a tick.
        let end = Instant::now() + Duration::from_secs(60);
        let after = loop {
            let after = cpu_time().unwrap();
            if after.own > before.own && after.total > before.total {
                break after;
            }
            assert!(Instant::now() < end, "{before:?} and still {after:?}");
        };
        assert!(after.idle < after.total);
        assert!(!identity().host.as_bytes().is_empty());
    }

    #[test]
    fn descriptors_are_counted() {
        let found = descriptors().unwrap();
        assert!(found.used >= 3 && found.used < found.limit);
        // Other tests open and close some meanwhile, but nobody has that many.
        let more: Vec<File> = (0..200).map(|_| File::open("/dev/null").unwrap()).collect();
        let with_more = descriptors().unwrap();
        assert!(with_more.used.abs_diff(found.used + 200) < 100, "{found:?}, {with_more:?}");
        drop(more);
    }
}
