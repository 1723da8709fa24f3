// SPDX-License-Identifier: BSD-2-Clause
//! Status codes (`ECA_*`): message number times 8 plus severity.

/// Normal successful completion.
pub const NORMAL: u32 = 0x001;
/// Unable to allocate memory.
pub const ALLOCMEM: u32 = 0x030;
/// The requested data transfer is larger than the limit.
pub const TOLARGE: u32 = 0x048;
/// The data type is not valid.
pub const BADTYPE: u32 = 0x072;
/// Channel Access internal failure: what the protocol has for a damaged request.
pub const INTERNAL: u32 = 0x08e;
/// The read failed.
pub const GETFAIL: u32 = 0x098;
/// The write failed.
pub const PUTFAIL: u32 = 0x0a0;
/// The element count is not valid.
pub const BADCOUNT: u32 = 0x0b0;
/// No such subscription.
pub const BADMONID: u32 = 0x0f2;
/// The event mask is not valid.
pub const BADMASK: u32 = 0x14a;
/// A put-callback is still in progress.
pub const PUTCBINPROG: u32 = 0x16a;
/// Read access denied.
pub const NORDACCESS: u32 = 0x170;
/// Write access denied.
pub const NOWTACCESS: u32 = 0x178;
/// No such channel.
pub const BADCHID: u32 = 0x19a;
/// The client is too old for an array of more than 16 kB.
pub const ARRAY_16K_CLIENT: u32 = 0x1d0;
