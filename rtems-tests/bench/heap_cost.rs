// SPDX-License-Identifier: BSD-2-Clause
//! Instructions per query and per recorded heap operation, counted by callgrind: `cargo bench --bench heap_cost`.
//!
//! (`--no-default-features` builds faster and gives the same figures.) The program runs itself under valgrind once per row.
//! Only functions named `counted_*` are counted, and what the empty loop costs is subtracted. Limits that the package
//! promises are checked: a row above its limit fails the run, and so does a missing valgrind.

use std::hint::black_box;
use std::process::{Command, ExitCode};

use rtems_ioc::heap::model::{Heap, Hooks, NoHooks};
use rtems_ioc::heap::tier_b::Search;
use rtems_ioc::heap::{FreeNote, Native, ResizeNote, Tracker, walk};
use rtems_ioc::os::raw_memory::RawMemory;
use rtems_ioc::pool::Pool;

type Model = Heap<Native>;

/// The hooks, each call of which is counted.
struct Counted<'a>(&'a mut Tracker<Native>, &'a Pool, u64);

#[inline(never)]
fn counted_allocated(hooks: &mut Counted<'_>, memory: &RawMemory, heap: usize, pointer: usize) {
    hooks.0.allocated(memory, heap, pointer);
    hooks.1.publish(hooks.0.bound());
}
#[inline(never)]
fn counted_before_free(
    hooks: &mut Counted<'_>,
    memory: &RawMemory,
    heap: usize,
    pointer: usize,
    note: &mut FreeNote,
) {
    hooks.0.before_free(memory, heap, pointer, note);
}
#[inline(never)]
fn counted_after_free(
    hooks: &mut Counted<'_>,
    memory: &RawMemory,
    heap: usize,
    note: &FreeNote,
    freed: bool,
) {
    hooks.0.after_free(memory, heap, note, freed);
    hooks.1.publish(hooks.0.bound());
}
#[inline(never)]
fn counted_before_resize(
    hooks: &mut Counted<'_>,
    memory: &RawMemory,
    heap: usize,
    pointer: usize,
    note: &mut ResizeNote,
) {
    *note = hooks.0.before_resize(memory, heap, pointer);
}
#[inline(never)]
fn counted_after_resize(hooks: &mut Counted<'_>, memory: &RawMemory, heap: usize, note: &ResizeNote) {
    hooks.0.after_resize(memory, heap, note);
    hooks.1.publish(hooks.0.bound());
}

impl Hooks<RawMemory> for Counted<'_> {
    fn allocated(&mut self, memory: &RawMemory, heap: usize, pointer: usize) {
        self.2 += 1;
        counted_allocated(self, memory, heap, pointer);
    }
    fn before_free(&mut self, memory: &RawMemory, heap: usize, pointer: usize, note: &mut FreeNote) {
        counted_before_free(self, memory, heap, pointer, note);
    }
    fn after_free(&mut self, memory: &RawMemory, heap: usize, note: &FreeNote, freed: bool) {
        self.2 += 1;
        counted_after_free(self, memory, heap, note, freed);
    }
    fn before_resize(&mut self, memory: &RawMemory, heap: usize, pointer: usize) -> ResizeNote {
        let mut note = ResizeNote::default();
        counted_before_resize(self, memory, heap, pointer, &mut note);
        note
    }
    fn after_resize(&mut self, memory: &RawMemory, heap: usize, note: &ResizeNote) {
        self.2 += 1;
        counted_after_resize(self, memory, heap, note);
    }
    fn before_greedy(&mut self) {
        self.0.before_greedy();
    }
    fn after_greedy(&mut self, memory: &RawMemory, heap: usize) {
        self.0.after_greedy(memory, heap);
    }
}

/// A heap with `blocks` used blocks, every second one of which was freed again if `holes`; all of one size class.
struct Bench {
    /// What the heap lies in.
    _area: Vec<u64>,
    memory: RawMemory,
    heap: Model,
    tracker: Tracker<Native>,
    pool: Pool,
}

/// What is requested per block: 2048 bytes with its header.
const REQUEST: usize = 2032;
/// A smaller request for rows that need many blocks: 64 bytes with its header.
const SMALL_REQUEST: usize = 48;

impl Bench {
    fn new(blocks: usize, request: usize, holes: bool) -> Self {
        let bytes = (blocks + 2) * (request + 16) + (8 << 20);
        let mut area = vec![0u64; bytes / 8];
        let base = area.as_mut_ptr().expose_provenance();
        // SAFETY: the heap made below lies in `area`, which lives as long as it, and this is the only thread.
        let mut memory = unsafe { RawMemory::new() };
        let heap = Model::at(base);
        assert_ne!(heap.initialize(&mut memory, base + 4096, bytes - 8192, 16), 0);
        let mut tracker = Tracker::new();
        let mut freed = Vec::new();
        for block in 0..blocks {
            let pointer = heap.allocate(&mut memory, &mut tracker, request, 0, 0);
            assert_ne!(pointer, 0);
            if holes && block % 2 == 1 {
                freed.push(pointer);
            }
        }
        for pointer in freed {
            heap.free(&mut memory, &mut tracker, pointer);
        }
        let pool = Pool::new();
        pool.publish(tracker.bound());
        Self { _area: area, memory, heap, tracker, pool }
    }
}

#[inline(never)]
fn counted_empty(times: u64) -> u64 {
    let mut yes = 0;
    for size in 0..times {
        yes += u64::from(black_box(black_box(size as usize) < 1 << 30));
    }
    yes
}

#[inline(never)]
fn counted_query(pool: &Pool, from: usize, times: u64) -> u64 {
    let mut yes = 0;
    for size in 0..times {
        yes += u64::from(black_box(pool.admits(black_box(from + size as usize))));
    }
    yes
}

#[inline(never)]
fn counted_walk(memory: &RawMemory, heap: usize) -> usize {
    walk::totals::<Native, _>(memory, heap).free_bytes
}

#[inline(never)]
fn counted_free_list(memory: &RawMemory, heap: usize) -> usize {
    walk::free_list::<Native, _>(memory, heap).largest_free
}

#[inline(never)]
fn counted_tier_b(search: &mut Search, memory: &RawMemory, heap: usize, bytes: usize) -> bool {
    search.has_block::<Native, _>(memory, heap, bytes)
}

#[inline(never)]
fn counted_largest(tracker: &mut Tracker<Native>, memory: &RawMemory) -> usize {
    tracker.largest_exact(memory)
}

/// Random operations on a heap that was fragmented before; returns how many were recorded.
fn churn(bench: &mut Bench, times: usize) -> u64 {
    let mut random = fastrand::Rng::with_seed(1);
    let mut live = Vec::new();
    let Bench { memory, heap, tracker, pool, .. } = bench;
    let mut hooks = Counted(tracker, pool, 0);
    for _ in 0..times {
        let size = if random.u8(..8) == 0 { random.usize(1..20_000) } else { random.usize(1..300) };
        match random.u8(..10) {
            0..5 => match heap.allocate(memory, &mut hooks, size, 0, 0) {
                0 => {}
                pointer => live.push(pointer),
            },
            5 if !live.is_empty() => {
                let pointer = live[random.usize(..live.len())];
                heap.resize(memory, &mut hooks, pointer, size);
            }
            _ if !live.is_empty() => {
                let pointer = live.swap_remove(random.usize(..live.len()));
                assert!(heap.free(memory, &mut hooks, pointer));
            }
            _ => {}
        }
    }
    assert_eq!(hooks.0.snapshot(memory).resyncs, 0);
    hooks.2
}

/// One row: what is measured, how, and the most it may cost (0: no promise). Running it returns how many were counted.
struct Row {
    name: &'static str,
    limit: u64,
    run: fn() -> u64,
}

const QUERIES: u64 = 10_000;

fn query(blocks: usize) -> u64 {
    let bench = Bench::new(blocks, SMALL_REQUEST, true);
    black_box(counted_query(&bench.pool, 600, QUERIES));
    QUERIES
}

const ROWS: &[Row] = &[
    Row { name: "empty loop", limit: 0, run: || black_box(counted_empty(QUERIES)).max(QUERIES) },
    Row { name: "query, 10 blocks", limit: 25, run: || query(10) },
    Row { name: "query, 1 000 blocks", limit: 25, run: || query(1_000) },
    Row { name: "query, 1 000 000 blocks", limit: 25, run: || query(1_000_000) },
    Row {
        name: "query in the top class, 100 000 members, churn",
        limit: 25,
        run: || {
            // Only holes of 2048 bytes are left, and one of them is taken and given back all the time.
            let mut bench = Bench::new(200_000, REQUEST, true);
            let rest = bench.tracker.largest_exact(&bench.memory);
            let Bench { memory, heap, tracker, pool, .. } = &mut bench;
            assert_ne!(heap.allocate(memory, tracker, rest - 8, 0, 0), 0);
            pool.set_reserve(0);
            for step in 0..100 {
                let pointer = heap.allocate(memory, tracker, REQUEST - 16 * (step % 3), 0, 0);
                pool.publish(tracker.bound());
                black_box(counted_query(pool, 2030, QUERIES / 100));
                heap.free(memory, tracker, pointer);
                pool.publish(tracker.bound());
            }
            QUERIES
        },
    },
    Row {
        name: "one recorded operation, 10 000 holes",
        limit: 120,
        run: || churn(&mut Bench::new(20_000, SMALL_REQUEST, true), 20_000),
    },
    Row {
        name: "one recorded operation, plain heap",
        limit: 120,
        run: || churn(&mut Bench::new(10, 64, false), 20_000),
    },
    Row {
        name: "one recorded operation, 1 MB of 10 left",
        limit: 0,
        run: || {
            let mut bench = Bench::new(20_000, SMALL_REQUEST, true);
            let rest = bench.tracker.largest_exact(&bench.memory);
            let Bench { memory, heap, tracker, .. } = &mut bench;
            assert_ne!(heap.allocate(memory, tracker, rest - (1 << 20), 0, 0), 0);
            churn(&mut bench, 20_000)
        },
    },
    Row {
        name: "largest, 50 000 holes",
        limit: 0,
        run: || {
            let mut bench = Bench::new(100_000, SMALL_REQUEST, true);
            black_box(counted_largest(&mut bench.tracker, &bench.memory));
            1
        },
    },
    Row {
        name: "tier B search, 50 000 holes",
        limit: 0,
        run: || {
            let bench = Bench::new(100_000, SMALL_REQUEST, true);
            black_box(counted_tier_b(&mut Search::new(), &bench.memory, bench.heap.address(), 50_000));
            1
        },
    },
    Row { name: "free-list walk, 500 holes", limit: 0, run: || free_list(1_000) },
    Row { name: "free-list walk, 50 000 holes", limit: 0, run: || free_list(100_000) },
    Row { name: "full walk, 1 000 blocks", limit: 0, run: || full_walk(1_000) },
    Row { name: "full walk, 100 000 blocks", limit: 0, run: || full_walk(100_000) },
];

fn free_list(blocks: usize) -> u64 {
    let bench = Bench::new(blocks, SMALL_REQUEST, true);
    black_box(counted_free_list(&bench.memory, bench.heap.address()));
    1
}

fn full_walk(blocks: usize) -> u64 {
    let mut bench = Bench::new(blocks, SMALL_REQUEST, true);
    // Keeps the model's unhooked entry points in the program.
    assert_eq!(bench.heap.allocate(&mut bench.memory, &mut NoHooks, usize::MAX, 0, 0), 0);
    black_box(counted_walk(&bench.memory, bench.heap.address()));
    1
}

/// Runs one row under callgrind: instructions counted, and what for.
fn measure(row: usize) -> Option<(u64, u64)> {
    let this = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*::counted_*"])
        .arg("--callgrind-out-file=/dev/null")
        .arg(this)
        .args(["--row", &row.to_string()])
        .output()
        .ok()?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let number = |marker: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.contains(marker))?;
        line.rsplit(':').next()?.trim().replace(',', "").parse().ok()
    };
    Some((number("Collected :")?, number("counted operations:")?))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--row") {
        let row =
            arguments.get(at + 1).and_then(|number| number.parse::<usize>().ok()).and_then(|n| ROWS.get(n));
        let Some(row) = row else { return ExitCode::from(2) };
        println!("counted operations: {}", (row.run)());
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("limits: not measured: valgrind is not installed");
        return ExitCode::FAILURE;
    }
    println!("{:50} {:>14}  limit", "", "instructions");
    let mut empty = 0;
    let mut failed = false;
    for (number, row) in ROWS.iter().enumerate() {
        let Some((instructions, operations)) = measure(number) else {
            println!("{:50} valgrind failed", row.name);
            return ExitCode::FAILURE;
        };
        let each = instructions.div_ceil(operations.max(1));
        let each = if row.name.starts_with("query") { each.saturating_sub(empty) } else { each };
        if number == 0 {
            empty = each;
        }
        let over = row.limit != 0 && each > row.limit;
        failed |= over;
        let limit = if row.limit == 0 { String::new() } else { row.limit.to_string() };
        println!("{:50} {each:>14}  {limit:>5}{}", row.name, if over { "  EXCEEDED" } else { "" });
    }
    println!("limits: {}", if failed { "EXCEEDED" } else { "all hold" });
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
