// SPDX-License-Identifier: BSD-2-Clause
//! First-touch cost of heap and stack: the determinism demonstration.
//!
//! A program that is quick on average still misses its deadline when it touches memory for the first time. On a system with
//! paging the first write to a page costs a fault; the remedies (keep freed memory, lock it, touch heap and stack before the
//! work begins) are one option bit each, so that each can be seen alone. RTEMS has no paging: there the same lines show
//! 0 faults, and the tests of `real` show what is left: cold caches, and the search of a fragmented heap.
//!
//! The logic here touches no operating system: that is behind [`Platform`].

mod platform;
mod real;
mod report;
mod stack;

pub use platform::{Block, Platform, Refused, Stack};
pub use stack::FRAME_BYTES;

use crate::shell;
use core::fmt::{self, Write};
use report::Stopwatch;

/// Keep freed memory: heap trimming and mmap for large blocks off.
pub const KEEP_HEAP: u32 = 0x01;
/// Lock all memory, present and future.
pub const LOCK_MEMORY: u32 = 0x02;
/// Touch the stack before the tests.
pub const PREFAULT_STACK: u32 = 0x04;
/// Touch the heap before the tests.
pub const PREFAULT_HEAP: u32 = 0x08;
/// Run the tests.
pub const RUN_TESTS: u32 = 0x10;
/// Run the tests of what is left without paging as well (always run where there is no paging).
pub const RUN_REAL: u32 = 0x20;

/// Times each test is run.
const ROUNDS: usize = 4;
const MIB: usize = 1024 * 1024;
/// Block of the heap test where memory is plentiful, bytes.
const HEAP_TEST: usize = 10 * MIB;
/// Stack of the stack test where the stack is large, bytes.
const STACK_TEST: usize = 7 * MIB;

/// Stack of the functions between [`Plan::scaled`] and the recursion, bytes.
const FRAMES_BETWEEN: usize = 1024;

/// What to do, and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The option bits.
    pub options: u32,
    /// Bytes of the block in the heap test; twice this is touched by [`PREFAULT_HEAP`].
    pub heap: usize,
    /// Bytes of stack that the stack test takes.
    pub stack: usize,
}

impl Plan {
    /// Sizes of the original (10 MiB, 7 MiB) where they fit, less where memory or the stack is smaller.
    ///
    /// A size that the user asked for is kept: [`run`] refuses it if it does not fit. A size found here leaves room for the
    /// frames between this call and the recursion.
    pub fn scaled(options: u32, heap: Option<usize>, stack: Option<usize>, platform: &impl Platform) -> Plan {
        let largest = platform.largest_block();
        Plan {
            options,
            heap: heap.unwrap_or(HEAP_TEST.min(largest / 4)),
            stack: stack
                .unwrap_or(STACK_TEST.min(stack::usable(platform.stack()).saturating_sub(FRAMES_BETWEEN))),
        }
    }

    fn has(&self, option: u32) -> bool {
        self.options & option != 0
    }
}

/// Runs the plan and prints a line for each step.
///
/// Returns false if the plan was refused (a recursion deeper than the stack, a block larger than memory) and nothing ran.
pub fn run<P: Platform>(plan: &Plan, platform: &mut P, out: &mut dyn Write) -> Result<bool, fmt::Error> {
    writeln!(out, "options: {:#x}", plan.options)?;
    let usable = stack::usable(platform.stack());
    if plan.stack > usable {
        let Stack { size, free } = platform.stack();
        writeln!(
            out,
            "refused: {} bytes of recursion; this stack has {size} bytes, {free} free, of which {usable} may be used",
            plan.stack
        )?;
        return Ok(false);
    }
    let largest = platform.largest_block();
    if plan.heap.saturating_mul(2) > largest {
        writeln!(
            out,
            "refused: {} bytes of heap are touched twice over; the largest block is {largest} bytes",
            plan.heap
        )?;
        return Ok(false);
    }
    if (plan.heap, plan.stack) != (HEAP_TEST, STACK_TEST) {
        writeln!(out, "sizes: heap {} bytes, stack {} bytes", plan.heap, plan.stack)?;
    }
    if !platform.has_paging() {
        writeln!(out, "no paging here: memory is always present, so there are 0 faults and nothing to lock")?;
    }
    // Before any prefault: the search is to be seen in the heap as it is.
    let fragmented = if plan.has(RUN_REAL) || plan.has(RUN_TESTS) && !platform.has_paging() {
        real::Fragments::make(plan.heap, platform)
    } else {
        None
    };

    let mut watch = Stopwatch::start(platform);
    set_up(plan, platform, out)?;
    watch.line(platform, out, "main setup", None)?;
    if plan.has(RUN_TESTS) {
        for round in 0..ROUNDS {
            test_heap(plan.heap, platform, out)?;
            watch.line(platform, out, "testfunc_malloc", Some(round))?;
        }
        let levels = stack::levels(plan.stack);
        for round in 0..ROUNDS {
            stack::descend(levels);
            watch.line(platform, out, "testfunc_deepstack", Some(round))?;
        }
    }
    if let Some(fragments) = fragmented {
        real::run(fragments, plan, platform, out)?;
    }
    Ok(true)
}

/// Applies the remedies that the options name.
fn set_up<P: Platform>(plan: &Plan, platform: &mut P, out: &mut dyn Write) -> fmt::Result {
    if plan.has(KEEP_HEAP)
        && let Err(Refused(why)) = platform.keep_heap()
    {
        writeln!(out, "mallopt: {why}")?;
    }
    if plan.has(LOCK_MEMORY)
        && let Err(Refused(why)) = platform.lock_memory()
    {
        writeln!(out, "mlockall: {why}")?;
    }
    if plan.has(PREFAULT_STACK) {
        // A little deeper than the test, whose own caller stands on the stack too.
        let deeper = plan.stack.saturating_add(plan.stack / 16);
        stack::descend(stack::levels(deeper.min(stack::usable(platform.stack()))));
    }
    if plan.has(PREFAULT_HEAP) && prefault_heap(plan.heap, platform).is_none() {
        writeln!(out, "malloc: no block of {} bytes", plan.heap.saturating_mul(2))?;
    }
    Ok(())
}

/// Takes twice the test's block, writes a byte into each page and gives it back.
fn prefault_heap<P: Platform>(bytes: usize, platform: &mut P) -> Option<()> {
    let mut block = platform.allocate(bytes.saturating_mul(2))?;
    block.touch(platform.page_bytes());
    core::hint::black_box(&mut block);
    Some(())
}

/// Takes a block, fills it, looks at its end and gives it back.
fn test_heap<P: Platform>(bytes: usize, platform: &mut P, out: &mut dyn Write) -> fmt::Result {
    let Some(mut block) = platform.allocate(bytes) else {
        return writeln!(out, "malloc: no block of {bytes} bytes");
    };
    let filled = block.fill(42);
    if core::hint::black_box(filled).last().is_some_and(|&last| last != 42) {
        writeln!(out, "memset: the block does not hold what was written")?;
    }
    Ok(())
}

/// What the command line says: `rtex [option bits, hexadecimal] [heap bytes [stack bytes]]`.
pub const USAGE: &str = "rtex options [heap-bytes [stack-bytes]]
  options (hexadecimal):
  0x01 = mallopt: keep freed memory
  0x02 = mlockall: lock memory
  0x04 = prefault-stack
  0x08 = prefault-heap
  0x10 = run tests
  0x20 = cold cache, heap search and stack mark (always where there is no paging)

  0x10 = no remedy + tests
  0x1f = all remedies + tests
";

/// The shell command: done if the tests ran, failed on a refusal.
pub fn command<P: Platform>(platform: &mut P, out: &mut dyn Write, args: &[&str]) -> i32 {
    let Some((options, sizes)) = parse(args) else {
        let _ = out.write_str(USAGE);
        return shell::USAGE;
    };
    let plan = Plan::scaled(options, sizes[0], sizes[1], platform);
    match run(&plan, platform, out) {
        Ok(true) => shell::OK,
        Ok(false) | Err(_) => shell::FAILED,
    }
}

/// Option bits, and the two sizes if given.
fn parse(args: &[&str]) -> Option<(u32, [Option<usize>; 2])> {
    let (options, rest) = args.split_first()?;
    let digits = options.strip_prefix("0x").or_else(|| options.strip_prefix("0X")).unwrap_or(options);
    let options = u32::from_str_radix(digits, 16).ok()?;
    let mut sizes = [None; 2];
    if rest.len() > sizes.len() {
        return None;
    }
    for (size, text) in sizes.iter_mut().zip(rest) {
        *size = Some(text.parse().ok()?);
    }
    Some((options, sizes))
}

#[cfg(test)]
mod tests;
