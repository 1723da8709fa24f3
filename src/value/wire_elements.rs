// SPDX-License-Identifier: BSD-2-Clause
//! Elements as they travel.

use super::NativeType;

/// Plain elements in network byte order, as a put brings them.
#[derive(Clone, Copy, Debug)]
pub struct WireElements<'a> {
    /// Type of the elements.
    pub from: NativeType,
    /// Number of elements, checked against `bytes`.
    pub count: u32,
    /// The elements, big-endian. One string alone may be shorter than 40 bytes; several are 40 bytes each.
    pub bytes: &'a [u8],
}
