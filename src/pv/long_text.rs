// SPDX-License-Identifier: BSD-2-Clause
//! The value of lsi and lso: text of up to SIZV bytes, terminator included.

use super::OutOfMemory;
use super::array::Post;
use alloc::vec::Vec;

/// SIZV where a file gives none, as in EPICS.
const DEFAULT_SIZE: u16 = 41;
/// What EPICS makes of a smaller or larger SIZV.
const SIZES: core::ops::RangeInclusive<u16> = 16..=0x7fff;

/// Text with its terminator in a buffer of fixed size.
#[derive(Debug)]
pub(super) struct LongText {
    /// All SIZV bytes; NUL from the terminator on.
    bytes: Vec<u8>,
    /// LEN: bytes in use with the terminator; 0 for text that was never set.
    length: u32,
    /// MPST.
    pub(super) post_value: Post,
    /// APST.
    pub(super) post_log: Post,
}

impl LongText {
    /// Text that was never set, in the usual size.
    pub(super) fn new() -> Result<Self, OutOfMemory> {
        Self::with_size(DEFAULT_SIZE)
    }

    /// Text that was never set, of `size` bytes brought into the allowed range.
    pub(super) fn with_size(size: u16) -> Result<Self, OutOfMemory> {
        let size = usize::from(size.clamp(*SIZES.start(), *SIZES.end()));
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| OutOfMemory)?;
        bytes.resize(size, 0);
        Ok(LongText { bytes, length: 0, post_value: Post::OnChange, post_log: Post::OnChange })
    }

    /// SIZV.
    pub(super) fn size(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// LEN.
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    /// The characters with their terminator; nothing before the first put.
    pub(super) fn chars(&self) -> &[u8] {
        &self.bytes[..self.length as usize]
    }

    /// The characters alone.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..(self.length as usize).saturating_sub(1)]
    }

    /// Takes the bytes up to the first NUL, as many as fit before the terminator; tells whether the text is another one.
    pub(super) fn set(&mut self, text: &[u8]) -> bool {
        let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
        let kept = end.min(self.bytes.len() - 1);
        let length = kept as u32 + 1;
        let changed = length != self.length || self.bytes[..kept] != text[..kept];
        self.bytes[..kept].copy_from_slice(&text[..kept]);
        self.bytes[kept..].fill(0);
        self.length = length;
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_before_the_terminator() {
        let mut text = LongText::with_size(3).unwrap();
        assert_eq!((text.size(), text.chars()), (16, &[][..]));
        assert!(text.set(b"0123456789abcdefgh"));
        assert_eq!((text.as_bytes(), text.length()), (&b"0123456789abcde"[..], 16));
        assert!(text.set(b"x\0y") && !text.set(b"x"));
        assert_eq!(text.chars(), b"x\0");
        assert!(text.set(b"") && !text.set(b""));
        assert_eq!(text.chars(), b"\0");
    }
}
