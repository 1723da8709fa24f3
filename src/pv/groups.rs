// SPDX-License-Identifier: BSD-2-Clause
//! The names of access groups (ASG) that records have, each kept once: a record holds a number.

use alloc::vec::Vec;

/// The longest name of an access group, as in EPICS.
pub const MAX_GROUP: usize = 28;

/// Names by number; 0 is the empty name.
#[derive(Debug, Default)]
pub(super) struct Groups {
    names: Vec<([u8; MAX_GROUP], u8)>,
}

impl Groups {
    /// The name of a number.
    pub(super) fn name(&self, number: u8) -> &[u8] {
        match usize::from(number).checked_sub(1).and_then(|at| self.names.get(at)) {
            Some((name, length)) => &name[..usize::from(*length)],
            None => &[],
        }
    }

    /// All names but the empty one, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        (1..=self.names.len() as u8).map(|number| (number, self.name(number)))
    }

    /// The number of a name, which is kept if it is a new one. `None`: too long, too many, or no memory.
    pub(super) fn number(&mut self, name: &[u8]) -> Option<u8> {
        if name.is_empty() {
            return Some(0);
        }
        if let Some((number, _)) = self.iter().find(|(_, known)| *known == name) {
            return Some(number);
        }
        if name.len() > MAX_GROUP || self.names.len() >= usize::from(u8::MAX) {
            return None;
        }
        self.names.try_reserve(1).ok()?;
        let mut kept = [0; MAX_GROUP];
        kept[..name.len()].copy_from_slice(name);
        self.names.push((kept, name.len() as u8));
        Some(self.names.len() as u8)
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.names.capacity() * size_of::<([u8; MAX_GROUP], u8)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut groups = Groups::default();
        assert_eq!(groups.number(b""), Some(0));
        assert_eq!(
            (groups.number(b"ops"), groups.number(b"guests"), groups.number(b"ops")),
            (Some(1), Some(2), Some(1))
        );
        assert_eq!((groups.name(2), groups.name(9)), (&b"guests"[..], &b""[..]));
        assert_eq!(groups.number(&[b'x'; MAX_GROUP + 1]), None);
    }
}
