// SPDX-License-Identifier: BSD-2-Clause
//! The oracle: a walk over every block that checks each rule of the heap and adds up what is free.

use crate::heap::layout::Version;
use crate::heap::memory::Memory;
use crate::heap::tags::Tags;
use crate::heap::walk::{self, Totals};

/// Which rule a heap breaks, and at which block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The walk did not arrive at the last block.
    Walk,
    /// Two free blocks touch.
    Adjacent(usize),
    /// A free block is smaller than the minimum or no multiple of the page size.
    Size(usize),
    /// The tag behind a free block does not repeat its size.
    Tag(usize),
    /// The links of the free list do not mirror each other.
    Links(usize),
    /// The free list has other blocks than the walk found.
    List,
    /// The statistics differ from the walk.
    Statistics,
}

/// Walks the whole heap, checks it, and shows `free` the size of each free block.
///
/// # Errors
/// The first rule found broken.
pub fn check<V: Version, M: Memory>(
    memory: &M,
    heap: usize,
    mut free: impl FnMut(usize),
) -> Result<Totals, Fault> {
    let tags = Tags::<V, M>::new(memory, heap);
    let range = tags.range();
    let (page_size, minimum) = (tags.control(V::LAYOUT.page_size), tags.control(V::LAYOUT.min_block_size));
    let mut fault = None;
    let mut previous_free = false;
    let mut end = range.first;
    walk::every_block::<V, M>(memory, heap, |block, size, is_free| {
        end = tags.at(block, size);
        if is_free {
            free(size);
            if previous_free {
                fault = fault.or(Some(Fault::Adjacent(block)));
            }
            if size < minimum || size.checked_rem(page_size) != Some(0) {
                fault = fault.or(Some(Fault::Size(block)));
            }
            if tags.previous_size(end) != size {
                fault = fault.or(Some(Fault::Tag(block)));
            }
        }
        previous_free = is_free;
    });
    if let Some(fault) = fault {
        return Err(fault);
    }
    if end != range.last {
        return Err(Fault::Walk);
    }
    let totals = walk::totals::<V, M>(memory, heap);
    check_list(tags, &totals)?;
    let counted = (
        tags.control(V::LAYOUT.free_size),
        tags.counter(V::LAYOUT.free_blocks) as usize,
        tags.control(V::LAYOUT.min_free_size) <= totals.free_bytes,
    );
    if counted != (totals.free_bytes, totals.free_blocks, true) {
        return Err(Fault::Statistics);
    }
    Ok(totals)
}

/// Every listed block is free (by the tag behind it), and there are as many of them, with as many bytes.
fn check_list<V: Version, M: Memory>(tags: Tags<'_, V, M>, totals: &Totals) -> Result<(), Fault> {
    let range = tags.range();
    let mut previous = tags.list_head();
    let mut block = tags.next_free(previous);
    let (mut blocks, mut bytes) = (0, 0);
    while block != tags.list_head() {
        if tags.previous_free(block) != previous {
            return Err(Fault::Links(block));
        }
        if blocks == totals.free_blocks || tags.free_size_at(range, block) == 0 {
            return Err(Fault::List);
        }
        blocks += 1;
        bytes += tags.size(block);
        previous = block;
        block = tags.next_free(block);
    }
    if (blocks, bytes) == (totals.free_blocks, totals.free_bytes) { Ok(()) } else { Err(Fault::List) }
}
