// SPDX-License-Identifier: BSD-2-Clause
//! A faithful model of RTEMS's first-fit heap: same tags, same free-list order, same statistics, same upstream bugs.
//!
//! It has two jobs. In tests it is what the tracker follows, in every layout, word size and byte order. In the hosted
//! program it is the global allocator, so that a desk shows the fragmentation and the search times of a crate.
//!
//! The whole state lies in the heap's memory (the control block included). Hooks are called where the linker's `--wrap`
//! puts them on RTEMS: at each entry point, also when the heap calls it itself (extending, delayed frees, and up to 4.9
//! shrinking, all free through `_Heap_Free`).
//!
//! Rules of the free list (it is not sorted):
//! - a freed block that merges with nothing becomes the head;
//! - merged with the next free block it takes that one's place; merged with the previous, or with both, that one stays;
//! - the remainder of a split keeps the place of the block that was split;
//! - what resizing frees becomes the head (4.10 and later);
//! - a new area goes to the tail (4.11 and later).

mod allocate;
mod allocate_4_7;
pub mod check;
mod edit;
mod extend;
mod free;
mod greedy;
mod initialize;
mod protection;
mod resize;

use core::marker::PhantomData;

use super::layout::{Family, Version};
use super::memory::{Memory, MemoryMut};
use super::tracker::{FreeNote, ResizeNote, Tracker};
use edit::Edit;

pub use resize::ResizeStatus;

/// What is told of each operation on a heap, as the wrapped entry points do on RTEMS.
pub trait Hooks<M: Memory> {
    /// After an allocation; `pointer` is 0 if it failed.
    fn allocated(&mut self, memory: &M, heap: usize, pointer: usize);
    /// Before a block is freed.
    fn before_free(&mut self, memory: &M, heap: usize, pointer: usize, note: &mut FreeNote);
    /// After it was freed, or refused.
    fn after_free(&mut self, memory: &M, heap: usize, note: &FreeNote, freed: bool);
    /// Before a block is resized in place.
    fn before_resize(&mut self, memory: &M, heap: usize, pointer: usize) -> ResizeNote;
    /// After it was resized, or not.
    fn after_resize(&mut self, memory: &M, heap: usize, note: &ResizeNote);
    /// Before a greedy allocation.
    fn before_greedy(&mut self);
    /// After it.
    fn after_greedy(&mut self, memory: &M, heap: usize);
}

impl<V: Version, M: Memory> Hooks<M> for Tracker<V> {
    #[inline(always)]
    fn allocated(&mut self, memory: &M, heap: usize, pointer: usize) {
        Tracker::allocated(self, memory, heap, pointer);
    }
    #[inline(always)]
    fn before_free(&mut self, memory: &M, heap: usize, pointer: usize, note: &mut FreeNote) {
        Tracker::before_free(self, memory, heap, pointer, note);
    }
    #[inline(always)]
    fn after_free(&mut self, memory: &M, heap: usize, note: &FreeNote, freed: bool) {
        Tracker::after_free(self, memory, heap, note, freed);
    }
    #[inline(always)]
    fn before_resize(&mut self, memory: &M, heap: usize, pointer: usize) -> ResizeNote {
        Tracker::before_resize(self, memory, heap, pointer)
    }
    #[inline(always)]
    fn after_resize(&mut self, memory: &M, heap: usize, note: &ResizeNote) {
        Tracker::after_resize(self, memory, heap, note);
    }
    fn before_greedy(&mut self) {
        Tracker::before_greedy(self);
    }
    fn after_greedy(&mut self, memory: &M, heap: usize) {
        Tracker::after_greedy(self, memory, heap);
    }
}

/// No hooks: a heap linked without the flags, or by an LTO that bypassed them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl<M: Memory> Hooks<M> for NoHooks {
    fn allocated(&mut self, _: &M, _: usize, _: usize) {}
    fn before_free(&mut self, _: &M, _: usize, _: usize, _: &mut FreeNote) {}
    fn after_free(&mut self, _: &M, _: usize, _: &FreeNote, _: bool) {}
    fn before_resize(&mut self, _: &M, _: usize, _: usize) -> ResizeNote {
        ResizeNote::default()
    }
    fn after_resize(&mut self, _: &M, _: usize, _: &ResizeNote) {}
    fn before_greedy(&mut self) {}
    fn after_greedy(&mut self, _: &M, _: usize) {}
}

/// The heap of RTEMS version `V` whose control block is at an address of some memory.
pub struct Heap<V> {
    control: usize,
    version: PhantomData<V>,
}

impl<V> Clone for Heap<V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V> Copy for Heap<V> {}

impl<V: Version> Heap<V> {
    /// A heap with its control block (`Layout::control_bytes` long) at `control`.
    pub const fn at(control: usize) -> Self {
        Self { control, version: PhantomData }
    }

    /// The address of the control block.
    pub const fn address(&self) -> usize {
        self.control
    }

    /// Makes the area of `bytes` at `begin` a heap with that page size. Returns the bytes that can be handed out, 0 if
    /// the area is too small.
    pub fn initialize<M: MemoryMut>(
        self,
        memory: &mut M,
        begin: usize,
        bytes: usize,
        page_size: usize,
    ) -> usize {
        self.edit(memory, &mut NoHooks).initialize(begin, bytes, page_size)
    }

    /// Allocates `size` bytes, at a multiple of `alignment` and not across a multiple of `boundary` unless they are 0.
    /// Returns the address, 0 if there is no room. Boundaries exist from 4.10 on.
    pub fn allocate<M: MemoryMut, H: Hooks<M>>(
        self,
        memory: &mut M,
        hooks: &mut H,
        size: usize,
        alignment: usize,
        boundary: usize,
    ) -> usize {
        self.edit(memory, hooks).allocate_hooked(size, alignment, boundary)
    }

    /// Frees what [`Heap::allocate`] returned; false if `pointer` is no such thing.
    pub fn free<M: MemoryMut, H: Hooks<M>>(self, memory: &mut M, hooks: &mut H, pointer: usize) -> bool {
        self.edit(memory, hooks).free_hooked(pointer)
    }

    /// Resizes a block in place if there is room behind it.
    pub fn resize<M: MemoryMut, H: Hooks<M>>(
        self,
        memory: &mut M,
        hooks: &mut H,
        pointer: usize,
        size: usize,
    ) -> ResizeStatus {
        let mut edit = self.edit(memory, hooks);
        // As the wrapper does on RTEMS; the real function would do it anyway.
        edit.free_all_delayed_blocks();
        let note = edit.hooks.before_resize(edit.memory, self.control, pointer);
        let status = match V::LAYOUT.family {
            Family::V4_7 => edit.resize_4_7(pointer, size),
            Family::V4_10 | Family::V4_11 => edit.resize(pointer, size),
        };
        edit.hooks.after_resize(edit.memory, self.control, &note);
        status
    }

    /// Adds the area of `bytes` at `begin`, which must be free memory outside of the heap. Returns the bytes added, 0 if
    /// it was refused: up to 4.10 the area has to follow the heap immediately.
    pub fn extend<M: MemoryMut, H: Hooks<M>>(
        self,
        memory: &mut M,
        hooks: &mut H,
        begin: usize,
        bytes: usize,
    ) -> usize {
        let mut edit = self.edit(memory, hooks);
        match V::LAYOUT.family {
            Family::V4_7 | Family::V4_10 => edit.extend_contiguous(begin, bytes),
            Family::V4_11 => edit.extend(begin, bytes),
        }
    }

    /// `_Heap_Greedy_allocate`: takes everything except blocks of the given sizes. Returns the list of what was taken,
    /// for [`Heap::greedy_free`]. 4.11 and later.
    pub fn greedy_allocate<M: MemoryMut, H: Hooks<M>>(
        self,
        memory: &mut M,
        hooks: &mut H,
        sizes: &[usize],
    ) -> usize {
        let mut edit = self.edit(memory, hooks);
        edit.hooks.before_greedy();
        let blocks = edit.greedy_allocate(sizes);
        edit.hooks.after_greedy(edit.memory, self.control);
        blocks
    }

    /// Frees what [`Heap::greedy_allocate`] took.
    pub fn greedy_free<M: MemoryMut, H: Hooks<M>>(self, memory: &mut M, hooks: &mut H, blocks: usize) {
        self.edit(memory, hooks).greedy_free(blocks);
    }

    /// Bytes that a request for the block at `pointer` may use, which can be more than were asked for.
    pub fn usable_size<M: MemoryMut>(self, memory: &mut M, pointer: usize) -> usize {
        self.edit(memory, &mut NoHooks).usable_size(pointer)
    }

    fn edit<'a, M, H>(self, memory: &'a mut M, hooks: &'a mut H) -> Edit<'a, V, M, H> {
        Edit { memory, hooks, heap: self.control, version: PhantomData }
    }
}
