// SPDX-License-Identifier: BSD-2-Clause
//! Fragments the pool on purpose: many small holes between small blocks in use, as on a crate after months.

use crate::heap::{Memory, MemoryMut, Native, walk};
use crate::os::raw_memory::RawMemory;

use super::{Locked, lock};

/// What is requested for each block: with its header it takes 64 bytes.
const REQUEST: usize = 48;
/// Of so many blocks in a row ...
const GROUP: usize = 7;
/// ... these are freed again, which leaves 2.5 used blocks for each hole, and no two holes adjacent.
const HOLES: [usize; 2] = [1, 4];

/// Bytes of the pool that `free_blocks` holes and the used blocks between them take.
pub fn fragment_bytes(free_blocks: usize) -> usize {
    let block = (REQUEST + size_of::<usize>()).next_multiple_of(super::PAGE_SIZE);
    free_blocks.div_ceil(HOLES.len()).saturating_mul(GROUP * block)
}

/// Makes about `free_blocks` holes of 64 bytes between 2.5 times as many used blocks, for the rest of the program's life.
/// Returns how many used and free blocks the heap has then; `None` if the pool is too small for it, and then the heap is
/// as it was.
pub fn fragment(free_blocks: usize) -> Option<(usize, usize)> {
    let mut locked = lock()?;
    let (mut holes, mut kept) = (Chain(0), Chain(0));
    let mut complete = true;
    'groups: for _ in 0..free_blocks.div_ceil(HOLES.len()) {
        for position in 0..GROUP {
            let Locked { state, memory, heap } = &mut locked;
            let pointer = heap.allocate(memory, &mut state.watch.tracker, REQUEST, 0, 0);
            if pointer == 0 {
                complete = false;
                break 'groups;
            }
            if HOLES.contains(&position) { &mut holes } else { &mut kept }.push(memory, pointer);
        }
    }
    holes.free(&mut locked);
    if !complete {
        kept.free(&mut locked);
    }
    locked.publish();
    let totals = walk::totals::<Native, _>(&locked.memory, locked.heap.address());
    complete.then_some((totals.used_blocks, totals.free_blocks))
}

/// Blocks in use, each of which holds the address of the next in its first word; 0 ends them.
struct Chain(usize);

impl Chain {
    fn push(&mut self, memory: &mut RawMemory, block: usize) {
        memory.set_word(block, self.0);
        self.0 = block;
    }

    fn free(&mut self, locked: &mut Locked<'_>) {
        let Locked { state, memory, heap } = locked;
        while self.0 != 0 {
            let block = self.0;
            self.0 = memory.word(block);
            heap.free(memory, &mut state.watch.tracker, block);
        }
    }
}
