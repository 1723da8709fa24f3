// SPDX-License-Identifier: BSD-2-Clause
//! The hosted program's global allocator: RTEMS's heap, played by the model, with the tracker hooked in as on a board.
//!
//! std allocates long before the command line says how large the pool is, so the whole address range is reserved at once,
//! a little of it becomes the heap, and [`set_pool`] extends that heap when the size is known. First fit over a fragmented
//! heap is slow here for the same reason as on a crate.
#![allow(unsafe_code)]

mod area;
mod fragment;

use core::alloc::{GlobalAlloc, Layout};
use core::fmt;
use core::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::heap::model::{Heap, ResizeStatus};
use crate::heap::tier_b::Searches;
use crate::heap::walk::{self, Totals};
use crate::heap::{Native, Snapshot, Watch};
use crate::os::raw_memory::RawMemory;
use crate::pool::{Source, pool};

pub use fragment::{fragment, fragment_bytes};

/// The smallest pool: what the heap starts with.
pub const MINIMUM_POOL: usize = 1 << 20;
/// The largest pool.
pub const MAXIMUM_POOL: usize = 4 << 30;
/// The pool unless told otherwise.
pub const DEFAULT_POOL: usize = 64 << 20;

/// The page size of the heap, which every allocation is aligned to: CPU_HEAP_ALIGNMENT of RTEMS on x86_64.
const PAGE_SIZE: usize = 16;

/// The heap and what follows it, all under one lock as on RTEMS. std's mutex is a futex here: it allocates nothing.
static STATE: Mutex<State> = Mutex::new(State { area: None, watch: Watch::new() });

/// The heap as the pool's source.
struct ModelHeap;

static MODEL_HEAP: ModelHeap = ModelHeap;

struct State {
    area: Option<area::Area>,
    watch: Watch<Native>,
}

/// The state with the heap in place.
struct Locked<'a> {
    state: MutexGuard<'a, State>,
    memory: RawMemory,
    heap: Heap<Native>,
}

fn lock() -> Option<Locked<'static>> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the heap's lock was taken on the line above and is held as long as `Locked` lives; the area is mapped up to
    // the end of the heap in it.
    let mut memory = unsafe { RawMemory::new() };
    if state.area.is_none() {
        let area = area::Area::reserve(MAXIMUM_POOL)?;
        let begin = area.grow(MINIMUM_POOL)?;
        let heap = Heap::<Native>::at(area.control());
        heap.initialize(&mut memory, begin.start, begin.len(), PAGE_SIZE);
        state.area = Some(area);
    }
    let heap = Heap::at(state.area.as_ref()?.control());
    Some(Locked { state, memory, heap })
}

impl Locked<'_> {
    /// As the wrapper on RTEMS does at the end of each operation, before the lock is released.
    #[inline(always)]
    fn publish(&self) {
        pool().publish(self.state.watch.tracker.bound());
    }

    fn allocate(&mut self, layout: Layout) -> usize {
        let alignment = if layout.align() <= PAGE_SIZE { 0 } else { layout.align() };
        let tracker = &mut self.state.watch.tracker;
        let pointer = self.heap.allocate(&mut self.memory, tracker, layout.size(), alignment, 0);
        self.publish();
        pointer
    }

    fn free(&mut self, pointer: usize) -> bool {
        let freed = self.heap.free(&mut self.memory, &mut self.state.watch.tracker, pointer);
        self.publish();
        freed
    }

    fn resize(&mut self, pointer: usize, size: usize) -> ResizeStatus {
        let status = self.heap.resize(&mut self.memory, &mut self.state.watch.tracker, pointer, size);
        self.publish();
        status
    }
}

/// The allocator of `main.rs`. The library and its tests keep the system's.
pub struct PoolAllocator;

// SAFETY: the model never hands out overlapping blocks (its tests walk every block after each operation), aligns as asked,
// and a block stays put until it is freed or moved by `realloc` below.
unsafe impl GlobalAlloc for PoolAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer = lock().map_or(0, |mut heap| heap.allocate(layout));
        ptr::with_exposed_provenance_mut(pointer)
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        if let Some(mut heap) = lock() {
            heap.free(block.expose_provenance());
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(mut heap) = lock() else { return ptr::null_mut() };
        if heap.resize(block.expose_provenance(), size) == ResizeStatus::Successful {
            return block;
        }
        drop(heap);
        // As realloc() of RTEMS: allocate, copy, free.
        // SAFETY: the caller guarantees that `size` rounded up to the alignment does not overflow.
        let layout_new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: `size` is not 0, by the contract of `realloc`.
        let new = unsafe { self.alloc(layout_new) };
        if !new.is_null() {
            // SAFETY: both blocks are live and distinct, and each has at least the smaller of the two sizes.
            unsafe { ptr::copy_nonoverlapping(block, new, layout.size().min(size)) };
            // SAFETY: the caller guarantees that `block` was allocated here with `layout`; it is not used afterwards.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}

/// Why the pool cannot have the size asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// Smaller than [`MINIMUM_POOL`] or larger than [`MAXIMUM_POOL`].
    Size,
    /// The operating system refused the memory.
    Refused,
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size => {
                write!(f, "the pool must have from {} to {} MiB", MINIMUM_POOL >> 20, MAXIMUM_POOL >> 20)
            }
            Self::Refused => f.write_str("the operating system does not give that much memory"),
        }
    }
}

impl core::error::Error for PoolError {}

/// Extends the heap to `bytes` in total and makes it the pool's. To be called once, by `main`.
///
/// # Errors
/// The heap then stays as it was.
pub fn set_pool(bytes: usize) -> Result<(), PoolError> {
    if !(MINIMUM_POOL..=MAXIMUM_POOL).contains(&bytes) {
        return Err(PoolError::Size);
    }
    let mut locked = lock().ok_or(PoolError::Refused)?;
    let more = bytes - MINIMUM_POOL;
    if more > 0 {
        let grown = locked.state.area.as_ref().and_then(|area| area.grow(more)).ok_or(PoolError::Refused)?;
        let Locked { state, memory, heap } = &mut locked;
        heap.extend(memory, &mut state.watch.tracker, grown.start, grown.len());
    }
    locked.state.watch.tracker.restart_minimum();
    locked.publish();
    drop(locked);
    pool().register(&MODEL_HEAP);
    Ok(())
}

impl ModelHeap {
    fn with<R>(&self, ask: impl FnOnce(&mut Watch<Native>, &RawMemory, usize) -> R) -> Option<R> {
        let Locked { mut state, memory, heap } = lock()?;
        Some(ask(&mut state.watch, &memory, heap.address()))
    }
}

impl Source for ModelHeap {
    fn has_block(&self, bytes: usize) -> bool {
        self.with(|watch, memory, heap| watch.has_block(memory, heap, bytes)).unwrap_or(false)
    }

    fn largest(&self) -> usize {
        self.with(|watch, memory, heap| watch.largest(memory, heap)).unwrap_or(0)
    }

    fn snapshot(&self) -> Snapshot {
        self.with(|watch, memory, heap| watch.snapshot(memory, heap)).unwrap_or_default()
    }

    fn searches(&self) -> Searches {
        self.with(|watch, _, _| watch.search.made.clone()).unwrap_or_default()
    }

    fn walk(&self) -> Totals {
        self.with(|_, memory, heap| walk::totals::<Native, _>(memory, heap)).unwrap_or_default()
    }

    fn free_list(&self) -> Totals {
        self.with(|_, memory, heap| walk::free_list::<Native, _>(memory, heap)).unwrap_or_default()
    }
}
