// SPDX-License-Identifier: BSD-2-Clause
//! The channels' names, made when they are needed: a table of them would take 128 bytes each.

/// Bytes of a name at most.
const LONGEST: usize = 127;
/// Bytes that are kept of a name to which a number is appended.
const LONGEST_BASE: usize = 112;
/// Digits of the number at least.
const DIGITS: u32 = 6;

/// How the channels of one run are called.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    base: &'a [u8],
    append: bool,
}

impl<'a> Names<'a> {
    /// All alike, or numbered.
    pub fn new(name: &'a str, append: bool) -> Names<'a> {
        let most = if append { LONGEST_BASE } else { LONGEST };
        let name = name.as_bytes();
        Names { base: &name[..name.len().min(most)], append }
    }

    /// The name of a channel, in `buffer`.
    pub fn get<'b>(&self, channel: u32, buffer: &'b mut NameBuffer) -> &'b [u8] {
        let base = self.base.len();
        buffer.0[..base].copy_from_slice(self.base);
        let mut end = base;
        if self.append {
            end += digits(channel) as usize;
            let mut rest = channel;
            for digit in buffer.0[base..end].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        }
        &buffer.0[..end]
    }

    /// Bytes of a channel's name.
    pub fn len(&self, channel: u32) -> usize {
        self.base.len() + if self.append { digits(channel) as usize } else { 0 }
    }
}

fn digits(number: u32) -> u32 {
    number.checked_ilog10().map_or(1, |log| log + 1).max(DIGITS)
}

/// Room for one name.
#[derive(Clone, Debug)]
pub struct NameBuffer([u8; 128]);

impl Default for NameBuffer {
    fn default() -> NameBuffer {
        NameBuffer([0; 128])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn name(base: &str, append: bool, channel: u32) -> String {
        let names = Names::new(base, append);
        let mut buffer = NameBuffer::default();
        let name = names.get(channel, &mut buffer);
        assert_eq!(name.len(), names.len(channel));
        String::from_utf8(name.to_vec()).unwrap()
    }

    #[test]
    fn names_are_those_of_the_original() {
        assert_eq!(name("jba", false, 7), "jba");
        assert_eq!(name("jba", true, 0), "jba000000");
        assert_eq!(name("jba", true, 9_999), "jba009999");
        assert_eq!(name("jba", true, u32::MAX), "jba4294967295");
        let long = "x".repeat(300);
        assert_eq!(name(&long, false, 1).len(), 127);
        assert_eq!(name(&long, true, 1), "x".repeat(112) + "000001");
    }
}
