// SPDX-License-Identifier: BSD-2-Clause
//! What is left of the first-touch cost without paging: cold caches, the heap's search, the stack's mark.

use super::{Block, Plan, Platform, report};
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::hint::black_box;

/// Bytes of each small block of the fragmented heap.
const SMALL: usize = 64;
/// Small blocks at most: half of them become holes.
const MOST_SMALL: usize = 4096;
/// Bytes asked for when the search is timed: no hole holds it.
const WANTED: usize = 4096;
/// Searches timed; the mean is printed.
const SEARCHES: u64 = 16;

/// A heap with holes: the blocks between them are held here.
pub(super) struct Fragments<B> {
    /// Held so that the holes stay apart.
    _kept: Vec<B>,
    holes: usize,
}

impl<B> Fragments<B> {
    /// Takes small blocks from up to a quarter of `bytes` and gives every second one back.
    pub(super) fn make<P: Platform<Block = B>>(bytes: usize, platform: &mut P) -> Option<Fragments<B>> {
        let count = MOST_SMALL.min(bytes / 4 / SMALL);
        let (mut kept, mut freed) = (Vec::new(), Vec::new());
        kept.try_reserve_exact(count.div_ceil(2)).ok()?;
        freed.try_reserve_exact(count / 2).ok()?;
        for index in 0..count {
            let block = platform.allocate(SMALL)?;
            if index % 2 == 0 { kept.push(block) } else { freed.push(block) }
        }
        Some(Fragments { _kept: kept, holes: freed.len() })
    }
}

/// Prints the lines: cold and warm touch, search before and after the heap was touched, the stack's mark.
pub(super) fn run<P: Platform>(
    fragments: Fragments<P::Block>,
    plan: &Plan,
    platform: &mut P,
    out: &mut dyn Write,
) -> fmt::Result {
    touch(plan, platform, out)?;

    writeln!(
        out,
        "heap with {} holes of {SMALL} bytes; mean of {SEARCHES} times malloc({WANTED}) and free",
        fragments.holes
    )?;
    search(platform, out, 0)?;
    // A large block that goes back joins the free space behind it, so the search passes as many holes as before: touching the
    // heap is no remedy here, and the second figure shows it.
    if super::prefault_heap(plan.heap, platform).is_none() {
        writeln!(out, "malloc: no block of {} bytes", plan.heap.saturating_mul(2))?;
    }
    search(platform, out, 1)?;
    drop(fragments);

    let stack = platform.stack();
    match platform.stack_high_water() {
        Some(used) => writeln!(
            out,
            "stack: {used} of {} bytes used at most ({} %)",
            stack.size,
            used.saturating_mul(100) / stack.size.max(1)
        ),
        None => writeln!(out, "stack: {} bytes; its high-water mark is not known here", stack.size),
    }
}

/// First touch of a block with the data cache emptied, then again.
fn touch<P: Platform>(plan: &Plan, platform: &mut P, out: &mut dyn Write) -> fmt::Result {
    let Some(mut block) = platform.allocate(plan.heap) else {
        return writeln!(out, "malloc: no block of {} bytes", plan.heap);
    };
    block.fill(0);
    if !block.cool() {
        writeln!(out, "the cache cannot be emptied here: both touches find it as it is")?;
    }
    for (round, what) in ["touch_cold_cache", "touch_warm_cache"].into_iter().enumerate() {
        let start = (platform.now_ns(), platform.faults());
        block.touch(TOUCH_STRIDE);
        black_box(&mut block);
        let ns = platform.now_ns().saturating_sub(start.0);
        report::line(out, ns, platform.faults().saturating_sub(start.1), what, Some(round))?;
    }
    Ok(())
}

/// One touch in each of the shortest cache lines in use on the boards, bytes.
const TOUCH_STRIDE: usize = 32;

/// Mean time of taking and giving back a block that no hole holds.
fn search<P: Platform>(platform: &mut P, out: &mut dyn Write, round: usize) -> fmt::Result {
    let start = (platform.now_ns(), platform.faults());
    for _ in 0..SEARCHES {
        let Some(mut block) = platform.allocate(WANTED) else {
            return writeln!(out, "malloc: no block of {WANTED} bytes");
        };
        black_box(&mut block);
    }
    let ns = platform.now_ns().saturating_sub(start.0) / SEARCHES;
    report::line(out, ns, platform.faults().saturating_sub(start.1), "heap_search", Some(round))
}
