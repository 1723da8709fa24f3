// SPDX-License-Identifier: BSD-2-Clause
//! What the demonstration asks of the operating system.

/// Why a remedy could not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub &'static str);

/// The calling task's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Bytes in all.
    pub size: usize,
    /// Bytes below the caller that nobody uses now.
    pub free: usize,
}

/// A block of the C heap; dropping it gives it back.
pub trait Block {
    /// Writes this byte everywhere and lends what is then there.
    fn fill(&mut self, byte: u8) -> &mut [u8];

    /// Writes one byte in each `stride` bytes.
    fn touch(&mut self, stride: usize);

    /// Throws it out of the data cache as far as a program may; false if it may not.
    fn cool(&mut self) -> bool;
}

/// The operating system under the demonstration.
pub trait Platform {
    /// A block of its heap.
    type Block: Block;

    /// Monotonic time, nanoseconds.
    fn now_ns(&self) -> u64;

    /// Page faults of this task so far that needed no disk.
    fn faults(&self) -> u64;

    /// Whether memory is paged, so that a first touch may fault.
    fn has_paging(&self) -> bool;

    /// Bytes of a page; of a cache line where there is no paging.
    fn page_bytes(&self) -> usize;

    /// The calling task's stack.
    fn stack(&self) -> Stack;

    /// Bytes of the calling task's stack that were ever used, where it is known.
    fn stack_high_water(&self) -> Option<usize>;

    /// Bytes that one allocation may take now.
    fn largest_block(&self) -> usize;

    /// Takes a block of the C library's own heap.
    fn allocate(&mut self, bytes: usize) -> Option<Self::Block>;

    /// Makes the heap keep what is freed.
    fn keep_heap(&mut self) -> Result<(), Refused>;

    /// Locks all memory, present and future.
    fn lock_memory(&mut self) -> Result<(), Refused>;
}
