// SPDX-License-Identifier: BSD-2-Clause
//! How the heap's words are read: the one seam between the tracker and real memory.
//!
//! Addresses are those of the heap's own machine. On a board that is this machine and the implementation is in `os/`; in
//! tests a [`SliceMemory`] plays a machine of either word size and byte order.

/// Reads words of the machine whose heap is looked at.
///
/// Implementations never panic: an address outside of the memory reads as 0, or is excluded by the contract under which
/// the implementation was constructed.
pub trait Memory {
    /// Bytes in a native word (4 or 8): the width of `uintptr_t`.
    const WORD: usize;

    /// The native word at `address`, zero-extended.
    fn word(&self, address: usize) -> usize;

    /// The 32-bit number at `address` (the heap's counters are `uint32_t` in every version).
    fn count(&self, address: usize) -> u32;
}

/// Writes words as well: what the model of the heap needs.
pub trait MemoryMut: Memory {
    /// Which half of a 64-bit number comes first.
    const BIG_ENDIAN: bool;

    /// Stores the low [`Memory::WORD`] bytes of `value` at `address`.
    fn set_word(&mut self, address: usize, value: usize);

    /// Stores a 32-bit number.
    fn set_count(&mut self, address: usize, value: u32);
}

/// A byte slice as the memory of a machine with words of `WORD` bytes, big-endian if `BIG`.
pub struct SliceMemory<'a, const WORD: usize, const BIG: bool> {
    base: usize,
    bytes: &'a mut [u8],
}

impl<'a, const WORD: usize, const BIG: bool> SliceMemory<'a, WORD, BIG> {
    /// Memory whose first byte has the address `base`.
    pub fn new(base: usize, bytes: &'a mut [u8]) -> Self {
        const { assert!(WORD == 4 || WORD == 8) };
        Self { base, bytes }
    }

    fn array<const N: usize>(&self, address: usize) -> [u8; N] {
        let start = address.wrapping_sub(self.base);
        let place = self.bytes.get(start..start.wrapping_add(N));
        place.and_then(|bytes| bytes.first_chunk()).copied().unwrap_or([0; N])
    }

    fn set_array<const N: usize>(&mut self, address: usize, value: [u8; N]) {
        let start = address.wrapping_sub(self.base);
        if let Some(place) = self.bytes.get_mut(start..start.wrapping_add(N)) {
            place.copy_from_slice(&value);
        }
    }
}

impl<const WORD: usize, const BIG: bool> Memory for SliceMemory<'_, WORD, BIG> {
    const WORD: usize = WORD;

    #[inline]
    fn word(&self, address: usize) -> usize {
        if WORD == 4 {
            self.count(address) as usize
        } else if BIG {
            u64::from_be_bytes(self.array(address)) as usize
        } else {
            u64::from_le_bytes(self.array(address)) as usize
        }
    }

    #[inline]
    fn count(&self, address: usize) -> u32 {
        if BIG { u32::from_be_bytes(self.array(address)) } else { u32::from_le_bytes(self.array(address)) }
    }
}

impl<const WORD: usize, const BIG: bool> MemoryMut for SliceMemory<'_, WORD, BIG> {
    const BIG_ENDIAN: bool = BIG;

    #[inline]
    fn set_word(&mut self, address: usize, value: usize) {
        if WORD == 4 {
            self.set_count(address, value as u32);
        } else if BIG {
            self.set_array(address, (value as u64).to_be_bytes());
        } else {
            self.set_array(address, (value as u64).to_le_bytes());
        }
    }

    #[inline]
    fn set_count(&mut self, address: usize, value: u32) {
        self.set_array(address, if BIG { value.to_be_bytes() } else { value.to_le_bytes() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_both_sizes_and_byte_orders() {
        let mut bytes = [0u8; 16];
        let mut little = SliceMemory::<4, false>::new(0x100, &mut bytes);
        little.set_word(0x104, 0x1234_5678);
        assert_eq!(little.word(0x104), 0x1234_5678);
        assert_eq!(&bytes[4..8], [0x78, 0x56, 0x34, 0x12]);
        let mut big = SliceMemory::<4, true>::new(0x100, &mut bytes);
        big.set_word(0x104, 0x1234_5678);
        assert_eq!(&bytes[4..8], [0x12, 0x34, 0x56, 0x78]);
        let mut wide = SliceMemory::<8, true>::new(0x100, &mut bytes);
        wide.set_word(0x108, 0x0102);
        assert_eq!((wide.word(0x108), wide.count(0x10c)), (0x0102, 0x0102));
    }

    #[test]
    fn an_address_outside_reads_as_zero_and_stores_nothing() {
        let mut bytes = [0xffu8; 8];
        let mut memory = SliceMemory::<8, false>::new(0x100, &mut bytes);
        memory.set_word(0x104, 0);
        memory.set_word(0, 0);
        assert_eq!((memory.word(0x101), memory.word(0xff), memory.word(usize::MAX)), (0, 0, 0));
        assert_eq!(bytes, [0xff; 8]);
    }
}
