// SPDX-License-Identifier: BSD-2-Clause
//! The Rust half of the heap hooks: `wrap.c` calls it around each operation on the C heap, under that heap's lock.
//!
//! The C half of the questions is `heap_access.c`: which heap is the C heap, its lock, and what the C compiler finds in
//! the headers of this RTEMS. If that is not the layout this archive was built for, nothing here reads a block: questions
//! then go to `malloc_free_space()`.
//!
//! Hooks run on any task's stack, also with dispatching disabled: no panic, allocation, lock, print or floating point.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::heap::layout::FACTS;
use crate::heap::tier_b::Searches;
use crate::heap::walk::{self, Totals};
use crate::heap::{Configured, FreeNote, ResizeNote, Snapshot, Version, Watch};
use crate::os::raw_memory::RawMemory;
use crate::pool::{Source, pool};

unsafe extern "C" {
    /// Offsets as the C compiler sees them, in the order of `Layout::facts`.
    static rtems_ioc_heap_facts: [u32; FACTS];
    /// The control block of the C heap, 0 before there is one.
    fn rtems_ioc_heap_control() -> usize;
    fn rtems_ioc_heap_lock();
    fn rtems_ioc_heap_unlock();
    /// `malloc_free_space()` as the C library has it. Takes the lock.
    fn rtems_ioc_heap_free_space() -> usize;
}

// A note lies in `rtems_ioc_heap_note` of `heap_hooks.h`.
const _: () = assert!(size_of::<FreeNote>() <= 4 * size_of::<usize>());
const _: () = assert!(size_of::<ResizeNote>() <= 4 * size_of::<usize>());
// `wrap.c` compares the first word with the heap at hand.
const _: () = assert!(Watch::<Configured>::RECORDED == 0);

/// The tracker of the C heap; whoever touches it holds the heap's lock.
#[repr(transparent)]
pub struct HeapWatch(UnsafeCell<Watch<Configured>>);

// SAFETY: it is reached by `watch` and by the hooks that `wrap.c` hands it to, one at a time: the contract of both is that the
// heap's lock is held. (`wrap.c` itself looks at the first word, also without the lock where another heap is meant: one load
// of a word that is never the address of that heap.)
unsafe impl Sync for HeapWatch {}

/// `wrap.c` takes its address and passes it to the hooks that are called for every block: they then find all they need from
/// one register, where the compiler would form the address of a static again and again.
// SAFETY: the name belongs to this package.
#[unsafe(export_name = "rtems_ioc_heap_watch")]
static WATCH: HeapWatch = HeapWatch(UnsafeCell::new(Watch::new()));

/// # Safety
/// The C heap's lock is held, and the reference does not outlive it.
#[inline(always)]
unsafe fn watch<'a>() -> &'a mut Watch<Configured> {
    // SAFETY: the lock makes us the only user, by the contract above.
    unsafe { &mut *WATCH.0.get() }
}

/// Whether this RTEMS has the layout that this archive was built for.
#[cold]
fn layout_matches() -> bool {
    const UNKNOWN: u8 = 0;
    const YES: u8 = 1;
    const NO: u8 = 2;
    static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
    let known = KNOWN.load(Ordering::Relaxed);
    if known != UNKNOWN {
        return known == YES;
    }
    const EXPECTED: [u32; FACTS] = Configured::LAYOUT.facts();
    // SAFETY: a constant of `heap_access.c` with this very type.
    let facts = unsafe { &rtems_ioc_heap_facts };
    let matches = facts.iter().zip(&EXPECTED).all(|(found, expected)| found == expected);
    KNOWN.store(if matches { YES } else { NO }, Ordering::Relaxed);
    matches
}

/// What a hook works on, if it may work at all.
///
/// # Safety
/// The lock of the C heap is held, and `heap` is its control block.
#[inline(always)]
unsafe fn hooked(heap: usize) -> Option<(&'static mut Watch<Configured>, RawMemory)> {
    // SAFETY: the lock is held, and hooks do not nest while they use it.
    let watch = unsafe { watch() };
    if !watch.tracker.records(heap) && !layout_matches() {
        return None;
    }
    // SAFETY: the lock is held, and `heap` is a heap of the expected layout.
    Some((watch, unsafe { RawMemory::new() }))
}

/// Makes the result of an operation visible with one store.
#[inline(always)]
fn publish(watch: &Watch<Configured>) {
    pool().publish(watch.tracker.bound());
}

/// After `_Heap_Allocate*` returned `pointer`, or null. 0: `wrap.c` has to call [`rtems_ioc_heap_settle`].
///
/// # Safety
/// The C heap's lock is held and the heap is recorded: `wrap.c` calls this where RTEMS called the heap, after a look at the
/// first word of `watch`, which is [`WATCH`] and nowhere else borrowed meanwhile.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_heap_allocated(watch: &mut HeapWatch, pointer: usize) -> u32 {
    let watch = watch.0.get_mut();
    // SAFETY: the lock is held, and a heap that is recorded has the expected layout.
    let memory = unsafe { RawMemory::new() };
    if !watch.tracker.record_allocated(&memory, pointer) {
        return 0;
    }
    publish(watch);
    1
}

/// Before `_Heap_Free`: fills in `note`.
///
/// # Safety
/// As for [`rtems_ioc_heap_allocated`]; `note` is writable.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_heap_before_free(
    watch: &mut HeapWatch,
    pointer: usize,
    note: &mut FreeNote,
) {
    // SAFETY: the lock is held, and a heap that is recorded has the expected layout.
    let memory = unsafe { RawMemory::new() };
    watch.0.get_mut().tracker.note_free(&memory, pointer, note);
}

/// After `_Heap_Free`; `freed` is not 0 if it returned true. Returns as [`rtems_ioc_heap_allocated`].
///
/// # Safety
/// As for [`rtems_ioc_heap_allocated`].
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_heap_after_free(
    watch: &mut HeapWatch,
    note: &FreeNote,
    freed: u32,
) -> u32 {
    let watch = watch.0.get_mut();
    // SAFETY: the lock is held, and a heap that is recorded has the expected layout.
    let memory = unsafe { RawMemory::new() };
    if !watch.tracker.record_free(&memory, note, freed != 0) {
        return 0;
    }
    publish(watch);
    1
}

/// After an operation that the two above did not record or found to differ; `failed` is not 0 if it was a request that the
/// heap could not satisfy. It is a call of its own, so that they call nothing: a function that does saves registers first,
/// on PowerPC always.
///
/// # Safety
/// `heap` is the C heap and its lock is held.
// SAFETY: the name belongs to this package.
#[cold]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_heap_settle(heap: usize, failed: u32) {
    // SAFETY: passed on.
    if let Some((watch, memory)) = unsafe { hooked(heap) } {
        watch.tracker.settle(&memory, heap, failed != 0);
        publish(watch);
    }
}

/// Before `_Heap_Resize_block`: fills in `note`.
///
/// # Safety
/// As for [`rtems_ioc_heap_settle`]; `note` is writable.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_heap_before_resize(heap: usize, pointer: usize, note: &mut ResizeNote) {
    // SAFETY: passed on.
    *note = match unsafe { hooked(heap) } {
        Some((watch, memory)) => watch.tracker.before_resize(&memory, heap, pointer),
        None => ResizeNote::default(),
    };
}

/// After `_Heap_Resize_block`, whatever it returned.
///
/// # Safety
/// As for [`rtems_ioc_heap_settle`].
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_heap_after_resize(heap: usize, note: &ResizeNote) {
    // SAFETY: passed on.
    if let Some((watch, memory)) = unsafe { hooked(heap) } {
        watch.tracker.after_resize(&memory, heap, note);
        publish(watch);
    }
}

/// Before `_Heap_Greedy_allocate`, which takes blocks past the other entry points.
///
/// # Safety
/// As for [`rtems_ioc_heap_settle`].
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_heap_before_greedy(heap: usize) {
    // SAFETY: passed on.
    if let Some((watch, _)) = unsafe { hooked(heap) } {
        watch.tracker.before_greedy();
    }
}

/// After `_Heap_Greedy_allocate`.
///
/// # Safety
/// As for [`rtems_ioc_heap_settle`].
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_heap_after_greedy(heap: usize) {
    // SAFETY: passed on.
    if let Some((watch, memory)) = unsafe { hooked(heap) } {
        watch.tracker.after_greedy(&memory, heap);
        publish(watch);
    }
}

/// The C heap as the pool's source.
struct CHeap;

static C_HEAP: CHeap = CHeap;

/// What the pool's questions go to in this image; `pool` finds it by its name.
// SAFETY: declared in `pool/c_abi.rs` with this very signature.
#[unsafe(no_mangle)]
fn rtems_ioc_heap_source() -> &'static dyn Source {
    &C_HEAP
}

impl CHeap {
    /// Asks under the heap's lock; `None` if there is no heap of the expected layout.
    fn with<R>(&self, ask: impl FnOnce(&mut Watch<Configured>, &RawMemory, usize) -> R) -> Option<R> {
        if !layout_matches() {
            return None;
        }
        // SAFETY: nothing in this package calls a source with the lock held.
        unsafe { rtems_ioc_heap_lock() };
        // SAFETY: the lock was taken on the line above.
        let (watch, memory) = unsafe { (watch(), RawMemory::new()) };
        // SAFETY: a read of one pointer.
        let heap = unsafe { rtems_ioc_heap_control() };
        let answer = (heap != 0).then(|| ask(watch, &memory, heap));
        // SAFETY: taken above.
        unsafe { rtems_ioc_heap_unlock() };
        answer
    }
}

/// The largest block by the C library's own walk: the last resort.
fn by_the_c_library() -> usize {
    // SAFETY: it may be called by any task.
    unsafe { rtems_ioc_heap_free_space() }
}

impl Source for CHeap {
    fn has_block(&self, bytes: usize) -> bool {
        let answer = self.with(|watch, memory, heap| watch.has_block(memory, heap, bytes));
        answer.unwrap_or_else(|| by_the_c_library() >= bytes)
    }

    fn largest(&self) -> usize {
        self.with(|watch, memory, heap| watch.largest(memory, heap)).unwrap_or_else(by_the_c_library)
    }

    fn snapshot(&self) -> Snapshot {
        self.with(|watch, memory, heap| watch.snapshot(memory, heap))
            .unwrap_or_else(|| Snapshot { largest_lower_bound: by_the_c_library(), ..Snapshot::default() })
    }

    fn searches(&self) -> Searches {
        self.with(|watch, _, _| watch.search.made.clone()).unwrap_or_default()
    }

    fn walk(&self) -> Totals {
        self.with(|_, memory, heap| walk::totals::<Configured, _>(memory, heap)).unwrap_or_default()
    }

    fn free_list(&self) -> Totals {
        self.with(|_, memory, heap| walk::free_list::<Configured, _>(memory, heap)).unwrap_or_default()
    }
}
