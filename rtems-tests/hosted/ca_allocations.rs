// SPDX-License-Identifier: BSD-2-Clause
//! What the Channel Access server asks of the heap: bytes per circuit, channel and monitor, and nothing per message.
//!
//! One test, because the counting allocator is the whole program's: nothing else may run meanwhile.

#[path = "../bench/numbers.rs"]
mod numbers;

use numbers::{Bench, message};
use rtems_ioc::ca::{AdmitAll, Peer};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

static CALLS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: every call goes to `System` with the arguments that the caller vouches for; counting changes none of them.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that `work` keeps.
fn kept(work: impl FnOnce()) -> isize {
    let before = BYTES.load(Ordering::Relaxed);
    work();
    BYTES.load(Ordering::Relaxed) - before
}

/// Allocations that `work` makes.
fn calls(work: impl FnOnce()) -> usize {
    let before = CALLS.load(Ordering::Relaxed);
    work();
    CALLS.load(Ordering::Relaxed) - before
}

const COUNT: usize = 10_000;

#[test]
fn memory_per_thing_and_none_per_message() {
    numbers_cost_memory_by_thing_and_not_by_message();
    #[cfg(feature = "hosted")]
    a_status_is_read_without_allocating();
}

/// Every status PV, from this very system, as fast as a client may ask.
#[cfg(feature = "hosted")]
fn a_status_is_read_without_allocating() {
    use rtems_ioc::net::provider::Served;
    use rtems_ioc::net::status::Status;
    use rtems_ioc::os::hosted::Hosted;
    use rtems_ioc::pv::Database;

    let source = Status::new(Hosted);
    let mut database = Database::new();
    database.add_status(b"s", &source).expect("a new name");
    let mut names = Vec::new();
    for index in 0..database.len() {
        database.name(index, |name| names.push(String::from_utf8_lossy(name).into_owned()));
    }
    assert!(
        ["s:FD_CNT", "s:FD_FREE", "s:UPTIME"].iter().all(|wanted| names.iter().any(|name| name == wanted))
    );
    let mut bench = Bench::serving(Served::new(database, source, 0));
    let sids: Vec<u32> = names.iter().map(|name| bench.create_by_name(name)).collect();
    // As text, which each of them is or becomes, alone, with its status and with its time.
    let all: Vec<Vec<u8>> =
        sids.iter().flat_map(|&sid| [0, 7, 14].map(|kind| message(15, kind, 1, sid, 3, &[]))).collect();
    let made = calls(|| all.iter().for_each(|request| bench.send(request)));
    assert_eq!(bench.server.statistics().reads as usize, all.len());
    assert_eq!(bench.server.statistics().errors, 0);
    assert_eq!(made, 0, "a status is not to allocate when it is read");
    let mut source = Status::new(Hosted);
    assert_eq!(calls(|| source.tick()), 0, "nor once a second");
}

fn numbers_cost_memory_by_thing_and_not_by_message() {
    let mut bench = Bench::new(COUNT);

    let mut more = Vec::with_capacity(100);
    let circuits = kept(|| {
        for port in 0..100 {
            more.push(bench.server.accept(Peer { address: 1, port }, &AdmitAll, 0).expect("a circuit"));
        }
    });
    println!("{} bytes per circuit", circuits / 100);
    assert!(circuits / 100 <= 48 << 10);
    let back = kept(|| more.iter().for_each(|&id| bench.server.close(id)));
    assert!(-back >= circuits - 4096, "{circuits} bytes taken, {back} given back");

    let mut sids = Vec::with_capacity(COUNT);
    let channels = kept(|| (0..COUNT).for_each(|n| sids.push(bench.create(n))));
    println!("{:.1} bytes per channel", channels as f64 / COUNT as f64);
    assert!(channels as usize <= 100 * COUNT);

    let mut mask = [0; 16];
    mask[13] = 1;
    let subscriptions: Vec<u8> = sids.iter().flat_map(|&sid| message(1, 20, 1, sid, 1, &mask)).collect();
    let monitors = kept(|| bench.send(&subscriptions));
    println!("{:.1} bytes per monitor", monitors as f64 / COUNT as f64);
    assert!(monitors as usize <= 120 * COUNT);
    assert_eq!(bench.server.statistics().monitors as usize, COUNT);

    let number = 2.5f64.to_be_bytes();
    let echo = message(23, 0, 0, 0, 0, &[]);
    let mixed: Vec<u8> = sids
        .iter()
        .flat_map(|&sid| {
            let mut requests = echo.clone();
            for data_type in [0, 1, 6, 20, 34] {
                requests.extend(message(15, data_type, 1, sid, 3, &[]));
                requests.extend(message(15, data_type, 0, sid, 3, &[]));
            }
            requests.extend(message(4, 6, 1, sid, 3, &number));
            requests.extend(message(19, 0, 1, sid, 3, b"7.25"));
            requests
        })
        .collect();
    let datagram = message(6, 5, 13, 1, 1, b"n17\0");
    let updates = bench.server.statistics().updates;
    let made = calls(|| {
        bench.send(&mixed);
        for n in 0..COUNT as u32 {
            bench.server.provider_mut().set(n, f64::from(n));
            while bench.server.poll_changes(&AdmitAll, 0) {}
            bench.drain();
        }
        for _ in 0..COUNT {
            bench
                .server
                .datagram(Peer::default(), &datagram, &AdmitAll, 0, |_, packet| assert_eq!(packet.len(), 40));
        }
    });
    assert_eq!(bench.server.statistics().updates - updates, COUNT as u64);
    assert_eq!(made, 0, "messages are not to allocate");

    let cleared = kept(|| {
        let clears: Vec<u8> = sids.iter().flat_map(|&sid| message(12, 0, 0, sid, 7, &[])).collect();
        bench.send(&clears);
    });
    assert_eq!(-cleared, channels + monitors, "channels and monitors give back what they took");
}
