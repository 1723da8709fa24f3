// SPDX-License-Identifier: BSD-2-Clause
//! Fragments the pool on purpose: many small holes between small blocks in use, as on a crate after months.

use crate::heap::MemoryMut;
use crate::heap::{Native, walk};

use super::{Locked, lock};

/// What is requested for each block: with its header it takes 64 bytes.
const REQUEST: usize = 48;
/// Of so many blocks in a row ...
const GROUP: usize = 7;
/// ... these are freed again, which leaves 2.5 used blocks for each hole, and no two holes adjacent.
const HOLES: [usize; 2] = [1, 4];

/// Makes about `free_blocks` holes of 64 bytes between 2.5 times as many used blocks, for the rest of the program's life.
/// Returns how many used and free blocks the heap has then; `None` if the pool is too small for it.
pub fn fragment(free_blocks: usize) -> Option<(usize, usize)> {
    let mut locked = lock()?;
    let Locked { state, memory, heap } = &mut locked;
    let tracker = &mut state.watch.tracker;
    // The blocks that are to be freed, linked through their first word.
    let mut holes = 0;
    let mut complete = true;
    'groups: for _ in 0..free_blocks.div_ceil(HOLES.len()) {
        for position in 0..GROUP {
            let pointer = heap.allocate(memory, tracker, REQUEST, 0, 0);
            if pointer == 0 {
                complete = false;
                break 'groups;
            }
            if HOLES.contains(&position) {
                memory.set_word(pointer, holes);
                holes = pointer;
            }
        }
    }
    while holes != 0 {
        let pointer = holes;
        holes = crate::heap::Memory::word(memory, pointer);
        heap.free(memory, tracker, pointer);
    }
    locked.publish();
    let totals = walk::totals::<Native, _>(&locked.memory, locked.heap.address());
    complete.then_some((totals.used_blocks, totals.free_blocks))
}
