// SPDX-License-Identifier: BSD-2-Clause
//! Where the status process variables get their values: the operating system, the pool and the server's counters.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::ca::Statistics;
use crate::os::{CpuTime, Identity, System};
use crate::pool;
use crate::pv::StatusSource;
use crate::pv::status::Item;
use crate::value::Text;

/// Counters of the server, readable while the server itself is at work on the read.
#[derive(Debug, Default)]
pub struct Counters {
    circuits: AtomicU32,
    channels: AtomicU32,
    monitors: AtomicU32,
    records: AtomicU32,
}

impl Counters {
    /// Takes over what the server counts.
    pub fn set(&self, statistics: &Statistics, records: u32) {
        self.circuits.store(statistics.circuits, Ordering::Relaxed);
        self.channels.store(statistics.channels, Ordering::Relaxed);
        self.monitors.store(statistics.monitors, Ordering::Relaxed);
        self.records.store(records, Ordering::Relaxed);
    }
}

/// Asked when a status is read.
pub struct Status<S> {
    system: S,
    identity: Identity,
    started_ms: u64,
    counters: Arc<Counters>,
    last: Option<CpuTime>,
    /// Loads over the last second, percent.
    load: Option<(f64, f64)>,
}

impl<S: System> Status<S> {
    /// Counts the time since start from now on.
    pub fn new(system: S) -> Self {
        let identity = system.identity();
        let started_ms = system.monotonic_ms();
        let last = system.cpu_time();
        Status {
            system,
            identity,
            started_ms,
            counters: Arc::default(),
            last,
            load: last.map(|_| (0.0, 0.0)),
        }
    }

    /// The counters that the server keeps up to date.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Works the load out since the last call; once a second.
    pub fn tick(&mut self) {
        let now = self.system.cpu_time();
        if let (Some(before), Some(now)) = (self.last, now) {
            let total = now.total.saturating_sub(before.total);
            if total == 0 {
                return;
            }
            let percent = |part: u64| 100.0 * part.min(total) as f64 / total as f64;
            let idle = now.idle.saturating_sub(before.idle);
            self.load = Some((100.0 - percent(idle), percent(now.own.saturating_sub(before.own))));
        }
        self.last = now;
    }
}

impl<S: System> StatusSource for Status<S> {
    fn number(&self, item: Item) -> Option<f64> {
        let counter = |counter: &AtomicU32| Some(f64::from(counter.load(Ordering::Relaxed)));
        let heap = || pool::pool().snapshot();
        let descriptors = || self.system.descriptors();
        match item {
            Item::MemoryFree => Some(heap()?.free_bytes as f64),
            Item::MemoryUsed => heap().map(|heap| heap.heap_bytes.saturating_sub(heap.free_bytes) as f64),
            Item::MemoryMax => Some(heap()?.heap_bytes as f64),
            Item::LargestBlock => Some(pool::pool().largest()? as f64),
            Item::FreeBlocks => Some(heap()?.free_blocks as f64),
            Item::MemoryMinimum => Some(heap()?.minimum_free_bytes as f64),
            Item::Clients => counter(&self.counters.circuits),
            Item::Channels => counter(&self.counters.channels),
            Item::Monitors => counter(&self.counters.monitors),
            Item::Records => counter(&self.counters.records),
            Item::DescriptorsMax => descriptors().map(|descriptors| f64::from(descriptors.limit)),
            Item::Descriptors => descriptors().map(|descriptors| f64::from(descriptors.used)),
            Item::CpuLoad => self.load.map(|(all, _)| all),
            Item::ProgramLoad => self.load.map(|(_, own)| own),
            Item::Processors => self.identity.processors.map(f64::from),
            Item::Heartbeat => {
                Some((self.system.monotonic_ms().saturating_sub(self.started_ms) / 1000) as f64)
            }
            Item::Process => self.identity.process.map(f64::from),
            // Nothing remembers earlier starts.
            Item::Starts => None,
            Item::DescriptorsFree
            | Item::Uptime
            | Item::Now
            | Item::Started
            | Item::Kernel
            | Item::Version
            | Item::Host => None,
        }
    }

    fn text(&self, item: Item) -> Option<Text> {
        match item {
            Item::Kernel => Some(self.identity.kernel),
            Item::Host => Some(self.identity.host),
            Item::Version => Some(Text::from(concat!("rtems-ioc ", env!("CARGO_PKG_VERSION")))),
            _ => None,
        }
    }
}
