// SPDX-License-Identifier: BSD-2-Clause
//! Numbers as text, digit for digit as EPICS's `cvtDoubleToString` and its relatives write them.
//!
//! Up to 10 million and 8 decimals EPICS rounds half up in integer arithmetic; beyond that it falls back to `printf`.
//! The common path needs no formatting machinery and little stack; only the exponent form uses `core::fmt`.

use core::fmt::Write;

/// Up to here the fast integer method applies.
const FAST_LIMIT: f64 = 1e7;
/// Powers of ten by number of decimals, up to the fast method's 8.
const POWERS: [i32; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// A double with `precision` decimals into all of `out`, NUL-padded.
pub fn double(value: f64, precision: u16, out: &mut [u8; 40]) {
    let mut text = Cursor::new(out);
    if value.is_nan() || precision > 8 || !(-FAST_LIMIT..=FAST_LIMIT).contains(&value) {
        if precision > 8 || value.abs() > 1e16 {
            exponent(value, precision.min(17), precision.min(17) as usize + 7, &mut text);
        } else {
            fixed(value, precision.min(3), &mut text);
        }
        return;
    }
    let power = POWERS[precision as usize];
    let magnitude = value.abs();
    let whole = magnitude as i32;
    let scaled = ((magnitude - f64::from(whole)) * f64::from(power) * 10.0) as i32;
    fast(value < 0.0, whole, scaled, precision, &mut text);
}

/// A float likewise; EPICS calculates in single precision here, and so do the digits.
pub fn float(value: f32, precision: u16, out: &mut [u8; 40]) {
    let mut text = Cursor::new(out);
    if value.is_nan() || precision > 8 || !(-(FAST_LIMIT as f32)..=FAST_LIMIT as f32).contains(&value) {
        if precision > 8 || value.abs() >= 1e8 {
            exponent(f64::from(value), precision.min(12), precision.min(12) as usize + 6, &mut text);
        } else {
            fixed(f64::from(value), precision.min(3), &mut text);
        }
        return;
    }
    let power = POWERS[precision as usize];
    let magnitude = value.abs();
    let whole = magnitude as i32;
    let scaled = ((magnitude - whole as f32) * power as f32 * 10.0) as i32;
    fast(value < 0.0, whole, scaled, precision, &mut text);
}

/// An integer in decimal into all of `out`, NUL-padded.
pub fn integer(value: i64, out: &mut [u8; 40]) {
    let mut text = Cursor::new(out);
    if value < 0 {
        text.push(b'-');
    }
    text.digits(value.unsigned_abs(), 1);
}

/// `whole` and ten times the fraction in units of the last decimal, rounded half up.
fn fast(negative: bool, mut whole: i32, scaled: i32, precision: u16, text: &mut Cursor<'_>) {
    let power = POWERS[precision as usize];
    let mut fraction = scaled.saturating_add(5) / 10;
    if fraction >= power {
        whole += 1;
        fraction -= power;
    }
    if negative {
        text.push(b'-');
    }
    text.digits(whole as u64, 1);
    if precision > 0 {
        text.push(b'.');
        text.digits(fraction as u64, precision as usize);
    }
}

/// `%.*f` for at most 3 decimals and a magnitude up to 1e16, or not a number. Exact: below 2^54 with at most 30
/// fraction bits everything fits 64 bits.
fn fixed(value: f64, precision: u16, text: &mut Cursor<'_>) {
    if value.is_sign_negative() {
        text.push(b'-');
    }
    if value.is_nan() {
        text.bytes(b"nan");
        return;
    }
    const SHIFT: u32 = 30;
    let magnitude = value.abs();
    let whole = magnitude as u64;
    let fraction = ((magnitude - whole as f64) * (1u64 << SHIFT) as f64) as u64;
    let power = POWERS[precision as usize] as u64;
    let product = fraction * power;
    let (mut digits, remainder) = (product >> SHIFT, product & ((1 << SHIFT) - 1));
    let half = 1u64 << (SHIFT - 1);
    let odd = if precision == 0 { whole & 1 == 1 } else { digits & 1 == 1 };
    if remainder > half || (remainder == half && odd) {
        digits += 1;
    }
    let carry = digits / power;
    text.digits(whole + carry, 1);
    if precision > 0 {
        text.push(b'.');
        text.digits(digits % power, precision as usize);
    }
}

/// `%*.*e`: at least two digits of exponent, padded on the left to `width`.
fn exponent(value: f64, precision: u16, width: usize, text: &mut Cursor<'_>) {
    let mut scratch = [0u8; 40];
    let mut digits = Cursor::new(&mut scratch);
    if value.is_finite() {
        // Cannot fail: the longest is 25 bytes, and the cursor swallows what does not fit.
        let _ = write!(digits, "{value:.*e}", precision as usize);
    } else {
        digits.bytes(match (value.is_nan(), value.is_sign_negative()) {
            (true, true) => b"-nan",
            (true, false) => b"nan",
            (false, true) => b"-inf",
            (false, false) => b"inf",
        });
    }
    let written = digits.written();
    let (mantissa, power) = match written.iter().position(|&b| b == b'e') {
        Some(at) => (&written[..at], Some(&written[at + 1..])),
        None => (written, None),
    };
    let (sign, magnitude) = match power {
        Some([b'-', rest @ ..]) => (b'-', rest),
        Some(rest) => (b'+', rest),
        None => (b'+', &[][..]),
    };
    let length = mantissa.len() + if power.is_some() { 2 + magnitude.len().max(2) } else { 0 };
    for _ in length..width {
        text.push(b' ');
    }
    text.bytes(mantissa);
    if power.is_some() {
        text.bytes(&[b'e', sign]);
        if magnitude.len() < 2 {
            text.push(b'0');
        }
        text.bytes(magnitude);
    }
}

/// Writes into 39 of 40 bytes and drops the rest; the last byte stays the terminator.
pub struct Cursor<'a> {
    out: &'a mut [u8; 40],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Clears `out` and starts at its beginning.
    pub fn new(out: &'a mut [u8; 40]) -> Self {
        out.fill(0);
        Cursor { out, at: 0 }
    }

    /// What has been written so far.
    pub fn written(&self) -> &[u8] {
        &self.out[..self.at]
    }

    fn push(&mut self, byte: u8) {
        if self.at < 39 {
            self.out[self.at] = byte;
            self.at += 1;
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push(byte);
        }
    }

    /// Decimal digits, with leading zeros up to `least`.
    fn digits(&mut self, mut value: u64, least: usize) {
        let mut reversed = [0u8; 20];
        let mut count = 0;
        while value > 0 || count < least {
            reversed[count] = b'0' + (value % 10) as u8;
            value /= 10;
            count += 1;
        }
        for &digit in reversed[..count].iter().rev() {
            self.push(digit);
        }
    }
}

impl Write for Cursor<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}
