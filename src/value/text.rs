// SPDX-License-Identifier: BSD-2-Clause
//! The 40-byte string of Channel Access.

/// A string of at most 39 bytes, NUL-terminated and NUL-padded to 40, as it travels.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Text([u8; 40]);

impl Text {
    /// Bytes on the wire, terminator included.
    pub const SIZE: usize = 40;
    /// The empty string.
    pub const EMPTY: Text = Text([0; 40]);

    /// Takes the bytes up to the first NUL, at most 39; returns the text and whether it fitted whole.
    pub fn truncated(bytes: &[u8]) -> (Text, bool) {
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        let kept = end.min(Self::SIZE - 1);
        let mut text = Self::EMPTY;
        text.0[..kept].copy_from_slice(&bytes[..kept]);
        (text, kept == end)
    }

    /// What `fill` writes into 40 zero bytes; the last one stays the terminator.
    pub fn written(fill: impl FnOnce(&mut [u8; 40])) -> Text {
        let mut text = Self::EMPTY;
        fill(&mut text.0);
        text.0[Self::SIZE - 1] = 0;
        text
    }

    /// The bytes before the terminator.
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&b| b == 0).unwrap_or(Self::SIZE - 1);
        &self.0[..end]
    }

    /// All 40 bytes.
    pub const fn wire(&self) -> &[u8; 40] {
        &self.0
    }
}

impl From<&str> for Text {
    /// Cuts at 39 bytes.
    fn from(text: &str) -> Self {
        Self::truncated(text.as_bytes()).0
    }
}

impl core::fmt::Debug for Text {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "\"{}\"", self.as_bytes().escape_ascii())
    }
}
