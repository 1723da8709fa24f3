// SPDX-License-Identifier: BSD-2-Clause
//! Where a message comes from.

use core::fmt;

/// IPv4 address and port of the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Peer {
    /// IPv4 address, host order: 127.0.0.1 is `0x7f00_0001`.
    pub address: u32,
    /// UDP or TCP port.
    pub port: u16,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.address.to_be_bytes();
        write!(f, "{a}.{b}.{c}.{d}:{}", self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_as_dotted_address_and_port() {
        extern crate std;
        assert_eq!(std::format!("{}", Peer { address: 0x7f00_0001, port: 5064 }), "127.0.0.1:5064");
    }
}
