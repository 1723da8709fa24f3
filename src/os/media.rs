// SPDX-License-Identifier: BSD-2-Clause
//! What was negotiated on the cable of an interface: speed and duplex, as far as its driver tells.

use core::fmt;

/// What the driver of an interface says of its cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// It does not tell: many drivers cannot, and a virtual interface has no cable.
    Untold,
    /// Nothing at the other end.
    NoLink,
    /// A link.
    Link {
        /// Megabits per second; 0 if only the rest is known.
        megabits: u32,
        /// Both ends may send at once; `None` if it is not told.
        full_duplex: Option<bool>,
        /// Negotiated with the other end, not set by hand; `None` if it is not told.
        negotiated: Option<bool>,
    },
}

impl fmt::Display for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (megabits, full_duplex, negotiated) = match *self {
            Media::Untold => return f.write_str("the driver does not tell"),
            Media::NoLink => return f.write_str("no link"),
            Media::Link { megabits, full_duplex, negotiated } => (megabits, full_duplex, negotiated),
        };
        match megabits {
            0 => f.write_str("unknown speed")?,
            megabits => write!(f, "{megabits} Mbit/s")?,
        }
        f.write_str(match full_duplex {
            Some(true) => ", full duplex",
            Some(false) => ", half duplex",
            None => ", unknown duplex",
        })?;
        f.write_str(match negotiated {
            Some(true) => ", negotiated",
            Some(false) => ", set by hand",
            None => "",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn what_is_not_told_is_not_made_up() {
        let link = |megabits, full_duplex, negotiated| {
            format!("{}", Media::Link { megabits, full_duplex, negotiated })
        };
        assert_eq!(link(100, Some(false), Some(false)), "100 Mbit/s, half duplex, set by hand");
        assert_eq!(link(1000, Some(true), Some(true)), "1000 Mbit/s, full duplex, negotiated");
        assert_eq!(link(0, None, None), "unknown speed, unknown duplex");
        assert_eq!(format!("{}", Media::Untold), "the driver does not tell");
        assert_eq!(format!("{}", Media::NoLink), "no link");
    }
}
