// SPDX-License-Identifier: BSD-2-Clause
//! The tracker: what is free in a heap, kept up to date by each operation instead of by a walk.
//!
//! Whoever owns the heap calls the tracker around each operation, under the lock that the operation needs anyway. The
//! tracker then knows free bytes and free blocks exactly, and the largest free block exactly or to within one size class.
//! It compares itself with the heap's own counters after each operation; when they differ (an operation bypassed the
//! hooks) it walks the free list once, counts that, and gives up if it happens again and again.
//!
//! Nothing in here panics, allocates, locks or prints, and the state is valid as all-zero.

mod operations;

use core::marker::PhantomData;

use super::index::Index;
use super::layout::Version;
use super::memory::Memory;
use super::tags::{Range, Tags};

pub use operations::{FreeNote, ResizeNote};

/// The bound of a heap in which nothing is free: less than any need, and not 0, which is for what is not known.
pub const NOTHING_FREE: usize = 1;

/// Whether the tracker can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No heap seen yet.
    Unattached,
    /// Follows a heap.
    Attached,
    /// Given up: the layout is not the expected one, or operations keep bypassing the hooks.
    Lost,
}

/// Why a heap was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// No heap at this address (null or misaligned).
    NoHeap,
    /// The page size is no power of two between 4 and 4096.
    PageSize,
    /// The smallest block is not what this layout makes it: another version or configuration of RTEMS.
    MinimumBlockSize,
    /// First and last block do not fit the heap's area or its page size.
    Blocks,
    /// A link of the free list leads out of the heap or is not returned.
    Links,
    /// A block of the free list is not a free block.
    BlockNotFree,
    /// The free list and the heap's own counters differ.
    Counters,
}

/// What is known about a heap, for status displays. All sizes in bytes, as the heap counts them: with block headers.
///
/// This is also the struct of the C interface (`rtems_ioc_pool_status`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// All memory that the heap can hand out, used or free.
    pub heap_bytes: usize,
    /// Free memory.
    pub free_bytes: usize,
    /// Number of pieces it is in.
    pub free_blocks: usize,
    /// Blocks in use.
    pub used_blocks: usize,
    /// There is a free block of at least this size, and none of 33/32 of it.
    pub largest_lower_bound: usize,
    /// The least free memory since the tracker was attached.
    pub minimum_free_bytes: usize,
    /// 1/1000 of the free memory that is outside of the largest block (by its lower bound).
    pub fragmentation: u32,
    /// Requests that the heap could not satisfy.
    pub failed: u32,
    /// Heap operations recorded (wraps).
    pub operations: u32,
    /// Walks made because the heap's own counters differed from the tracker's.
    pub resyncs: u32,
    /// 1 if the figures come from the tracker, 0 if from a walk.
    pub tracked: u32,
}

impl Snapshot {
    /// Free memory outside of the largest block, in 1/1000 of the free memory.
    pub fn fragmentation(free_bytes: usize, largest: usize) -> u32 {
        if free_bytes == 0 {
            return 0;
        }
        let outside = free_bytes.saturating_sub(largest) as u64;
        (outside.saturating_mul(1000) / free_bytes as u64) as u32
    }
}

/// Mismatches in close succession after which the hooks are not believed any more.
const STRIKES: u32 = 16;
/// Two mismatches are in close succession when there are fewer operations in between.
const STRIKE_DISTANCE: u32 = 1000;
/// When validation fails this often in a row the heap is not tried again.
const ATTACH_TRIES: u32 = 3;

/// Follows one heap of RTEMS version `V`. One writer at a time: the holder of the heap's lock. In this order, since the
/// hooks look at the first word before they call.
#[repr(C)]
pub struct Tracker<V> {
    /// The heap that operations are recorded for now; 0 while not attached or while suspended.
    active: usize,
    /// The heap that was attached.
    heap: usize,
    /// Nesting of operations whose inner operations are not to be recorded.
    suspended: u32,
    lost: bool,
    attach_failures: u32,
    /// Page size - 1.
    page_mask: usize,
    index: Index,
    free_bytes: usize,
    free_blocks: usize,
    minimum_free_bytes: usize,
    /// Size of a free block that certainly exists, 0 if none is known; the largest such size seen.
    witness: usize,
    /// At least so many free blocks have exactly that size.
    witness_count: u32,
    /// The witness is the largest free block and the count of its equals is exact.
    witness_is_largest: bool,
    /// Largest free block, from below; [`NOTHING_FREE`] if there is none, 0 if nothing is known.
    lower_bound: usize,
    operations: u32,
    failed: u32,
    resyncs: u32,
    strikes: u32,
    last_mismatch: u32,
    version: PhantomData<V>,
}

impl<V: Version> Tracker<V> {
    /// Where the address of the heap that is recorded now is, 0 for none.
    pub const RECORDED: usize = core::mem::offset_of!(Self, active);

    /// A tracker of nothing (all-zero).
    pub const fn new() -> Self {
        Self {
            active: 0,
            heap: 0,
            suspended: 0,
            lost: false,
            attach_failures: 0,
            page_mask: 0,
            index: Index::new(),
            free_bytes: 0,
            free_blocks: 0,
            minimum_free_bytes: 0,
            witness: 0,
            witness_count: 0,
            witness_is_largest: false,
            lower_bound: 0,
            operations: 0,
            failed: 0,
            resyncs: 0,
            strikes: 0,
            last_mismatch: 0,
            version: PhantomData,
        }
    }

    /// Starts to follow the heap whose control block is at `heap`: validates it, and walks its free list once.
    ///
    /// # Errors
    /// Says what does not look like a heap of version `V`; the tracker is then unattached.
    pub fn attach<M: Memory>(&mut self, memory: &M, heap: usize) -> Result<(), AttachError> {
        self.detach();
        let tags = Tags::<V, M>::new(memory, heap);
        let page_size = validate_control(tags, heap)?;
        self.page_mask = page_size - 1;
        self.load(tags)?;
        self.heap = heap;
        self.active = if self.suspended == 0 { heap } else { 0 };
        self.lost = false;
        self.attach_failures = 0;
        self.minimum_free_bytes = self.free_bytes;
        self.update_bound();
        Ok(())
    }

    /// Stops following: nothing is known any more.
    pub fn detach(&mut self) {
        self.active = 0;
        self.heap = 0;
        self.forget();
    }

    /// Rebuilds what is known by walking the free list.
    ///
    /// # Errors
    /// The list is not that of a sound heap; nothing is known then.
    pub fn resync<M: Memory>(&mut self, memory: &M) -> Result<(), AttachError> {
        if self.heap == 0 {
            return Err(AttachError::NoHeap);
        }
        let loaded = self.load(Tags::new(memory, self.heap));
        if loaded.is_ok() {
            self.minimum_free_bytes = self.minimum_free_bytes.min(self.free_bytes);
            self.update_bound();
        }
        loaded
    }

    /// Counts the least free memory from now on: for a heap that was not itself yet when it was attached.
    pub fn restart_minimum(&mut self) {
        self.minimum_free_bytes = self.free_bytes;
    }

    /// Whether the heap's own counters agree with the tracker. To be asked under the heap's lock.
    #[inline(always)]
    pub fn self_check<M: Memory>(&self, memory: &M) -> bool {
        let tags = Tags::<V, M>::new(memory, self.heap);
        tags.control(V::LAYOUT.free_size) == self.free_bytes
            && tags.counter(V::LAYOUT.free_blocks) as usize == self.free_blocks
    }

    /// Whether there is a heap to answer for.
    pub fn state(&self) -> State {
        if self.lost {
            State::Lost
        } else if self.heap == 0 {
            State::Unattached
        } else {
            State::Attached
        }
    }

    /// The attached heap's address, 0 if none.
    pub fn heap(&self) -> usize {
        self.heap
    }

    /// What the owner publishes after each operation with one store, which is all that a reader without the lock ever sees:
    /// there is a free block of at least this size. 0 if nothing is known, [`NOTHING_FREE`] if nothing is free.
    #[inline(always)]
    pub fn bound(&self) -> usize {
        self.lower_bound
    }

    /// There is a free block of at least this size; 0 if nothing is known or nothing is free.
    pub fn largest_lower_bound(&self) -> usize {
        if self.lower_bound == NOTHING_FREE { 0 } else { self.lower_bound }
    }

    /// The largest free block exactly, 0 if there is none. To be asked under the heap's lock.
    ///
    /// It is known already unless the last block of that size was just used up while others of the same class exist.
    /// Then the free list is searched from both ends until all members of that class were seen.
    pub fn largest_exact<M: Memory>(&mut self, memory: &M) -> usize {
        if self.witness_is_largest || self.heap == 0 {
            return self.witness;
        }
        let Some(top) = self.index.top() else { return 0 };
        let tags = Tags::<V, M>::new(memory, self.heap);
        let mut members = self.index.count(top);
        let mut largest = 0;
        let mut equals = 0;
        super::tier_b::from_both_ends(tags, |size| {
            if Index::class_of(size) == top {
                members = members.saturating_sub(1);
                if size > largest {
                    largest = size;
                    equals = 0;
                }
                equals += u32::from(size == largest);
            }
            members == 0
        });
        if members != 0 {
            return self.largest_lower_bound();
        }
        self.witness = largest;
        self.witness_count = equals;
        self.witness_is_largest = true;
        self.lower_bound = largest;
        largest
    }

    /// What is known, together with the heap's own figures. To be asked under the heap's lock.
    pub fn snapshot<M: Memory>(&self, memory: &M) -> Snapshot {
        let tags = Tags::<V, M>::new(memory, self.heap);
        let attached = self.heap != 0;
        Snapshot {
            heap_bytes: if attached { tags.control(V::LAYOUT.stats_size) } else { 0 },
            free_bytes: self.free_bytes,
            free_blocks: self.free_blocks,
            used_blocks: if attached { tags.counter(V::LAYOUT.used_blocks) as usize } else { 0 },
            largest_lower_bound: self.largest_lower_bound(),
            minimum_free_bytes: self.minimum_free_bytes,
            fragmentation: Snapshot::fragmentation(self.free_bytes, self.largest_lower_bound()),
            failed: self.failed,
            operations: self.operations,
            resyncs: self.resyncs,
            tracked: u32::from(attached),
        }
    }

    /// The counts by size class, for comparison with a walk.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Forgets all blocks.
    fn forget(&mut self) {
        self.index.clear();
        self.free_bytes = 0;
        self.free_blocks = 0;
        self.witness = 0;
        self.witness_count = 0;
        self.witness_is_largest = false;
        self.lower_bound = 0;
    }

    /// Reads the free list into the index, checking each link.
    fn load<M: Memory>(&mut self, tags: Tags<'_, V, M>) -> Result<(), AttachError> {
        self.forget();
        let loaded = self.load_blocks(tags);
        if loaded.is_err() {
            self.forget();
        }
        loaded
    }

    fn load_blocks<M: Memory>(&mut self, tags: Tags<'_, V, M>) -> Result<(), AttachError> {
        let range = tags.range();
        let head = tags.list_head();
        let expected = tags.counter(V::LAYOUT.free_blocks) as usize;
        let mut previous = head;
        let mut block = tags.next_free(head);
        while block != head {
            if self.free_blocks == expected {
                return Err(AttachError::Counters);
            }
            if !range.contains(block) || tags.previous_free(block) != previous {
                return Err(AttachError::Links);
            }
            let size = tags.size(block);
            let after = tags.at(block, size);
            if !tags.previous_used(block) || size == 0 || !range.contains(after) || after < block {
                return Err(AttachError::BlockNotFree);
            }
            if tags.previous_used(after) || tags.previous_size(after) != size {
                return Err(AttachError::BlockNotFree);
            }
            self.replace(0, size);
            previous = block;
            block = tags.next_free(block);
        }
        if tags.previous_free(head) != previous {
            return Err(AttachError::Links);
        }
        if self.free_blocks != expected || self.free_bytes != tags.control(V::LAYOUT.free_size) {
            return Err(AttachError::Counters);
        }
        Ok(())
    }
}

impl<V: Version> Default for Tracker<V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Checks that the control block is one of version `V`; returns the page size.
fn validate_control<V: Version, M: Memory>(tags: Tags<'_, V, M>, heap: usize) -> Result<usize, AttachError> {
    let layout = &V::LAYOUT;
    if heap == 0 || !heap.is_multiple_of(layout.word) {
        return Err(AttachError::NoHeap);
    }
    let page_size = tags.control(layout.page_size);
    if !page_size.is_power_of_two() || !(4..=4096).contains(&page_size) {
        return Err(AttachError::PageSize);
    }
    if tags.control(layout.min_block_size) != layout.block_bytes.next_multiple_of(page_size) {
        return Err(AttachError::MinimumBlockSize);
    }
    let Range { first, last } = tags.range();
    let (begin, end) = (tags.control(layout.area_begin), tags.control(layout.area_end));
    let aligned = |block: usize| tags.at(block, layout.header).is_multiple_of(page_size);
    if begin > first || first > last || last > end || !aligned(first) || !aligned(last) {
        return Err(AttachError::Blocks);
    }
    Ok(page_size)
}
