// SPDX-License-Identifier: BSD-2-Clause
//! Status of the machine and the server as process variables, named as iocStats names them.
//!
//! Existing screens then work. A value is computed when it is read, so it cannot be stale; while somebody subscribes,
//! it is sampled once a second.

use super::record::Record;
use super::{OutOfMemory, RecordType};
use crate::value::{Stamp, Text};
use core::fmt::Write;

/// What the rest of the program knows, asked for at the moment of a read.
pub trait StatusSource {
    /// The value of a numeric item, in its units; `None` where this system does not know it.
    fn number(&self, item: Item) -> Option<f64>;

    /// The value of a text item other than times; `None` where this system does not know it.
    fn text(&self, item: Item) -> Option<Text>;
}

/// A status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Item {
    /// Free bytes of the pool.
    MemoryFree,
    /// Allocated bytes of the pool.
    MemoryUsed,
    /// Size of the pool in bytes.
    MemoryMax,
    /// The largest contiguous free block in bytes: what admission is decided by.
    LargestBlock,
    /// Number of free blocks.
    FreeBlocks,
    /// Fewest free bytes ever.
    MemoryMinimum,
    /// Connected clients (circuits).
    Clients,
    /// Channels of all clients.
    Channels,
    /// Subscriptions of all clients.
    Monitors,
    /// Number of process variables.
    Records,
    /// Descriptors that can be open.
    DescriptorsMax,
    /// Open descriptors.
    Descriptors,
    /// Descriptors that can still be opened.
    DescriptorsFree,
    /// Load of the processor, percent.
    CpuLoad,
    /// Load of the processor by this program, percent.
    ProgramLoad,
    /// Number of processors.
    Processors,
    /// Seconds since the start, counted.
    Heartbeat,
    /// How often this installation has started.
    Starts,
    /// Process identifier.
    Process,
    /// Time since the start.
    Uptime,
    /// Time and date, UTC.
    Now,
    /// Time and date of the start, UTC.
    Started,
    /// Version of the operating system.
    Kernel,
    /// Version of this program.
    Version,
    /// Name of the host.
    Host,
}

/// One row of the table.
struct Row {
    item: Item,
    suffix: &'static str,
    description: &'static str,
    units: &'static str,
    precision: i16,
}

const fn row(
    item: Item,
    suffix: &'static str,
    description: &'static str,
    units: &'static str,
    precision: i16,
) -> Row {
    Row { item, suffix, description, units, precision }
}

/// In the order of [`Item`].
const TABLE: &[Row] = &[
    row(Item::MemoryFree, "MEM_FREE", "Free Memory", "byte", 0),
    row(Item::MemoryUsed, "MEM_USED", "Allocated Memory", "byte", 0),
    row(Item::MemoryMax, "MEM_MAX", "Maximum Memory", "byte", 0),
    row(Item::LargestBlock, "MEM_BLK", "Largest Free Block", "byte", 0),
    row(Item::FreeBlocks, "MEM_BLK_CNT", "Number of Free Blocks", "", 0),
    row(Item::MemoryMinimum, "MEM_MIN", "Fewest Free Bytes Ever", "byte", 0),
    row(Item::Clients, "CA_CLNT_CNT", "Number of CA Clients", "", 0),
    row(Item::Channels, "CA_CONN_CNT", "Number of CA Connections", "", 0),
    row(Item::Monitors, "CA_MON_CNT", "Number of CA Monitors", "", 0),
    row(Item::Records, "RECORD_CNT", "Number of Records", "", 0),
    row(Item::DescriptorsMax, "FD_MAX", "Max File Descriptors", "", 0),
    row(Item::Descriptors, "FD_CNT", "Allocated File Descriptors", "", 0),
    row(Item::DescriptorsFree, "FD_FREE", "Available FDs", "", 0),
    row(Item::CpuLoad, "SYS_CPU_LOAD", "System CPU Load", "%", 1),
    row(Item::ProgramLoad, "IOC_CPU_LOAD", "IOC CPU Load", "%", 1),
    row(Item::Processors, "CPU_CNT", "Number of CPUs", "", 0),
    row(Item::Heartbeat, "HEARTBEAT", "1 Hz counter since startup", "", 0),
    row(Item::Starts, "START_CNT", "Increments at startup", "", 0),
    row(Item::Process, "PROCESS_ID", "Process ID", "", 0),
    row(Item::Uptime, "UPTIME", "Elapsed Time since Start", "", 0),
    row(Item::Now, "TOD", "Current time and date (UTC)", "", 0),
    row(Item::Started, "STARTTOD", "Time and date of startup (UTC)", "", 0),
    row(Item::Kernel, "KERNEL_VERS", "Kernel Version", "", 0),
    row(Item::Version, "EPICS_VERS", "Server Version", "", 0),
    row(Item::Host, "HOSTNAME", "Host Name", "", 0),
];

/// A value just computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sample {
    Number(f64),
    Text(Text),
}

/// All items with the suffix of their names.
pub(super) fn items() -> impl Iterator<Item = (Item, &'static str)> {
    TABLE.iter().map(|row| (row.item, row.suffix))
}

/// The item of a record's status number (its position in the table plus one).
pub(super) fn item(number: u8) -> Option<Item> {
    TABLE.get(usize::from(number).checked_sub(1)?).map(|row| row.item)
}

/// Computes an item now. FD_FREE, UPTIME and the times of day follow from others.
pub(super) fn sample(item: Item, source: &dyn StatusSource, now: Stamp) -> Option<Sample> {
    let uptime = || source.number(Item::Heartbeat).map(|s| s as u64);
    match item {
        Item::DescriptorsFree => {
            let free = source
                .number(item)
                .or_else(|| Some(source.number(Item::DescriptorsMax)? - source.number(Item::Descriptors)?))?;
            Some(Sample::Number(free))
        }
        Item::Uptime => Some(Sample::Text(uptime_text(uptime()?))),
        Item::Now => Some(Sample::Text(date_text(now))),
        Item::Started => {
            let started = if now == Stamp::UNSET {
                now
            } else {
                Stamp {
                    seconds: now.seconds.saturating_sub(uptime()?.min(u64::from(u32::MAX)) as u32),
                    ..now
                }
            };
            Some(Sample::Text(date_text(started)))
        }
        Item::Kernel | Item::Version | Item::Host => source.text(item).map(Sample::Text),
        _ => source.number(item).map(Sample::Number),
    }
}

/// A record that shows an item.
pub(super) fn record(item: Item, first: Sample) -> Result<Record, OutOfMemory> {
    let row = &TABLE[item as usize];
    let mut record =
        Record::new(if matches!(first, Sample::Number(_)) { RecordType::Ai } else { RecordType::Stringin })?;
    record.status = item as u8 + 1;
    record.set_flag(super::record::flag::UNDEFINED, false);
    record.set_flag(super::record::flag::READ_ONLY, true);
    record.alarm = crate::value::Alarm::NONE;
    record.description = Some(super::boxed::Boxed::new(Text::from(row.description))?);
    if !row.units.is_empty() || row.precision != 0 {
        let analog = record.analog_mut()?;
        analog.units[..row.units.len()].copy_from_slice(row.units.as_bytes());
        analog.precision = row.precision;
    }
    Ok(record)
}

fn written(arguments: core::fmt::Arguments<'_>) -> Text {
    Text::written(|out| {
        // Cannot fail: the cursor swallows what does not fit.
        let _ = crate::value::convert::format::Cursor::new(out).write_fmt(arguments);
    })
}

/// "2 days, 03:04:05", as iocStats writes it.
fn uptime_text(seconds: u64) -> Text {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let seconds = seconds % 60;
    match days {
        0 => written(format_args!("{hours:02}:{minutes:02}:{seconds:02}")),
        1 => written(format_args!("1 day, {hours:02}:{minutes:02}:{seconds:02}")),
        _ => written(format_args!("{days} days, {hours:02}:{minutes:02}:{seconds:02}")),
    }
}

/// "11/30/2026 18:36:59", as iocStats writes it, in UTC; says so while the clock is not set.
fn date_text(stamp: Stamp) -> Text {
    if stamp == Stamp::UNSET {
        return Text::from("clock not set");
    }
    let second = stamp.seconds % 86_400;
    let (year, month, day) = stamp.date();
    written(format_args!(
        "{month:02}/{day:02}/{year:04} {:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_items() {
        for (position, row) in TABLE.iter().enumerate() {
            assert_eq!(row.item as usize, position, "{}", row.suffix);
        }
    }

    #[test]
    fn uptime_reads_as_in_iocstats() {
        assert_eq!(uptime_text(59), "00:00:59".into());
        assert_eq!(uptime_text(86_400 + 3_661), "1 day, 01:01:01".into());
        assert_eq!(uptime_text(20 * 86_400), "20 days, 00:00:00".into());
    }

    #[test]
    fn dates() {
        let at = |seconds| date_text(Stamp { seconds, nanoseconds: 0 });
        assert_eq!(at(0), "clock not set".into());
        assert_eq!(at(1), "01/01/1990 00:00:01".into());
        // 2026-11-30 18:36:59 UTC is 1796063819 since 1970.
        assert_eq!(at(1_796_063_819 - 631_152_000), "11/30/2026 18:36:59".into());
        // 2000-02-29 12:00:00 UTC is 951825600 since 1970.
        assert_eq!(at(951_825_600 - 631_152_000), "02/29/2000 12:00:00".into());
        // The last second of the epoch.
        assert_eq!(at(u32::MAX), "02/07/2126 06:28:15".into());
    }
}
