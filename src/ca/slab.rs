// SPDX-License-Identifier: BSD-2-Clause
//! A slab in small chunks: an index finds its entry with two array look-ups, entries never move.
//!
//! ```text
//!  chunks ─┬─ chunk 0: [ entry | entry | vacant ─┐ | entry ...64 ]   open ──> chunks with a vacancy, a list
//!          ├─ chunk 1: [ ...              <──────┘ ]
//!          └─ chunk 2: hollow (its memory given back, its index kept)
//! ```
//!
//! Growing never copies: a board's heap is not asked for one large block, and never for two at a time. A chunk that
//! has become empty is given back at once.

use alloc::vec::Vec;

/// "No entry" in every list of indices.
pub(super) const NONE: u32 = u32::MAX;

/// Entries of one chunk.
const CHUNK: usize = 64;

/// What a vector of so many elements grows to when it is full.
pub(super) const fn doubled(length: usize) -> usize {
    if length < 4 { 4 } else { 2 * length }
}

/// No memory for another entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoMemory;

enum Entry<T> {
    /// Free; the next free entry of the same chunk, or `END`.
    Vacant(u16),
    Occupied(T),
}

/// End of a chunk's list of vacant entries.
const END: u16 = u16::MAX;

struct Chunk<T> {
    /// At most `CHUNK` entries; filled from the front, so that a fresh chunk needs no list. No capacity: hollow.
    entries: Vec<Entry<T>>,
    /// Number of occupied entries.
    live: u16,
    /// First vacant entry.
    vacant: u16,
    /// Neighbours in the list of chunks with a vacancy; meaningless while full or hollow.
    next_open: u32,
    prev_open: u32,
}

impl<T> Chunk<T> {
    const HOLLOW: Self =
        Chunk { entries: Vec::new(), live: 0, vacant: END, next_open: NONE, prev_open: NONE };
}

/// See the module's description.
pub(super) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// First chunk with a vacancy.
    open: u32,
    /// Number of hollow chunks.
    hollow: u32,
    /// Number of occupied entries.
    live: u32,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Slab { chunks: Vec::new(), open: NONE, hollow: 0, live: 0 }
    }

    /// Number of entries.
    pub(super) const fn len(&self) -> u32 {
        self.live
    }

    /// Bytes that one more entry may ask of the heap: a chunk, and a longer list of them.
    pub(super) const fn growth(&self) -> usize {
        let chunks = if self.chunks.len() == self.chunks.capacity() { doubled(self.chunks.len()) } else { 0 };
        CHUNK * size_of::<Entry<T>>() + chunks * size_of::<Chunk<T>>()
    }

    /// Bytes of one entry.
    pub(super) const fn entry_size() -> usize {
        size_of::<Entry<T>>()
    }

    /// Bytes of heap in use.
    pub(super) fn heap_bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<Chunk<T>>()
            + self.chunks.iter().map(|c| c.entries.capacity() * size_of::<Entry<T>>()).sum::<usize>()
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        let index = index as usize;
        match self.chunks.get(index / CHUNK)?.entries.get(index % CHUNK)? {
            Entry::Occupied(value) => Some(value),
            Entry::Vacant(_) => None,
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        let index = index as usize;
        match self.chunks.get_mut(index / CHUNK)?.entries.get_mut(index % CHUNK)? {
            Entry::Occupied(value) => Some(value),
            Entry::Vacant(_) => None,
        }
    }

    /// Upper bound of the indices in use.
    pub(super) fn bound(&self) -> u32 {
        (self.chunks.len() * CHUNK) as u32
    }

    /// Puts `value` in; its index stays valid until it is removed.
    pub(super) fn insert(&mut self, value: T) -> Result<u32, NoMemory> {
        if self.open == NONE {
            self.add_chunk()?;
        }
        let at = self.open;
        let chunk = self.chunks.get_mut(at as usize).ok_or(NoMemory)?;
        let entry = chunk.vacant;
        let entry = if entry == END {
            chunk.entries.push(Entry::Occupied(value)); // within the capacity reserved by add_chunk
            chunk.entries.len() - 1
        } else {
            let slot = chunk.entries.get_mut(usize::from(entry)).ok_or(NoMemory)?;
            if let Entry::Vacant(next) = *slot {
                chunk.vacant = next;
            }
            *slot = Entry::Occupied(value);
            usize::from(entry)
        };
        chunk.live += 1;
        let full = chunk.vacant == END && chunk.entries.len() == CHUNK;
        self.live += 1;
        if full {
            self.close(at);
        }
        Ok((at as usize * CHUNK + entry) as u32)
    }

    /// Takes the value out.
    pub(super) fn remove(&mut self, index: u32) -> Option<T> {
        let at = index as usize / CHUNK;
        let entry = index as usize % CHUNK;
        let chunk = self.chunks.get_mut(at)?;
        let slot = chunk.entries.get_mut(entry)?;
        if matches!(slot, Entry::Vacant(_)) {
            return None;
        }
        let was_full = usize::from(chunk.live) == CHUNK;
        let Entry::Occupied(value) = core::mem::replace(slot, Entry::Vacant(chunk.vacant)) else {
            return None;
        };
        chunk.vacant = entry as u16;
        chunk.live -= 1;
        self.live -= 1;
        let empty = chunk.live == 0;
        match (was_full, empty) {
            (true, false) => self.open_first(at as u32),
            (false, true) => {
                self.close(at as u32);
                self.hollow_out(at);
            }
            (true, true) => self.hollow_out(at),
            (false, false) => {}
        }
        Some(value)
    }

    fn add_chunk(&mut self) -> Result<(), NoMemory> {
        let at = if self.hollow > 0 {
            self.chunks.iter().position(|c| c.entries.capacity() == 0).ok_or(NoMemory)?
        } else {
            self.chunks.try_reserve(1).map_err(|_| NoMemory)?;
            self.chunks.push(Chunk::HOLLOW);
            self.hollow += 1;
            self.chunks.len() - 1
        };
        let chunk = self.chunks.get_mut(at).ok_or(NoMemory)?;
        chunk.entries.try_reserve_exact(CHUNK).map_err(|_| NoMemory)?;
        self.hollow -= 1;
        self.open_first(at as u32);
        Ok(())
    }

    /// Gives an empty chunk's memory back, and forgets hollow chunks at the end.
    fn hollow_out(&mut self, at: usize) {
        if let Some(chunk) = self.chunks.get_mut(at) {
            *chunk = Chunk::HOLLOW;
            self.hollow += 1;
        }
        while self.chunks.last().is_some_and(|c| c.entries.capacity() == 0) {
            self.chunks.pop();
            self.hollow -= 1;
        }
        if self.chunks.is_empty() {
            self.chunks = Vec::new();
        }
    }

    fn open_first(&mut self, at: u32) {
        let next = self.open;
        if let Some(chunk) = self.chunks.get_mut(at as usize) {
            chunk.next_open = next;
            chunk.prev_open = NONE;
        }
        if let Some(chunk) = self.chunks.get_mut(next as usize) {
            chunk.prev_open = at;
        }
        self.open = at;
    }

    fn close(&mut self, at: u32) {
        let Some(chunk) = self.chunks.get(at as usize) else { return };
        let (next, prev) = (chunk.next_open, chunk.prev_open);
        if let Some(chunk) = self.chunks.get_mut(next as usize) {
            chunk.prev_open = prev;
        }
        match self.chunks.get_mut(prev as usize) {
            Some(chunk) => chunk.next_open = next,
            None => self.open = next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn behaves_as_a_map(operations in prop::collection::vec((any::<bool>(), any::<u16>()), 0..1500)) {
            let mut slab = Slab::new();
            let mut model = HashMap::new();
            let mut keys = std::vec::Vec::new();
            for (add, number) in operations {
                if add || keys.is_empty() {
                    let key = slab.insert(number).unwrap();
                    prop_assert!(model.insert(key, number).is_none(), "an index in use was handed out");
                    keys.push(key);
                } else {
                    let key = keys.swap_remove(usize::from(number) % keys.len());
                    prop_assert_eq!(slab.remove(key), model.remove(&key));
                    prop_assert_eq!(slab.remove(key), None);
                }
                prop_assert_eq!(slab.len() as usize, model.len());
            }
            for (&key, value) in &model {
                prop_assert_eq!(slab.get(key), Some(value));
            }
            for key in keys {
                slab.remove(key);
            }
            prop_assert_eq!(slab.heap_bytes(), 0);
        }
    }

    #[test]
    fn gives_empty_chunks_back_and_uses_their_indices_again() {
        let mut slab = Slab::new();
        for n in 0..640u32 {
            assert_eq!(slab.insert(n), Ok(n));
        }
        let full = slab.heap_bytes();
        for n in 64..128 {
            slab.remove(n);
        }
        assert!(slab.heap_bytes() < full);
        assert!((64..128).contains(&slab.insert(7).unwrap()));
        assert_eq!(slab.get(u32::MAX), None);
    }
}
