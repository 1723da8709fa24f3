// SPDX-License-Identifier: BSD-2-Clause
//! Where each RTEMS version keeps the fields of `Heap_Block` and `Heap_Control`.
//!
//! Offsets follow from the order of the fields in RTEMS's headers by the rules of the C ABI, so they are computed, in
//! one place and at compile time; the tests compare them with figures taken from the real headers.
//!
//! ```text
//! block      +0 prev_size        size of the previous block, valid only while that one is free
//!            [protector words]   HEAP_PROTECTION only
//!            +size size_and_flag bit 0: the previous block is used (a block's own state is in the next block)
//!            [protector words]
//!            +next next free     user data begins here: block + header
//!            +prev previous free
//! control    free_list (a block), page_size, min_block_size, area begin, area end, first block, last block, statistics
//! ```

/// RTEMS versions that differ in more than their word size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// 4.7, 4.8, 4.9: every size is an `uint32_t`.
    V4_7,
    /// 4.10: one allocation primitive for all; one contiguous area.
    V4_10,
    /// 4.11, 5, 6, main: several areas, lifetime counters.
    V4_11,
}

/// Byte offsets of one version, word size and configuration. Block offsets count from the block, the others from the
/// heap control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Which functions work on the heap.
    pub family: Family,
    /// Bytes in a native word.
    pub word: usize,
    /// From a block to the user's data.
    pub header: usize,
    /// `Heap_Block.size_and_flag`.
    pub size: usize,
    /// `Heap_Block.next`, meaningful while the block is free.
    pub next: usize,
    /// `Heap_Block.prev`, meaningful while the block is free.
    pub prev: usize,
    /// `sizeof(Heap_Block)`.
    pub block_bytes: usize,
    /// `Heap_Control.page_size`.
    pub page_size: usize,
    /// `Heap_Control.min_block_size`.
    pub min_block_size: usize,
    /// `Heap_Control.area_begin` (`begin` up to 4.9).
    pub area_begin: usize,
    /// `Heap_Control.area_end` (`end` up to 4.9).
    pub area_end: usize,
    /// `Heap_Control.first_block` (`start` up to 4.9).
    pub first_block: usize,
    /// `Heap_Control.last_block` (`final` up to 4.9).
    pub last_block: usize,
    /// `stats.lifetime_allocated` (64 bits), 0 where there is none.
    pub lifetime_allocated: usize,
    /// `stats.lifetime_freed` (64 bits), 0 where there is none.
    pub lifetime_freed: usize,
    /// `stats.size`.
    pub stats_size: usize,
    /// `stats.free_size`: exact in every version.
    pub free_size: usize,
    /// `stats.min_free_size`.
    pub min_free_size: usize,
    /// `stats.free_blocks` (32 bits): exact in every version.
    pub free_blocks: usize,
    /// `stats.max_free_blocks` (32 bits).
    pub max_free_blocks: usize,
    /// `stats.used_blocks` (32 bits).
    pub used_blocks: usize,
    /// `stats.max_search` (32 bits).
    pub max_search: usize,
    /// `stats.searches` (32 bits).
    pub searches: usize,
    /// `stats.allocs` (32 bits). RTEMS 4.10 never counts it.
    pub allocs: usize,
    /// `stats.failed_allocs` (32 bits), 0 where there is none.
    pub failed_allocs: usize,
    /// `stats.frees` (32 bits).
    pub frees: usize,
    /// `stats.resizes` (32 bits).
    pub resizes: usize,
    /// `Protection`, the queue of delayed frees under HEAP_PROTECTION, 0 without.
    pub protection: usize,
    /// `sizeof(Heap_Control)`.
    pub control_bytes: usize,
}

/// Words that HEAP_PROTECTION puts in front of `size_and_flag`: two protectors, the queue's link, task, tag.
const PROTECTION_BEGIN_WORDS: usize = 5;
/// Words that it puts behind.
const PROTECTION_END_WORDS: usize = 2;
/// Words of `Heap_Protection`: three handlers, their argument, first, last, count, fraction.
const PROTECTION_CONTROL_WORDS: usize = 8;

/// Figures in [`Layout::facts`].
pub const FACTS: usize = 19;

const fn align_up(offset: usize, alignment: usize) -> usize {
    offset.div_ceil(alignment) * alignment
}

impl Layout {
    /// The layout for `word` bytes per word. `long_alignment` is that of a 64-bit integer in a struct: 8, but 4 on i386
    /// and 2 on m68k; it only matters under `protected` with 4-byte words.
    pub const fn new(family: Family, word: usize, long_alignment: usize, protected: bool) -> Self {
        let begin = if protected { PROTECTION_BEGIN_WORDS * word } else { 0 };
        let end = if protected { PROTECTION_END_WORDS * word } else { 0 };
        let size = word + begin;
        let header = size + word + end;
        let block_bytes = header + 2 * word;
        let stats = block_bytes + 6 * word;
        let long = if word > long_alignment { word } else { long_alignment };
        let lifetime = align_up(stats, long);
        let later = matches!(family, Family::V4_11);
        // Up to 4.10 the statistics start with the 32-bit number of the heap instance.
        let stats_size = if later { lifetime + 16 } else { stats + word };
        let free_blocks = stats_size + 3 * word;
        let counters = free_blocks + 16;
        let (searches, allocs) = if later { (counters, counters + 4) } else { (counters + 4, counters) };
        let frees = if later { counters + 12 } else { counters + 8 };
        let alignment = if later { long } else { word };
        let statistics_end = align_up(frees + 8, alignment);
        let controls = if protected { PROTECTION_CONTROL_WORDS * word } else { 0 };
        Self {
            family,
            word,
            header,
            size,
            next: header,
            prev: header + word,
            block_bytes,
            page_size: block_bytes,
            min_block_size: block_bytes + word,
            area_begin: block_bytes + 2 * word,
            area_end: block_bytes + 3 * word,
            first_block: block_bytes + 4 * word,
            last_block: block_bytes + 5 * word,
            lifetime_allocated: if later { lifetime } else { 0 },
            lifetime_freed: if later { lifetime + 8 } else { 0 },
            stats_size,
            free_size: stats_size + word,
            min_free_size: stats_size + 2 * word,
            free_blocks,
            max_free_blocks: free_blocks + 4,
            used_blocks: free_blocks + 8,
            max_search: free_blocks + 12,
            searches,
            allocs,
            failed_allocs: if later { counters + 8 } else { 0 },
            frees,
            resizes: frees + 4,
            protection: if protected { statistics_end } else { 0 },
            control_bytes: align_up(statistics_end + controls, alignment),
        }
    }

    /// The figures that a C compiler can confirm for the headers it sees: see `os/rtems/heap_access.c`.
    pub const fn facts(&self) -> [u32; FACTS] {
        [
            self.word as u32,
            self.header as u32,
            self.size as u32,
            self.next as u32,
            self.prev as u32,
            self.block_bytes as u32,
            self.page_size as u32,
            self.min_block_size as u32,
            self.area_begin as u32,
            self.area_end as u32,
            self.first_block as u32,
            self.last_block as u32,
            self.stats_size as u32,
            self.free_size as u32,
            self.min_free_size as u32,
            self.free_blocks as u32,
            self.used_blocks as u32,
            self.frees as u32,
            self.resizes as u32,
        ]
    }

    /// Bytes of the largest free block that a request for n bytes needs beyond n.
    ///
    /// A used block may claim the first word of its successor, so the header costs one word less than its size.
    pub const fn overhead(&self) -> usize {
        self.header - self.word
    }
}

/// One RTEMS version as a type, so that every offset is a constant in the compiled code.
pub trait Version: 'static {
    /// Its offsets.
    const LAYOUT: Layout;

    /// Cuts an address or size computed on this machine to the width of the heap's own words.
    #[inline(always)]
    fn wrap(value: usize) -> usize {
        if Self::LAYOUT.word < size_of::<usize>() { value & 0xffff_ffff } else { value }
    }
}

/// RTEMS 4.7 to 4.9 with 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtems4_7;
/// RTEMS 4.10 with words of `WORD` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtems4_10<const WORD: usize>;
/// RTEMS 4.11, 5, 6 and main with words of `WORD` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtems4_11<const WORD: usize>;
/// The same built with RTEMS_DEBUG, that is with HEAP_PROTECTION; `LONG` is the alignment of a 64-bit integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtems4_11Protected<const WORD: usize, const LONG: usize>;
/// The newest version on the machine that this is compiled for.
pub type Native = Rtems4_11<{ size_of::<usize>() }>;

/// The version whose heap this build follows: the newest one of this machine's word size, unless a feature says otherwise.
#[cfg(not(any(feature = "heap-4-7", feature = "heap-4-10", feature = "heap-protection")))]
pub type Configured = Native;
/// The version whose heap this build follows.
#[cfg(feature = "heap-4-7")]
pub type Configured = Rtems4_7;
/// The version whose heap this build follows.
#[cfg(all(feature = "heap-4-10", not(feature = "heap-4-7")))]
pub type Configured = Rtems4_10<{ size_of::<usize>() }>;
/// The version whose heap this build follows.
#[cfg(all(feature = "heap-protection", not(any(feature = "heap-4-7", feature = "heap-4-10"))))]
pub type Configured = Rtems4_11Protected<{ size_of::<usize>() }, { align_of::<u64>() }>;

impl Version for Rtems4_7 {
    const LAYOUT: Layout = Layout::new(Family::V4_7, 4, 8, false);
}
impl<const WORD: usize> Version for Rtems4_10<WORD> {
    const LAYOUT: Layout = Layout::new(Family::V4_10, WORD, 8, false);
}
impl<const WORD: usize> Version for Rtems4_11<WORD> {
    const LAYOUT: Layout = Layout::new(Family::V4_11, WORD, 8, false);
}
impl<const WORD: usize, const LONG: usize> Version for Rtems4_11Protected<WORD, LONG> {
    const LAYOUT: Layout = Layout::new(Family::V4_11, WORD, LONG, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// prev_size is at 0; (size, next, prev, sizeof block, page_size, min_block_size, begin, end, first, last,
    /// stats.size, free_size, free_blocks, used_blocks, searches, allocs, frees, resizes, sizeof control)
    fn figures(l: Layout) -> [usize; 19] {
        [
            l.size,
            l.next,
            l.prev,
            l.block_bytes,
            l.page_size,
            l.min_block_size,
            l.area_begin,
            l.area_end,
            l.first_block,
            l.last_block,
            l.stats_size,
            l.free_size,
            l.free_blocks,
            l.used_blocks,
            l.searches,
            l.allocs,
            l.frees,
            l.resizes,
            l.control_bytes,
        ]
    }

    #[test]
    fn offsets_equal_those_of_the_real_headers() {
        let narrow = [4, 8, 12, 16, 16, 20, 24, 28, 32, 36, 44, 48, 56, 64, 76, 72, 80, 84, 88];
        assert_eq!(figures(Rtems4_7::LAYOUT), narrow);
        assert_eq!(figures(Rtems4_10::<4>::LAYOUT), narrow);
        assert_eq!(
            figures(Rtems4_10::<8>::LAYOUT),
            [8, 16, 24, 32, 32, 40, 48, 56, 64, 72, 88, 96, 112, 120, 132, 128, 136, 140, 144]
        );
        assert_eq!(
            figures(Rtems4_11::<4>::LAYOUT),
            [4, 8, 12, 16, 16, 20, 24, 28, 32, 36, 56, 60, 68, 76, 84, 88, 96, 100, 104]
        );
        assert_eq!(
            figures(Rtems4_11::<8>::LAYOUT),
            [8, 16, 24, 32, 32, 40, 48, 56, 64, 72, 96, 104, 120, 128, 136, 140, 148, 152, 160]
        );
        assert_eq!(
            figures(Rtems4_11Protected::<4, 4>::LAYOUT),
            [24, 36, 40, 44, 44, 48, 52, 56, 60, 64, 84, 88, 96, 104, 112, 116, 124, 128, 164]
        );
        // PowerPC and ARM align 64-bit integers to 8.
        assert_eq!(
            figures(Rtems4_11Protected::<4, 8>::LAYOUT),
            [24, 36, 40, 44, 44, 48, 52, 56, 60, 64, 88, 92, 100, 108, 116, 120, 128, 132, 168]
        );
        assert_eq!(
            figures(Rtems4_11Protected::<8, 8>::LAYOUT),
            [48, 72, 80, 88, 88, 96, 104, 112, 120, 128, 152, 160, 176, 184, 192, 196, 204, 208, 280]
        );
        assert_eq!(Rtems4_11::<4>::LAYOUT.lifetime_allocated, 40);
        assert_eq!(Rtems4_11Protected::<8, 8>::LAYOUT.lifetime_freed, 144);
    }

    #[test]
    fn overhead_is_the_header_without_the_word_borrowed_from_the_next_block() {
        assert_eq!(Rtems4_7::LAYOUT.overhead(), 4);
        assert_eq!(Rtems4_11::<8>::LAYOUT.overhead(), 8);
        assert_eq!(Rtems4_11Protected::<4, 8>::LAYOUT.overhead(), 8 * 4);
    }
}
