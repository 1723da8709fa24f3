// SPDX-License-Identifier: BSD-2-Clause
//! Cases by name: attaching, lost hooks, drift, the upstream bugs, tier B.

use rtems_ioc::heap::index::Index;
use rtems_ioc::heap::model::{Heap, NoHooks, ResizeStatus};
use rtems_ioc::heap::tier_b::Search;
use rtems_ioc::heap::{
    AttachError, Memory, MemoryMut, NOTHING_FREE, Rtems4_7, Rtems4_10, Rtems4_11, Rtems4_11Protected,
    SliceMemory, State, Tracker, Version, Watch, walk,
};

const BASE: usize = 0x4000;
const AREA: usize = BASE + 0x400;
const AREA_BYTES: usize = 64 << 10;

type Wide<'a> = SliceMemory<'a, 8, false>;
type BigEndian<'a> = SliceMemory<'a, 4, true>;

fn bytes() -> Vec<u8> {
    vec![0; 192 << 10]
}

fn heap<V: Version, M: MemoryMut>(memory: &mut M) -> Heap<V> {
    let heap = Heap::at(BASE);
    assert_ne!(heap.initialize(memory, AREA, AREA_BYTES, 8), 0);
    heap
}

/// Every second of many blocks is freed: the largest holes and the rest are returned in what is left.
fn checkerboard<V: Version, M: MemoryMut>(
    memory: &mut M,
    heap: Heap<V>,
    tracker: &mut Tracker<V>,
) -> Vec<usize> {
    let blocks: Vec<usize> = (0..200).map(|_| heap.allocate(memory, tracker, 100, 0, 0)).collect();
    for block in blocks.iter().step_by(2) {
        assert!(heap.free(memory, tracker, *block));
    }
    blocks.into_iter().skip(1).step_by(2).collect()
}

fn agrees<V: Version, M: Memory>(tracker: &mut Tracker<V>, memory: &M) {
    let totals = walk::totals::<V, M>(memory, BASE);
    let state = tracker.snapshot(memory);
    assert_eq!((state.free_bytes, state.free_blocks), (totals.free_bytes, totals.free_blocks));
    assert_eq!(tracker.largest_exact(memory), totals.largest_free);
}

#[test]
fn attaches_late_to_a_fragmented_heap() {
    let mut bytes = bytes();
    let mut memory = BigEndian::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<4>, _>(&mut memory);
    let mut early = Tracker::<Rtems4_11<4>>::new();
    checkerboard(&mut memory, heap, &mut early);
    let mut late = Tracker::<Rtems4_11<4>>::new();
    assert_eq!(late.state(), State::Unattached);
    assert_eq!(late.largest_lower_bound(), 0);
    assert_ne!(heap.allocate(&mut memory, &mut late, 10, 0, 0), 0);
    assert_eq!(late.state(), State::Attached);
    agrees(&mut late, &memory);
    assert_eq!(late.snapshot(&memory).minimum_free_bytes, late.snapshot(&memory).free_bytes);
}

#[test]
fn attaching_again_after_the_heap_was_replaced() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_11<8>>::new();
    assert_ne!(heap.allocate(&mut memory, &mut tracker, 10, 0, 0), 0);
    // malloc_set_heap_pointer()
    let other = Heap::<Rtems4_11<8>>::at(BASE + 0x200);
    other.initialize(&mut memory, AREA + AREA_BYTES, 4096, 16);
    assert_ne!(other.allocate(&mut memory, &mut tracker, 10, 0, 0), 0);
    assert_eq!(tracker.heap(), other.address());
    assert!(tracker.largest_lower_bound() < 4096);
}

/// The tracker may meet its heap in a greedy allocation: that is no bypassed hook.
#[test]
fn a_greedy_allocation_is_the_first_thing_seen() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_11<8>>::new();
    let taken = heap.greedy_allocate(&mut memory, &mut tracker, &[3221, 172]);
    assert_eq!(tracker.state(), State::Attached);
    agrees(&mut tracker, &memory);
    heap.greedy_free(&mut memory, &mut tracker, taken);
    agrees(&mut tracker, &memory);
    assert_eq!(tracker.snapshot(&memory).resyncs, 0);
}

/// What is not a heap of this layout is refused, and after some tries not looked at any more.
#[test]
fn a_foreign_layout_is_refused() {
    let mut bytes = bytes();
    let mut memory = BigEndian::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11Protected<4, 8>, _>(&mut memory);
    assert_ne!(heap.allocate(&mut memory, &mut NoHooks, 100, 0, 0), 0);
    let mut tracker = Tracker::<Rtems4_11<4>>::new();
    assert!(tracker.attach(&memory, BASE).is_err());
    let mut older = Tracker::<Rtems4_10<4>>::new();
    assert!(older.attach(&memory, BASE).is_err());
    for _ in 0..5 {
        tracker.allocated(&memory, BASE, AREA + 8);
    }
    assert_eq!((tracker.state(), tracker.largest_lower_bound()), (State::Lost, 0));
    assert_eq!(Tracker::<Rtems4_11<4>>::new().attach(&memory, 0), Err(AttachError::NoHeap));
    assert_eq!(Tracker::<Rtems4_11<4>>::new().attach(&memory, BASE + 2), Err(AttachError::NoHeap));
}

/// Each way in which a heap can be unsound is found when attaching, by its name.
#[test]
fn an_unsound_heap_is_refused() {
    type V = Rtems4_11<4>;
    let layout = V::LAYOUT;
    let first = AREA;
    let cases: [(&str, usize, usize, AttachError); 9] = [
        ("page size 0", BASE + layout.page_size, 0, AttachError::PageSize),
        ("page size 12", BASE + layout.page_size, 12, AttachError::PageSize),
        ("minimum", BASE + layout.min_block_size, 24, AttachError::MinimumBlockSize),
        ("last before first", BASE + layout.last_block, AREA - 64, AttachError::Blocks),
        ("last misaligned", BASE + layout.last_block, AREA + 0x1004, AttachError::Blocks),
        ("a link out of the heap", BASE + layout.next, 0x40, AttachError::Links),
        ("a link that is not returned", BASE + layout.prev, AREA, AttachError::Links),
        ("counted bytes", BASE + layout.free_size, 0, AttachError::Counters),
        ("counted blocks", BASE + layout.free_blocks, 77, AttachError::Counters),
    ];
    for (what, address, value, error) in cases {
        let mut bytes = bytes();
        let mut memory = BigEndian::new(BASE, &mut bytes);
        let heap = heap::<V, _>(&mut memory);
        checkerboard(&mut memory, heap, &mut Tracker::<V>::new());
        memory.set_word(address, value);
        let mut tracker = Tracker::<V>::new();
        assert_eq!(tracker.attach(&memory, BASE), Err(error), "{what}");
        assert_eq!((tracker.state(), tracker.largest_lower_bound()), (State::Unattached, 0), "{what}");
    }
    // A used block in the list; a cycle in the list.
    for (offset, value) in [(layout.size, 0x41), (layout.next, first)] {
        let mut bytes = bytes();
        let mut memory = BigEndian::new(BASE, &mut bytes);
        let heap = heap::<V, _>(&mut memory);
        checkerboard(&mut memory, heap, &mut Tracker::<V>::new());
        memory.set_word(first + offset, value);
        assert!(Tracker::<V>::new().attach(&memory, BASE).is_err());
    }
}

/// An operation that bypasses the hooks is noticed by the next one, and its cost is one walk.
#[test]
fn a_lost_hook_is_noticed_and_repaired() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_11<8>>::new();
    let left = checkerboard(&mut memory, heap, &mut tracker);
    assert!(heap.free(&mut memory, &mut NoHooks, left[0]));
    assert!(!tracker.self_check(&memory));
    assert!(heap.free(&mut memory, &mut tracker, left[10]));
    assert!(tracker.self_check(&memory));
    assert_eq!(tracker.snapshot(&memory).resyncs, 1);
    agrees(&mut tracker, &memory);
}

/// A walk that fails leaves the tracker without a heap, so that tier B answers; the next operation attaches anew.
#[test]
fn a_resync_that_fails_does_not_answer_no() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut watch = Watch::<Rtems4_11<8>>::new();
    let left = checkerboard(&mut memory, heap, &mut watch.tracker);
    // The counters in the middle of a change: neither the tracker's nor the list's.
    let counted = BASE + Rtems4_11::<8>::LAYOUT.free_size;
    let offset = 64;
    memory.set_word(counted, memory.word(counted) + offset);
    assert!(heap.free(&mut memory, &mut watch.tracker, left[0]));
    assert!(!watch.tracked(BASE));
    assert!(watch.has_block(&memory, BASE, 4096), "tier B finds the rest of the heap");
    memory.set_word(counted, memory.word(counted) - offset);
    assert!(heap.free(&mut memory, &mut watch.tracker, left[10]));
    assert!(watch.tracked(BASE));
    agrees(&mut watch.tracker, &memory);
}

/// Attaching may fail now and then in the life of a board; only in a row does it mean that the heap is another one.
#[test]
fn only_failures_in_a_row_are_given_up() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_11<8>>::new();
    let mut left = checkerboard(&mut memory, heap, &mut Tracker::<Rtems4_11<8>>::new()).into_iter();
    let counted = BASE + Rtems4_11::<8>::LAYOUT.free_size;
    let mut free = |memory: &mut Wide<'_>, tracker: &mut Tracker<_>, unlucky: bool| {
        let offset = if unlucky { 64 } else { 0 };
        memory.set_word(counted, memory.word(counted) + offset);
        assert!(heap.free(memory, tracker, left.next().expect("another block")));
        memory.set_word(counted, memory.word(counted) - offset);
    };
    for _ in 0..5 {
        for _ in 0..2 {
            free(&mut memory, &mut tracker, true);
            assert_eq!(tracker.state(), State::Unattached);
        }
        free(&mut memory, &mut tracker, false);
        assert_eq!(tracker.state(), State::Attached);
        tracker.detach();
    }
    for _ in 0..3 {
        free(&mut memory, &mut tracker, true);
    }
    assert_eq!(tracker.state(), State::Lost);
    free(&mut memory, &mut tracker, false);
    assert_eq!(tracker.state(), State::Lost);
}

/// If it happens all the time the hooks are not believed any more, and tier B answers.
#[test]
fn hooks_that_are_bypassed_for_ever_are_given_up() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut watch = Watch::<Rtems4_11<8>>::new();
    for _ in 0..100 {
        let block = heap.allocate(&mut memory, &mut watch.tracker, 200, 0, 0);
        assert_ne!(heap.allocate(&mut memory, &mut NoHooks, 40, 0, 0), 0);
        assert!(heap.free(&mut memory, &mut NoHooks, block));
    }
    assert_eq!((watch.tracker.state(), watch.tracker.largest_lower_bound()), (State::Lost, 0));
    let state = watch.snapshot(&memory, BASE);
    let totals = walk::totals::<Rtems4_11<8>, _>(&memory, BASE);
    assert_eq!((state.tracked, state.free_bytes), (0, totals.free_bytes));
    assert!(watch.has_block(&memory, BASE, totals.largest_free));
    assert!(!watch.has_block(&memory, BASE, totals.largest_free + 1));
    assert_eq!(watch.search.made.histogram.searches(), 2);
}

/// Now and then a mismatch is no reason to give up: RTEMS 4.10 can change the heap with dispatching disabled only.
#[test]
fn rare_mismatches_are_forgiven() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_10<8>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_10<8>>::new();
    let mut cycle = |times: u32, tracker: &mut Tracker<Rtems4_10<8>>| {
        for _ in 0..times {
            let block = heap.allocate(&mut memory, tracker, 200, 0, 0);
            assert!(heap.free(&mut memory, tracker, block));
        }
        let bypassing = heap.allocate(&mut memory, &mut NoHooks, 16, 0, 0);
        assert_ne!(bypassing, 0);
    };
    let times = if cfg!(miri) { 2 } else { 40 };
    for _ in 0..times {
        cycle(600, &mut tracker);
    }
    assert_eq!(tracker.state(), State::Attached);
    assert_eq!(tracker.snapshot(&memory).resyncs, times - 1);
}

/// Free and used lifetime counters, as EPICS subtracts them, are off for ever after; the tracker is not.
#[test]
fn resizing_and_extending_do_not_drift() {
    let mut bytes = bytes();
    let mut memory = BigEndian::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<4>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_11<4>>::new();
    let warm = heap.allocate(&mut memory, &mut tracker, 8, 0, 0);
    assert_ne!(warm, 0);
    let before = tracker.snapshot(&memory);
    let lifetime_free = |memory: &BigEndian<'_>| {
        let low = |offset: usize| memory.count(BASE + offset + 4);
        let layout = Rtems4_11::<4>::LAYOUT;
        let used = low(layout.lifetime_allocated).wrapping_sub(low(layout.lifetime_freed));
        (memory.word(BASE + layout.stats_size) as u32).wrapping_sub(used)
    };
    let epics = lifetime_free(&memory);
    assert_eq!(epics as usize, before.free_bytes);
    for _ in 0..10 {
        let block = heap.allocate(&mut memory, &mut tracker, 1000, 0, 0);
        assert_eq!(heap.resize(&mut memory, &mut tracker, block, 3000), ResizeStatus::Successful);
        assert!(heap.free(&mut memory, &mut tracker, block));
    }
    let after = tracker.snapshot(&memory);
    assert_eq!((after.free_bytes, after.free_blocks), (before.free_bytes, before.free_blocks));
    assert_eq!(lifetime_free(&memory) - epics, 20_000, "the drift that EPICS's formula has");
    assert_eq!(heap.extend(&mut memory, &mut tracker, AREA + AREA_BYTES, 4096), 4096);
    agrees(&mut tracker, &memory);
    assert_eq!(tracker.snapshot(&memory).free_bytes, before.free_bytes + 4096);
    assert_eq!(tracker.snapshot(&memory).resyncs, 0);
}

/// 4.7 to 4.9: an aligned request of 4 bytes gets a block too small for the links of a free block, and freeing it
/// overwrites the next header. The tracker survives that and goes on with whatever heap is left.
#[test]
fn survives_the_undersized_blocks_of_4_7() {
    let mut bytes = bytes();
    let mut memory = BigEndian::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_7, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_7>::new();
    let blocks: Vec<usize> = (0..20).map(|_| heap.allocate(&mut memory, &mut tracker, 4, 8, 0)).collect();
    let sizes: Vec<usize> = blocks.iter().map(|block| memory.word(block - 4) & !1).collect();
    assert!(sizes.contains(&8), "the upstream bug is not in the model: {sizes:?}");
    agrees(&mut tracker, &memory);
    for block in blocks {
        heap.free(&mut memory, &mut tracker, block);
        let bound = tracker.largest_lower_bound();
        assert!(bound <= AREA_BYTES);
    }
    for _ in 0..50 {
        tracker.allocated(&memory, BASE, 0);
        tracker.largest_exact(&memory);
    }
}

/// 4.11 to main: an area that exactly fills the hole between two others ends up in two free blocks that overlap.
#[test]
fn survives_the_doubly_merged_area_of_4_11() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_11<8>>::new();
    assert_ne!(heap.allocate(&mut memory, &mut tracker, 40, 0, 0), 0);
    let end = AREA + AREA_BYTES;
    assert_ne!(heap.extend(&mut memory, &mut tracker, end + 8192, 8192), 0);
    agrees(&mut tracker, &memory);
    let free = tracker.snapshot(&memory).free_bytes;
    heap.extend(&mut memory, &mut tracker, end, 8192);
    let now = tracker.snapshot(&memory).free_bytes;
    assert!(now > free + 8192 + 4096, "the upstream bug is not in the model: {free} {now}");
    for size in 1..200 {
        let block = heap.allocate(&mut memory, &mut tracker, size * 8, 0, 0);
        if size % 3 != 0 {
            heap.free(&mut memory, &mut tracker, block);
        }
        tracker.largest_exact(&memory);
    }
}

#[test]
fn bounds_of_a_heap_that_is_full_or_empty() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_11<8>>::new();
    tracker.attach(&memory, BASE).expect("a fresh heap");
    let all = tracker.largest_exact(&memory);
    assert_eq!(heap.allocate(&mut memory, &mut tracker, usize::MAX, 0, 0), 0);
    assert_eq!(heap.allocate(&mut memory, &mut tracker, all - 8 + 1, 0, 0), 0);
    let block = heap.allocate(&mut memory, &mut tracker, all - 8, 0, 0);
    assert_ne!(block, 0);
    let full = tracker.snapshot(&memory);
    assert_eq!((full.free_bytes, full.free_blocks, full.largest_lower_bound), (0, 0, 0));
    assert_eq!((full.fragmentation, full.failed, full.minimum_free_bytes), (0, 2, 0));
    assert_eq!(tracker.largest_exact(&memory), 0);
    // That nothing is free is something else than that nothing is known.
    assert_eq!(tracker.bound(), NOTHING_FREE);
    assert!(heap.free(&mut memory, &mut tracker, block));
    assert_eq!((tracker.largest_lower_bound(), tracker.bound()), (all, all));
}

/// The largest block is known exactly although its last equal was used up, by looking at its class only.
#[test]
fn the_largest_of_a_class_with_many_members() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let mut tracker = Tracker::<Rtems4_11<8>>::new();
    let mut holes = Vec::new();
    for step in 0..20 {
        holes.push(heap.allocate(&mut memory, &mut tracker, 2048 + 3 * step, 0, 0));
        assert_ne!(heap.allocate(&mut memory, &mut tracker, 8, 0, 0), 0);
    }
    let rest = tracker.largest_exact(&memory);
    assert_ne!(heap.allocate(&mut memory, &mut tracker, rest - 8, 0, 0), 0);
    for hole in &holes {
        assert!(heap.free(&mut memory, &mut tracker, *hole));
    }
    let largest = walk::totals::<Rtems4_11<8>, _>(&memory, BASE).largest_free;
    assert_eq!(tracker.largest_exact(&memory), largest);
    // First fit takes the largest only for a request that no other satisfies.
    assert_ne!(heap.allocate(&mut memory, &mut tracker, largest - 8, 0, 0), 0);
    let second = walk::totals::<Rtems4_11<8>, _>(&memory, BASE).largest_free;
    assert!(second < largest && tracker.largest_lower_bound() <= second);
    assert_eq!(Index::class_of(tracker.largest_lower_bound()), Index::class_of(second));
    assert_eq!(tracker.largest_exact(&memory), second);
    assert_eq!(tracker.largest_lower_bound(), second);
}

/// Tier B finds the big block in a few steps at either end of the list, and says "no" only after the whole list.
#[test]
fn tier_b_searches_from_both_ends() {
    let mut bytes = bytes();
    let mut memory = Wide::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_11<8>, _>(&mut memory);
    let left = checkerboard(&mut memory, heap, &mut Tracker::<Rtems4_11<8>>::new());
    let mut search = Search::new();
    assert!(search.has_block::<Rtems4_11<8>, _>(&memory, BASE, 20_000));
    assert!(search.made.histogram.longest <= 2, "the big block is at the tail");
    // Resizing moves it to the head.
    let rest = walk::free_list::<Rtems4_11<8>, _>(&memory, BASE).largest_free;
    let big = heap.allocate(&mut memory, &mut NoHooks, rest - 8, 0, 0);
    assert_ne!(big, 0);
    assert_eq!(heap.resize(&mut memory, &mut NoHooks, big, 64), ResizeStatus::Successful);
    assert!(search.has_block::<Rtems4_11<8>, _>(&memory, BASE, 20_000));
    assert!(search.made.histogram.longest <= 2, "the big block is at the head");
    // "No" looks at every block, once; then it is remembered until a block may have grown.
    let free = walk::free_list::<Rtems4_11<8>, _>(&memory, BASE);
    assert!(!search.has_block::<Rtems4_11<8>, _>(&memory, BASE, free.largest_free + 1));
    assert_eq!(search.made.histogram.longest, free.free_blocks);
    assert!(!search.has_block::<Rtems4_11<8>, _>(&memory, BASE, free.largest_free + 100));
    assert_ne!(heap.allocate(&mut memory, &mut NoHooks, 90, 0, 0), 0);
    assert!(!search.has_block::<Rtems4_11<8>, _>(&memory, BASE, free.largest_free + 1));
    assert_eq!(search.made.remembered, 2);
    let shown = search.made.to_string();
    assert!(shown.starts_with("3 searches, 101 steps at most, 2 more answered from the last"), "{shown}");
    assert!(shown.ends_with(", <=128: 1"), "{shown}");
    // A smaller need was never denied.
    assert!(search.has_block::<Rtems4_11<8>, _>(&memory, BASE, free.largest_free - 4096));
    for block in &left {
        assert!(heap.free(&mut memory, &mut NoHooks, *block));
    }
    let grown = walk::free_list::<Rtems4_11<8>, _>(&memory, BASE).largest_free;
    assert!(search.has_block::<Rtems4_11<8>, _>(&memory, BASE, grown));
}

/// Whatever the state of the heap, tier B says what a walk says.
#[test]
fn tier_b_equals_a_walk() {
    let mut bytes = bytes();
    let mut memory = BigEndian::new(BASE, &mut bytes);
    let heap = heap::<Rtems4_10<4>, _>(&mut memory);
    let mut random = fastrand::Rng::with_seed(7);
    let mut search = Search::new();
    let mut live = Vec::new();
    for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
        if random.u8(..100) < 54 {
            live.push(heap.allocate(&mut memory, &mut NoHooks, random.usize(1..3000), 0, 0));
        } else if let Some(block) = live.pop_if(|block| *block != 0) {
            let size = random.usize(1..3000);
            match random.bool() {
                true => live.push(block),
                false => assert!(heap.free(&mut memory, &mut NoHooks, block)),
            }
            heap.resize(&mut memory, &mut NoHooks, *live.last().unwrap_or(&block), size);
        } else {
            live.clear();
        }
        let largest = walk::free_list::<Rtems4_10<4>, _>(&memory, BASE).largest_free;
        let bytes = random.usize(1..8000);
        assert_eq!(search.has_block::<Rtems4_10<4>, _>(&memory, BASE, bytes), bytes <= largest);
    }
    assert!(search.made.remembered > 0 || cfg!(miri));
}
