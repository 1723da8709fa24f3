// SPDX-License-Identifier: BSD-2-Clause
//! The model does what the real heap does: the same operations, compared with a recording made by RTEMS 6 on psim.
//!
//! `heap_recorder.c` beside this file ran on the simulator; both mix every address returned, every statistic and the
//! whole free list after each operation into one hash.

use rtems_ioc::heap::model::{Heap, NoHooks, ResizeStatus};
use rtems_ioc::heap::{Memory, Rtems4_11, SliceMemory, Version};

/// Where the recorder's memory lay.
const BASE: usize = 0x3a000;
const BYTES: usize = 128 << 10;
/// The heap's control block, outside of what the recorder gave to the heap.
const CONTROL: usize = BASE + BYTES;

/// Hash, free bytes and free blocks after each 10 000 operations, as printed by the recorder.
const RECORDED: [(u32, usize, u32); 10] = [
    (3_243_457_091, 18_936, 39),
    (3_377_126_123, 22_728, 36),
    (1_386_964_376, 20_688, 35),
    (2_128_320_203, 23_568, 49),
    (3_090_871_484, 23_672, 36),
    (2_239_209_703, 22_600, 34),
    (3_996_545_486, 26_304, 43),
    (2_578_746_151, 31_096, 47),
    (3_971_236_408, 21_272, 43),
    (3_266_087_273, 26_944, 40),
];

struct Recorder {
    seed: u32,
    hash: u32,
}

impl Recorder {
    fn random(&mut self) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 17;
        self.seed ^= self.seed << 5;
        self.seed as usize
    }

    fn mix(&mut self, value: usize) {
        self.hash = (self.hash ^ value as u32).wrapping_mul(16_777_619);
    }

    fn size(&mut self) -> usize {
        match self.random() % 16 {
            0..10 => 1 + self.random() % 96,
            10..15 => 1 + self.random() % 2500,
            _ => 1 + self.random() % 30_000,
        }
    }

    /// Everything that a caller or a walker of the free list can see.
    fn mix_state(&mut self, memory: &SliceMemory<'_, 4, true>) {
        let layout = &Rtems4_11::<4>::LAYOUT;
        let words = [layout.free_size, layout.free_blocks, layout.used_blocks, layout.searches, layout.frees];
        let low = [layout.failed_allocs, layout.lifetime_allocated + 4, layout.lifetime_freed + 4];
        for offset in words.into_iter().chain(low).chain([layout.min_free_size, layout.stats_size]) {
            self.mix(memory.word(CONTROL + offset));
        }
        let mut block = memory.word(CONTROL + layout.next);
        let mut count = 0;
        while block != CONTROL {
            self.mix(block - BASE);
            self.mix(memory.word(block + layout.size));
            block = memory.word(block + layout.next);
            count += 1;
        }
        self.mix(count);
    }
}

#[test]
fn the_model_repeats_what_rtems_did() {
    let mut bytes = vec![0u8; BYTES + 4096];
    let mut memory = SliceMemory::<4, true>::new(BASE, &mut bytes);
    let heap = Heap::<Rtems4_11<4>>::at(CONTROL);
    let mut recorder = Recorder { seed: 12_345, hash: 2_166_136_261 };
    let mut live = [0usize; 120];
    let mut end = BASE + 16 + 40_000;
    recorder.mix(heap.initialize(&mut memory, BASE + 16, 40_000, 8));
    let operations = if cfg!(miri) { 0 } else { 100_000 };
    for step in 0..operations {
        let operation = recorder.random() % 100;
        let slot = recorder.random() % live.len();
        let size = recorder.size();
        match operation {
            0..45 if live[slot] == 0 => {
                let (mut alignment, mut boundary) = (0, 0);
                if recorder.random().is_multiple_of(4) {
                    alignment = 1 << (recorder.random() % 11);
                    if recorder.random() % 2 == 1 {
                        boundary = 1 << (6 + recorder.random() % 7);
                    }
                    if recorder.random() % 2 == 1 {
                        alignment *= 3;
                    }
                }
                let pointer = heap.allocate(&mut memory, &mut NoHooks, size, alignment, boundary);
                live[slot] = pointer;
                recorder.mix(if pointer == 0 { usize::MAX } else { pointer - BASE });
            }
            45..75 if live[slot] != 0 => {
                recorder.mix(usize::from(heap.free(&mut memory, &mut NoHooks, live[slot])));
                live[slot] = 0;
            }
            75..98 if live[slot] != 0 => {
                recorder.mix(match heap.resize(&mut memory, &mut NoHooks, live[slot], size) {
                    ResizeStatus::Successful => 0,
                    ResizeStatus::Unsatisfied => 1,
                    ResizeStatus::Fatal => 2,
                });
            }
            98.. if step % 500 == 0 => {
                let begin = end + if recorder.random() % 2 == 1 { 64 + recorder.random() % 400 } else { 0 };
                let bytes = 256 + recorder.random() % 2000;
                if begin + bytes <= BASE + BYTES {
                    recorder.mix(heap.extend(&mut memory, &mut NoHooks, begin, bytes));
                    end = begin + bytes;
                }
            }
            _ => {}
        }
        recorder.mix_state(&memory);
        if step % 10_000 == 9_999 {
            let layout = &Rtems4_11::<4>::LAYOUT;
            let state = (
                recorder.hash,
                memory.word(CONTROL + layout.free_size),
                memory.count(CONTROL + layout.free_blocks),
            );
            assert_eq!(state, RECORDED[step / 10_000], "after {} operations", step + 1);
        }
    }
}
