// SPDX-License-Identifier: BSD-2-Clause
//! Size-class index: how many free blocks there are per class, and which class is the highest with any.
//!
//! A class is a power of two divided by 32, so its blocks differ by at most 1/32 (3.1 %) in size. Two levels of bitmaps
//! lead to the highest occupied class in two steps:
//!
//! ```text
//! rows     [bit per power of two]          sizes below 32 have row 0, one class per byte
//! columns  [32 bits per row]               size = 1 lllll xxxxx...   l = column, row = position of the leading 1
//! counts   [blocks per class]
//! ```

/// Rows: sizes below 32, then one per power of two up to the whole address space.
const ROWS: usize = usize::BITS as usize - 4;
/// Classes: 32 columns per row.
const CLASSES: usize = ROWS * 32;

/// Counts of free blocks by size class. All-zero is the empty index, so a static one lies in `.bss`.
#[derive(Clone, PartialEq, Eq)]
pub struct Index {
    /// Bit r is set iff `columns[r]` is not 0.
    rows: usize,
    /// Bit c of word r is set iff `counts[32 r + c]` is not 0.
    columns: [u32; ROWS],
    /// Free blocks of each class.
    counts: [u32; CLASSES],
}

impl Index {
    /// An index of no blocks.
    pub const fn new() -> Self {
        Self { rows: 0, columns: [0; ROWS], counts: [0; CLASSES] }
    }

    /// The class of a block of `size` bytes. Monotonic; every `usize` has one, RTEMS's under-sized blocks included.
    #[inline(always)]
    pub const fn class_of(size: usize) -> usize {
        let shift = (size | 32).ilog2() as usize - 5;
        // The mask changes nothing; it shows the compiler that a class is below CLASSES.
        (shift << 5) + ((size >> shift) & 63)
    }

    /// The smallest size in `class`.
    #[inline(always)]
    pub const fn lower_bound(class: usize) -> usize {
        let row = class >> 5;
        if row == 0 { class } else { ((class & 31) | 32) << ((row - 1) & (usize::BITS as usize - 1)) }
    }

    /// Sizes in `class`, in bytes: the uncertainty of its lower bound.
    pub const fn width(class: usize) -> usize {
        let row = class >> 5;
        if row == 0 { 1 } else { 1 << ((row - 1) & (usize::BITS as usize - 1)) }
    }

    /// Counts a new free block of a class.
    #[inline(always)]
    pub fn add(&mut self, class: usize) {
        let Some(count) = self.counts.get_mut(class) else { return };
        let before = *count;
        *count = before.wrapping_add(1);
        if before == 0 {
            self.occupied(class);
        }
    }

    /// Forgets a free block. A class that has none is left alone: the totals then tell that something was missed.
    #[inline(always)]
    pub fn remove(&mut self, class: usize) {
        let Some(count) = self.counts.get_mut(class) else { return };
        let before = *count;
        if before > 1 {
            *count = before - 1;
        } else if before == 1 {
            *count = 0;
            self.emptied(class);
        }
    }

    #[inline(always)]
    fn occupied(&mut self, class: usize) {
        let row = class >> 5;
        if let Some(columns) = self.columns.get_mut(row) {
            *columns |= 1 << (class & 31);
        }
        self.rows |= 1 << row;
    }

    #[inline(always)]
    fn emptied(&mut self, class: usize) {
        let row = class >> 5;
        if let Some(columns) = self.columns.get_mut(row) {
            *columns &= !(1 << (class & 31));
            if *columns == 0 {
                self.rows &= !(1 << row);
            }
        }
    }

    /// The highest class with a block in it.
    #[inline(always)]
    pub fn top(&self) -> Option<usize> {
        let row = self.rows.checked_ilog2()? as usize;
        let column = self.columns.get(row)?.checked_ilog2()? as usize;
        Some((row << 5) | column)
    }

    /// Free blocks in `class`.
    #[inline(always)]
    pub fn count(&self, class: usize) -> u32 {
        self.counts.get(class).copied().unwrap_or(0)
    }

    /// Forgets all blocks.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.columns.fill(0);
        self.counts.fill(0);
    }
}

impl Default for Index {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn classes_cover_every_size_without_a_gap() {
        let mut sizes: [usize; 6] = [0, 1, 31, 32, 63, 64];
        sizes.sort();
        for pair in sizes.windows(2) {
            assert!(Index::class_of(pair[0]) <= Index::class_of(pair[1]));
        }
        assert_eq!(Index::class_of(usize::MAX), CLASSES - 1);
        for class in 1..CLASSES {
            let lower = Index::lower_bound(class);
            assert_eq!(Index::class_of(lower), class);
            assert_eq!(Index::class_of(lower - 1), class - 1);
            assert_eq!(Index::class_of(lower + (Index::width(class) - 1)), class);
        }
    }

    proptest! {
        // Miri has no current directory to keep failures in, and all the time in the world.
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 4 } else { 256 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_class_is_at_most_one_part_in_32_wide(size in 32usize..) {
            let lower = Index::lower_bound(Index::class_of(size));
            prop_assert!(lower <= size && size - lower < size / 32 + 1);
        }

        #[test]
        fn top_is_the_class_of_the_largest(sizes in prop::collection::vec(1usize..1 << 26, 1..40)) {
            let mut index = Index::new();
            for size in &sizes {
                index.add(Index::class_of(*size));
            }
            let mut left = sizes.clone();
            while let Some(largest) = left.iter().copied().max() {
                prop_assert_eq!(index.top(), Some(Index::class_of(largest)));
                index.remove(Index::class_of(largest));
                left.remove(left.iter().position(|s| *s == largest).expect("it was found above"));
            }
            prop_assert!(index.top().is_none() && index == Index::new());
        }
    }

    #[test]
    fn removing_what_was_never_added_changes_nothing() {
        let mut index = Index::new();
        index.add(Index::class_of(100));
        let before = index.clone();
        index.remove(Index::class_of(4096));
        assert!(index == before);
    }
}
