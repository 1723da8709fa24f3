// SPDX-License-Identifier: BSD-2-Clause
//! The model heap as the global allocator of this very test program: its pool, the cases seen in the field, its threads.
//!
//! One test, because there is one heap: what another thread allocates meanwhile would be in the figures.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::collections::HashMap;

use rtems_ioc::os::hosted::allocator::{self, PoolAllocator};
use rtems_ioc::pool::{Policy, Snapshot, pool};

#[global_allocator]
static HEAP: PoolAllocator = PoolAllocator;

const RESERVE: usize = rtems_ioc::pool::DEFAULT_RESERVE;

fn snapshot() -> Snapshot {
    pool().snapshot().expect("the heap is registered")
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 16).expect("a small alignment")
}

fn take(bytes: usize) -> *mut u8 {
    // SAFETY: the size is not 0.
    unsafe { alloc(layout(bytes)) }
}

fn give(block: *mut u8, bytes: usize) {
    // SAFETY: taken above with this very layout.
    unsafe { dealloc(block, layout(bytes)) }
}

/// Lifetime counters drift with each resize in place; the tracker does not.
fn resizing_in_place_does_not_drift() {
    let before = snapshot();
    for _ in 0..1000 {
        let block = take(1000);
        // SAFETY: taken above with 1000 bytes; the new size is not 0.
        let grown = unsafe { realloc(block, layout(1000), 100_000) };
        // SAFETY: as before, with the size it has now.
        let shrunk = unsafe { realloc(grown, layout(100_000), 50) };
        give(shrunk, 50);
    }
    let after = snapshot();
    assert_eq!((after.free_bytes, after.free_blocks), (before.free_bytes, before.free_blocks));
    assert_eq!(after.resyncs, 0);
    assert!(after.operations > before.operations);
}

/// Plenty of memory in total is not one piece of it.
fn the_contiguous_block_decides() {
    let mut blocks = Vec::with_capacity(1 << 16);
    loop {
        let block = take(4000);
        if block.is_null() {
            break;
        }
        blocks.push(block);
    }
    assert!(snapshot().failed > 0);
    assert!(!pool().admits(0), "nothing is left");
    for block in blocks.iter().step_by(2) {
        give(*block, 4000);
    }
    let state = snapshot();
    assert!(state.free_bytes > 20 << 20 && state.largest_lower_bound < 16 << 10, "{state:?}");
    assert!(state.fragmentation > 990, "{state:?}");
    assert!(!pool().admits(1 << 20));
    // The total says otherwise, and that is what EPICS 7.0 goes by.
    pool().set_policy(Policy::Walk);
    assert!(pool().admits(1 << 20));
    pool().set_policy(Policy::LargestWalk);
    assert!(!pool().admits(1 << 20));
    pool().set_policy(Policy::Tracker);
    for block in blocks.iter().skip(1).step_by(2) {
        give(*block, 4000);
    }
    assert!(pool().admits(1 << 20));
}

/// Yes means that the allocation succeeds and leaves the reserve.
fn yes_is_kept() {
    let largest = pool().largest().expect("a heap");
    let admitted = largest - RESERVE - size_of::<usize>();
    for size in [admitted, admitted / 2, 1 << 20] {
        assert!(pool().admits(size));
        let block = take(size);
        assert!(!block.is_null());
        assert!(size != admitted || pool().largest() >= Some(RESERVE - 64));
        give(block, size);
    }
    assert!(!pool().admits(admitted + 1));
    let free = snapshot().free_bytes;
    for absurd in [usize::MAX, usize::MAX - 49_999, usize::MAX - 50_000, free, free - RESERVE + 1] {
        assert!(!pool().admits(absurd), "{absurd}");
    }
}

fn aligned_requests() {
    for alignment in [1, 16, 32, 256, 4096, 1 << 16] {
        let wanted = Layout::from_size_align(1000, alignment).expect("a power of two");
        // SAFETY: the size is not 0.
        let block = unsafe { alloc(wanted) };
        assert!(!block.is_null() && block.addr().is_multiple_of(alignment));
        // SAFETY: the size is not 0 and the block was allocated with `wanted` on the lines above.
        let moved = unsafe { realloc(block, wanted, 3_000) };
        assert!(moved.addr().is_multiple_of(alignment));
        // SAFETY: as it is after `realloc`.
        unsafe { dealloc(moved, Layout::from_size_align(3_000, alignment).expect("as above")) };
    }
}

fn threads_share_the_heap() {
    let workers: Vec<_> = (0..8u64)
        .map(|seed| {
            std::thread::spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut kept: HashMap<u64, Vec<u64>> = HashMap::new();
                for _ in 0..5_000 {
                    let key = random.u64(..64);
                    let text = kept.entry(key).or_default();
                    if random.u8(..8) == 0 {
                        assert!(text.iter().all(|entry| *entry == key));
                        text.clear();
                        text.shrink_to_fit();
                    }
                    text.resize(text.len() + random.usize(..40), key);
                }
                kept.into_iter().all(|(key, text)| text.iter().all(|entry| *entry == key))
            })
        })
        .collect();
    assert!(workers.into_iter().all(|worker| worker.join().expect("no panic")));
    assert_eq!(snapshot().resyncs, 0);
}

/// A pool that is too small for the holes is as it was.
fn fragments_that_do_not_fit() {
    let before = snapshot();
    assert_eq!(allocator::fragment(10_000_000), None);
    let after = snapshot();
    assert_eq!((after.free_bytes, after.free_blocks), (before.free_bytes, before.free_blocks));
    assert_eq!((after.used_blocks, after.resyncs), (before.used_blocks, 0));
}

fn fragments() {
    let before = snapshot();
    let (used, free) = allocator::fragment(20_000).expect("there is room");
    assert!(
        (49_000..=52_000).contains(&used) && (19_900..=21_000).contains(&free),
        "{used} used, {free} free"
    );
    let state = snapshot();
    assert_eq!(state.free_blocks, free);
    let spent = before.free_bytes - state.free_bytes + 64 * 20_000;
    assert!(spent.abs_diff(allocator::fragment_bytes(20_000)) < 1024, "{spent}");
    assert!(pool().admits(1 << 20));
    assert_eq!(state.resyncs, 0);
}

#[test]
fn the_pool_on_the_model_heap() {
    assert_eq!(allocator::set_pool(1000), Err(allocator::PoolError::Size));
    let small = allocator::MINIMUM_POOL;
    allocator::set_pool(allocator::DEFAULT_POOL).expect("64 MiB");
    let state = snapshot();
    assert_eq!(state.tracked, 1);
    assert!(state.heap_bytes > allocator::DEFAULT_POOL - 256 && state.largest_lower_bound > 60 << 20);
    assert!(state.heap_bytes > small);
    // Not of the small heap before: of the pool.
    assert!(state.minimum_free_bytes > 60 << 20 && state.minimum_free_bytes <= state.free_bytes, "{state:?}");
    resizing_in_place_does_not_drift();
    yes_is_kept();
    aligned_requests();
    the_contiguous_block_decides();
    threads_share_the_heap();
    fragments_that_do_not_fit();
    fragments();
    resizing_in_place_does_not_drift();
    yes_is_kept();
}
