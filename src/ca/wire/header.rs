// SPDX-License-Identifier: BSD-2-Clause
//! The message header, standard (16 bytes) and extended (24 bytes).
//!
//! ```text
//!  0      2        4      6       8       12      16        20
//!  command payload  type   count   p1      p2     [payload   count ]   big-endian
//!          0xffff          0                       extended only
//! ```

/// Where the fields are.
mod field {
    use core::ops::Range;
    pub const COMMAND: Range<usize> = 0..2;
    pub const PAYLOAD: Range<usize> = 2..4;
    pub const DATA_TYPE: Range<usize> = 4..6;
    pub const COUNT: Range<usize> = 6..8;
    pub const P1: Range<usize> = 8..12;
    pub const P2: Range<usize> = 12..16;
    pub const LONG_PAYLOAD: Range<usize> = 16..20;
    pub const LONG_COUNT: Range<usize> = 20..24;
}

/// This payload size announces an extended header.
const EXTENDED: u16 = 0xffff;
/// A count or payload from here on needs an extended header.
const FIRST_LONG: u32 = 0xffff;

/// One message header as plain values. `p1` and `p2` are the "cid" and "available" of the specification; what they
/// carry depends on the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Command code.
    pub command: u16,
    /// Data type, or what the command makes of the field.
    pub data_type: u16,
    /// Bytes that follow the header.
    pub payload: u32,
    /// Element count, or what the command makes of the field.
    pub count: u32,
    /// First parameter.
    pub p1: u32,
    /// Second parameter.
    pub p2: u32,
}

/// More bytes are needed before the header can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need;

impl Header {
    /// Bytes of a standard header.
    pub const STANDARD: usize = 16;
    /// Bytes of an extended header.
    pub const LONG: usize = 24;

    /// A header of this command, all else zero.
    #[inline]
    pub const fn new(command: u16) -> Header {
        Header { command, data_type: 0, payload: 0, count: 0, p1: 0, p2: 0 }
    }

    /// The same with data type and count.
    #[inline]
    #[must_use]
    pub const fn typed(self, data_type: u16, count: u32) -> Header {
        Header { data_type, count, ..self }
    }

    /// The same with both parameters.
    #[inline]
    #[must_use]
    pub const fn ids(self, p1: u32, p2: u32) -> Header {
        Header { p1, p2, ..self }
    }

    /// The same with a payload of so many bytes.
    #[inline]
    #[must_use]
    pub const fn with_payload(self, payload: u32) -> Header {
        Header { payload, ..self }
    }

    /// Reads the header at the start of `bytes` and says how long it is (16 or 24). An extended header is one whose
    /// payload size is 0xffff whatever its count says, as EPICS's own server has it; only with `long` allowed, for
    /// clients since V4.9.
    #[inline]
    pub fn parse(bytes: &[u8], long: bool) -> Result<(Header, usize), Need> {
        let Some(b) = bytes.first_chunk::<{ Self::STANDARD }>() else { return Err(Need) };
        let mut header = Header {
            command: u16::from_be_bytes([b[0], b[1]]),
            payload: u32::from(u16::from_be_bytes([b[2], b[3]])),
            data_type: u16::from_be_bytes([b[4], b[5]]),
            count: u32::from(u16::from_be_bytes([b[6], b[7]])),
            p1: u32::from_be_bytes([b[8], b[9], b[10], b[11]]),
            p2: u32::from_be_bytes([b[12], b[13], b[14], b[15]]),
        };
        if header.payload != u32::from(EXTENDED) || !long {
            return Ok((header, Self::STANDARD));
        }
        let Some(b) = bytes.first_chunk::<{ Self::LONG }>() else { return Err(Need) };
        header.payload = u32::from_be_bytes([b[16], b[17], b[18], b[19]]);
        header.count = u32::from_be_bytes([b[20], b[21], b[22], b[23]]);
        Ok((header, Self::LONG))
    }

    /// How long this header is on the wire.
    #[inline]
    pub const fn wire_size(&self) -> usize {
        if self.payload >= FIRST_LONG || self.count >= FIRST_LONG { Self::LONG } else { Self::STANDARD }
    }

    /// The standard form; what is too long for it is cut off.
    #[inline]
    pub fn standard(&self) -> [u8; Self::STANDARD] {
        let mut bytes = [0; Self::STANDARD];
        bytes[field::COMMAND].copy_from_slice(&self.command.to_be_bytes());
        bytes[field::PAYLOAD].copy_from_slice(&(self.payload as u16).to_be_bytes());
        bytes[field::DATA_TYPE].copy_from_slice(&self.data_type.to_be_bytes());
        bytes[field::COUNT].copy_from_slice(&(self.count as u16).to_be_bytes());
        bytes[field::P1].copy_from_slice(&self.p1.to_be_bytes());
        bytes[field::P2].copy_from_slice(&self.p2.to_be_bytes());
        bytes
    }

    /// Writes it to the start of `out`, which must hold [`Self::wire_size`] bytes; a shorter `out` is left alone.
    #[inline]
    pub fn emit(&self, out: &mut [u8]) {
        if self.wire_size() == Self::STANDARD {
            if let Some(place) = out.first_chunk_mut::<{ Self::STANDARD }>() {
                *place = self.standard();
            }
        } else if let Some(place) = out.first_chunk_mut::<{ Self::LONG }>() {
            let short = Header { payload: u32::from(EXTENDED), count: 0, ..*self };
            place[..Self::STANDARD].copy_from_slice(&short.standard());
            place[field::LONG_PAYLOAD].copy_from_slice(&self.payload.to_be_bytes());
            place[field::LONG_COUNT].copy_from_slice(&self.count.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ_NOTIFY: [u8; 16] = [0, 15, 0, 0, 0, 6, 0, 1, 0, 0, 0, 9, 0, 0, 1, 2];

    #[test]
    fn standard_header_both_ways() {
        let (header, size) = Header::parse(&READ_NOTIFY, true).unwrap();
        assert_eq!(size, 16);
        assert_eq!(header, Header::new(15).typed(6, 1).ids(9, 0x102));
        let mut out = [0xaa; 16];
        header.emit(&mut out);
        assert_eq!(out, READ_NOTIFY);
    }

    #[test]
    fn extended_header_both_ways() {
        let bytes = [
            0, 15, 0xff, 0xff, 0, 6, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, // standard part
            0, 1, 0x38, 0x80, 0, 0, 0x27, 0x10, // 80 000 bytes, 10 000 elements
        ];
        let (header, size) = Header::parse(&bytes, true).unwrap();
        assert_eq!(size, 24);
        assert_eq!(header, Header::new(15).typed(6, 10_000).ids(1, 2).with_payload(80_000));
        let mut out = [0; 24];
        header.emit(&mut out);
        assert_eq!(out, bytes);
    }

    #[test]
    fn extended_header_around_a_small_payload_is_accepted() {
        let bytes = [0, 4, 0xff, 0xff, 0, 6, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 1];
        let (header, size) = Header::parse(&bytes, true).unwrap();
        assert_eq!((header.payload, header.count, size), (8, 1, 24));
    }

    #[test]
    fn before_v4_9_there_is_no_extended_header() {
        let mut bytes = READ_NOTIFY;
        bytes[2..4].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(Header::parse(&bytes, false).unwrap().0.payload, 0xffff);
        assert_eq!(Header::parse(&bytes, true), Err(Need));
    }

    #[test]
    fn a_large_count_alone_makes_it_extended() {
        let header = Header::new(18).typed(6, 0x1_0000);
        assert_eq!(header.wire_size(), 24);
        let mut out = [0; 24];
        header.emit(&mut out);
        assert_eq!(out[2..8], [0xff, 0xff, 0, 6, 0, 0]);
        assert_eq!(out[16..], [0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn needs_the_whole_header() {
        for n in 0..16 {
            assert_eq!(Header::parse(&READ_NOTIFY[..n], true), Err(Need));
        }
    }
}
