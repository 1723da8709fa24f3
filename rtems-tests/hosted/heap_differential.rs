// SPDX-License-Identifier: BSD-2-Clause
//! Tracker against a full walk after each of many random heap operations, in every layout, word size and byte order.
//!
//! `RTEMS_IOC_HEAP_OPS=2000000 cargo test --test heap_differential` runs more than the usual 200 000 per layout.

use fastrand::Rng;
use rtems_ioc::heap::index::Index;
use rtems_ioc::heap::model::{Heap, Hooks, ResizeStatus, check};
use rtems_ioc::heap::{
    Family, FreeNote, Memory, MemoryMut, ResizeNote, Rtems4_7, Rtems4_10, Rtems4_11, Rtems4_11Protected,
    SliceMemory, State, Tracker, Version,
};

const BASE: usize = 0x10_0000;
const AREA: usize = BASE + 0x400;
const AREA_BYTES: usize = 48 << 10;
/// What extending may use: everything behind the first area.
const MEMORY_BYTES: usize = 160 << 10;
/// Operations on one heap before the next one begins, with another page size.
const EPISODE: usize = 20_000;

fn operations() -> usize {
    if cfg!(miri) {
        return 250;
    }
    std::env::var("RTEMS_IOC_HEAP_OPS").ok().and_then(|text| text.parse().ok()).unwrap_or(200_000)
}

/// A heap of version `V`, its tracker, and what is allocated in it.
struct Bench<V: Version> {
    heap: Heap<V>,
    hooks: Hooked<V>,
    live: Vec<usize>,
    random: Rng,
    end: usize,
    minimum: usize,
    failed: u32,
}

impl<V: Version> Bench<V> {
    fn new<M: MemoryMut>(memory: &mut M, seed: u64, page_size: usize) -> Self {
        let heap = Heap::<V>::at(BASE);
        let available = heap.initialize(memory, AREA, AREA_BYTES, page_size);
        assert!(available > AREA_BYTES - 256);
        let hooks = Hooked { tracker: Tracker::new(), wrong: None };
        let random = Rng::with_seed(seed);
        Self { heap, hooks, live: Vec::new(), random, end: AREA + AREA_BYTES, minimum: available, failed: 0 }
    }

    fn size(&mut self) -> usize {
        match self.random.u8(..20) {
            0..12 => self.random.usize(1..96),
            12..18 => self.random.usize(1..2500),
            18 => self.random.usize(1..AREA_BYTES),
            _ => usize::MAX - self.random.usize(..80_000),
        }
    }

    fn allocate<M: MemoryMut>(&mut self, memory: &mut M) {
        let size = self.size();
        let overhead = V::LAYOUT.overhead();
        let later = V::LAYOUT.family != Family::V4_7;
        let size = if V::LAYOUT.word == 4 { size & 0xffff_ffff } else { size };
        let need = size.saturating_add(overhead);
        let plain = self.random.u8(..4) != 0;
        let (alignment, boundary) = if plain {
            (0, 0)
        } else {
            let alignment = 1 << self.random.u32(0..12);
            let boundary = if later && self.random.bool() { 1 << self.random.u32(6..14) } else { 0 };
            // For less RTEMS 4.7 to 4.9 may make a block that is too small: the upstream bug has a test of its own.
            (if self.random.bool() { alignment } else { 3 * alignment }, boundary)
        };
        let size = if !plain && !later { size.max(9) } else { size };
        let attached = self.hooks.tracker.state() == State::Attached;
        let bound = self.hooks.tracker.largest_lower_bound();
        let pointer = self.heap.allocate(memory, &mut self.hooks, size, alignment, boundary);
        if pointer != 0 {
            self.live.push(pointer);
        } else {
            self.failed += 1;
        }
        if attached && plain {
            // Yes means yes; and no is only wrong within the class of the largest block.
            if need <= bound {
                assert_ne!(pointer, 0, "{size} bytes were promised, {bound} is the bound");
            } else if pointer != 0 && V::LAYOUT.protection == 0 {
                assert_eq!(
                    Index::class_of(need),
                    Index::class_of(bound),
                    "{size} bytes were denied, {bound} known"
                );
            }
        }
    }

    fn free<M: MemoryMut>(&mut self, memory: &mut M) {
        if self.live.is_empty() {
            return;
        }
        let pointer = self.live.swap_remove(self.random.usize(..self.live.len()));
        assert!(self.heap.free(memory, &mut self.hooks, pointer));
    }

    fn resize<M: MemoryMut>(&mut self, memory: &mut M) {
        if self.live.is_empty() {
            return;
        }
        let pointer = self.live[self.random.usize(..self.live.len())];
        let size = self.size().min(0x7fff_ffff);
        let status = self.heap.resize(memory, &mut self.hooks, pointer, size);
        assert_ne!(status, ResizeStatus::Fatal);
    }

    /// Contiguously, or behind a gap from 4.11 on.
    fn extend<M: MemoryMut>(&mut self, memory: &mut M) {
        let bytes = self.random.usize(256..4096);
        let gapped = V::LAYOUT.family == Family::V4_11 && self.random.bool();
        let begin = self.end + if gapped { self.random.usize(64..512) } else { 0 };
        if begin + bytes <= BASE + MEMORY_BYTES {
            self.heap.extend(memory, &mut self.hooks, begin, bytes);
            self.end = begin + bytes;
        }
    }

    fn greedy<M: MemoryMut>(&mut self, memory: &mut M) {
        if V::LAYOUT.family == Family::V4_11 {
            let sizes = [self.random.usize(1..5000), self.random.usize(1..200)];
            let taken = self.heap.greedy_allocate(memory, &mut self.hooks, &sizes);
            // The heap's requests inside of it are not to be counted as failed.
            self.compare(memory);
            self.heap.greedy_free(memory, &mut self.hooks, taken);
        }
    }

    fn bad_free<M: MemoryMut>(&mut self, memory: &mut M) {
        for pointer in [0, 8, AREA.wrapping_sub(64), BASE + MEMORY_BYTES + 64] {
            let freed = self.heap.free(memory, &mut self.hooks, pointer);
            assert_eq!(freed, pointer == 0 && V::LAYOUT.family == Family::V4_11);
        }
    }

    fn step<M: MemoryMut>(&mut self, memory: &mut M) {
        match self.random.u16(..1000) {
            0..430 => self.allocate(memory),
            430..780 => self.free(memory),
            780..980 => self.resize(memory),
            980..983 => self.extend(memory),
            983..985 => self.greedy(memory),
            985..990 => self.bad_free(memory),
            // Now and then a nearly empty heap.
            990..991 => (0..100).for_each(|_| self.free(memory)),
            _ => self.allocate(memory),
        }
        self.compare(memory);
    }

    /// The tracker against a full walk.
    fn compare<M: MemoryMut>(&mut self, memory: &mut M) {
        if let Some(difference) = self.difference(memory) {
            panic!("{difference}");
        }
    }

    /// What the tracker says otherwise than a full walk.
    fn difference<M: MemoryMut>(&mut self, memory: &mut M) -> Option<String> {
        let mut index = Index::new();
        let totals = check::check::<V, M>(memory, BASE, |size| index.add(Index::class_of(size)))
            .expect("the heap is sound");
        let tracker = &mut self.hooks.tracker;
        if tracker.state() != State::Attached {
            return None;
        }
        self.minimum = self.minimum.min(totals.free_bytes);
        let bound = tracker.largest_lower_bound();
        let largest = totals.largest_free;
        let snapshot = tracker.snapshot(memory);
        let unprotected = V::LAYOUT.protection == 0;
        let claims = [
            ("the index", tracker.index() == &index),
            ("the heap's counters", tracker.self_check(memory)),
            ("the bound", bound <= largest && Index::class_of(bound) == Index::class_of(largest)),
            (
                "the totals",
                (snapshot.free_bytes, snapshot.free_blocks) == (totals.free_bytes, totals.free_blocks),
            ),
            ("the deltas, in which the heap's counters differed", snapshot.resyncs == 0),
            (
                "the least free memory, which is more than now",
                snapshot.minimum_free_bytes <= totals.free_bytes,
            ),
            ("the least free memory", !unprotected || snapshot.minimum_free_bytes == self.minimum),
            ("the failed requests", !unprotected || snapshot.failed == self.failed),
        ];
        if let Some((what, _)) = claims.iter().find(|(_, holds)| !holds) {
            return Some(format!("{what}: {snapshot:?}, but {totals:?}"));
        }
        if self.random.u8(..4) == 0 {
            let exact = tracker.largest_exact(memory);
            if (exact, tracker.largest_lower_bound()) != (largest, largest) {
                return Some(format!("largest: {exact}, but {largest}"));
            }
        }
        None
    }
}

/// What the tracker is told wrongly, once.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    /// An allocation is not reported.
    Unreported,
    /// An allocation is reported twice.
    Twice,
    /// The block that is allocated seems one page larger than it is.
    Misread,
}

/// The tracker as the heap's hooks, which may be made to tell it something wrong.
struct Hooked<V> {
    tracker: Tracker<V>,
    wrong: Option<Wrong>,
}

/// Memory of which one word reads larger than it is.
struct Misread<'a, M> {
    memory: &'a M,
    at: usize,
    by: usize,
}

impl<M: Memory> Memory for Misread<'_, M> {
    const WORD: usize = M::WORD;

    fn word(&self, address: usize) -> usize {
        self.memory.word(address) + if address == self.at { self.by } else { 0 }
    }

    fn count(&self, address: usize) -> u32 {
        self.memory.count(address)
    }
}

impl<V: Version, M: Memory> Hooks<M> for Hooked<V> {
    fn allocated(&mut self, memory: &M, heap: usize, pointer: usize) {
        let wrong = if pointer == 0 { None } else { self.wrong.take() };
        match wrong {
            Some(Wrong::Unreported) => return,
            Some(Wrong::Twice) => self.tracker.allocated(memory, heap, pointer),
            Some(Wrong::Misread) => {
                let at = pointer - V::LAYOUT.header + V::LAYOUT.size;
                return self.tracker.allocated(&Misread { memory, at, by: 8 }, heap, pointer);
            }
            None => {}
        }
        self.tracker.allocated(memory, heap, pointer);
    }

    fn before_free(&mut self, memory: &M, heap: usize, pointer: usize, note: &mut FreeNote) {
        self.tracker.before_free(memory, heap, pointer, note);
    }

    fn after_free(&mut self, memory: &M, heap: usize, note: &FreeNote, freed: bool) {
        self.tracker.after_free(memory, heap, note, freed);
    }

    fn before_resize(&mut self, memory: &M, heap: usize, pointer: usize) -> ResizeNote {
        self.tracker.before_resize(memory, heap, pointer)
    }

    fn after_resize(&mut self, memory: &M, heap: usize, note: &ResizeNote) {
        self.tracker.after_resize(memory, heap, note);
    }

    fn before_greedy(&mut self) {
        self.tracker.before_greedy();
    }

    fn after_greedy(&mut self, memory: &M, heap: usize) {
        self.tracker.after_greedy(memory, heap);
    }
}

/// The comparison is worth something: one wrong delta among thousands of right ones does not escape it.
fn a_wrong_delta_is_noticed<V: Version, const WORD: usize, const BIG: bool>() {
    for wrong in [Wrong::Unreported, Wrong::Twice, Wrong::Misread] {
        let mut bytes = vec![0xa5u8; MEMORY_BYTES];
        let mut memory = SliceMemory::<WORD, BIG>::new(BASE, &mut bytes);
        let mut bench = Bench::<V>::new(&mut memory, 7, 8);
        for _ in 0..if cfg!(miri) { 20 } else { 100 } {
            bench.step(&mut memory);
        }
        bench.hooks.wrong = Some(wrong);
        while bench.hooks.wrong.is_some() {
            assert_eq!(bench.difference(&mut memory), None, "before anything was wrong");
            bench.allocate(&mut memory);
        }
        let difference = bench.difference(&mut memory);
        println!("{wrong:?}: {difference:?}");
        assert!(difference.is_some(), "{wrong:?} was not noticed");
    }
}

#[test]
fn a_wrong_delta_is_noticed_32_bit_big_endian() {
    a_wrong_delta_is_noticed::<Rtems4_11<4>, 4, true>();
}

#[test]
fn a_wrong_delta_is_noticed_64_bit() {
    a_wrong_delta_is_noticed::<Rtems4_11<8>, 8, false>();
}

fn differential<V: Version, const WORD: usize, const BIG: bool>(page_sizes: &[usize]) {
    let mut bytes = vec![0xa5u8; MEMORY_BYTES];
    let total = operations();
    let episodes = total.div_ceil(EPISODE).max(page_sizes.len());
    for episode in 0..episodes {
        let mut memory = SliceMemory::<WORD, BIG>::new(BASE, &mut bytes);
        let page_size = page_sizes[episode % page_sizes.len()];
        let mut bench = Bench::<V>::new(&mut memory, 0x5eed + episode as u64, page_size);
        for _ in 0..total.div_ceil(episodes) {
            bench.step(&mut memory);
        }
        let left = std::mem::take(&mut bench.live);
        for pointer in left {
            assert!(bench.heap.free(&mut memory, &mut bench.hooks, pointer));
            bench.compare(&mut memory);
        }
        assert_eq!(bench.hooks.tracker.state(), State::Attached);
    }
}

#[test]
fn rtems_4_7_little_endian() {
    differential::<Rtems4_7, 4, false>(&[4, 8, 16]);
}

#[test]
fn rtems_4_7_big_endian() {
    differential::<Rtems4_7, 4, true>(&[8, 16]);
}

#[test]
fn rtems_4_10_32_bit_big_endian() {
    differential::<Rtems4_10<4>, 4, true>(&[8, 4, 16]);
}

#[test]
fn rtems_4_10_32_bit_little_endian() {
    differential::<Rtems4_10<4>, 4, false>(&[8, 4]);
}

#[test]
fn rtems_4_10_64_bit() {
    differential::<Rtems4_10<8>, 8, false>(&[8, 16]);
}

#[test]
fn rtems_4_11_32_bit_big_endian() {
    differential::<Rtems4_11<4>, 4, true>(&[8, 16, 32]);
}

#[test]
fn rtems_4_11_32_bit_little_endian() {
    differential::<Rtems4_11<4>, 4, false>(&[8, 4]);
}

#[test]
fn rtems_4_11_64_bit_little_endian() {
    differential::<Rtems4_11<8>, 8, false>(&[16, 8, 64]);
}

#[test]
fn rtems_4_11_64_bit_big_endian() {
    differential::<Rtems4_11<8>, 8, true>(&[16, 8]);
}

#[test]
fn heap_protection_32_bit() {
    differential::<Rtems4_11Protected<4, 4>, 4, false>(&[8, 4]);
}

#[test]
fn heap_protection_32_bit_big_endian() {
    differential::<Rtems4_11Protected<4, 8>, 4, true>(&[8, 16]);
}

#[test]
fn heap_protection_64_bit() {
    differential::<Rtems4_11Protected<8, 8>, 8, false>(&[16, 8]);
}
