// SPDX-License-Identifier: BSD-2-Clause
//! Numbers from text, as C's `strtol` and `strtod` read them: leading blanks, then the longest numeric prefix.

use super::ConversionError;

/// C's `isspace`.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The text without leading blanks and sign, and whether the sign was a minus.
fn signed(text: &[u8]) -> (bool, &[u8]) {
    let start = text.iter().position(|&b| !is_space(b)).unwrap_or(text.len());
    match &text[start..] {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    }
}

/// The decimal integer at the start; whatever follows it is ignored. `None` within `Ok` never happens: no digit is
/// [`ConversionError::NotANumber`], more than an `i64` holds is [`ConversionError::Range`].
pub fn integer(text: &[u8]) -> Result<i64, ConversionError> {
    let (negative, digits) = signed(text);
    let count = digits.iter().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    if count == 0 {
        return Err(ConversionError::NotANumber);
    }
    let mut value: i64 = 0;
    for &digit in &digits[..count] {
        let digit = i64::from(digit - b'0');
        value = value
            .checked_mul(10)
            .and_then(|v| if negative { v.checked_sub(digit) } else { v.checked_add(digit) })
            .ok_or(ConversionError::Range)?;
    }
    Ok(value)
}

/// The floating-point number at the start: decimal, hexadecimal, `inf`, `infinity` or `nan`; whatever follows it is
/// ignored. Too large, or too small for a normal number, is [`ConversionError::Range`], as `strtod` reports it.
pub fn double(text: &[u8]) -> Result<f64, ConversionError> {
    let (negative, body) = signed(text);
    let magnitude = match body {
        [b'0', b'x' | b'X', rest @ ..] if starts_hexadecimal(rest) => hexadecimal(rest)?,
        [b'0'..=b'9' | b'.', ..] => decimal(body)?,
        _ if starts_with(body, b"inf") => f64::INFINITY,
        _ if starts_with(body, b"nan") => f64::NAN,
        _ => return Err(ConversionError::NotANumber),
    };
    Ok(if negative { -magnitude } else { magnitude })
}

/// As [`double`], then narrowed; a magnitude that a normal float cannot hold is [`ConversionError::Range`].
pub fn float(text: &[u8]) -> Result<f32, ConversionError> {
    let value = double(text)?;
    let magnitude = value.abs();
    // EPICS refuses only positive numbers that are too small; tiny negative ones are rounded.
    if (value > 0.0 && magnitude <= f64::from(f32::MIN_POSITIVE))
        || (value.is_finite() && magnitude >= f64::from(f32::MAX))
    {
        return Err(ConversionError::Range);
    }
    Ok(value as f32)
}

/// Case does not matter.
fn starts_with(text: &[u8], prefix: &[u8]) -> bool {
    text.len() >= prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix)
}

fn decimal(body: &[u8]) -> Result<f64, ConversionError> {
    let digits =
        |from: usize| body[from..].iter().position(|b| !b.is_ascii_digit()).unwrap_or(body.len() - from);
    let whole = digits(0);
    let mut end = whole;
    if body.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if whole + fraction == 0 {
            return Err(ConversionError::NotANumber);
        }
        end += 1 + fraction;
    }
    let mantissa = end;
    if matches!(body.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(body.get(end + 1), Some(b'+' | b'-')));
        let exponent = if end + 1 + sign <= body.len() { digits(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let prefix = core::str::from_utf8(&body[..end]).map_err(|_| ConversionError::NotANumber)?;
    let value: f64 = prefix.parse().map_err(|_| ConversionError::NotANumber)?;
    let is_zero = body[..mantissa].iter().all(|b| matches!(b, b'0' | b'.'));
    if value.is_infinite() || (!is_zero && value < f64::MIN_POSITIVE) {
        return Err(ConversionError::Range);
    }
    Ok(value)
}

/// Whether a hexadecimal digit comes, before or after a point.
fn starts_hexadecimal(rest: &[u8]) -> bool {
    match rest {
        [b'.', digit, ..] | [digit, ..] => digit.is_ascii_hexdigit(),
        [] => false,
    }
}

/// What follows `0x`: digits, a point, a binary exponent.
fn hexadecimal(rest: &[u8]) -> Result<f64, ConversionError> {
    // 60 bits and a sticky last one are enough to round a 53-bit mantissa correctly.
    let (mut mantissa, mut exponent, mut point, mut end) = (0u64, 0i32, false, 0);
    for &byte in rest {
        let digit = match (byte as char).to_digit(16) {
            Some(digit) => u64::from(digit),
            None if byte == b'.' && !point => {
                point = true;
                end += 1;
                continue;
            }
            None => break,
        };
        end += 1;
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | digit;
            exponent -= if point { 4 } else { 0 };
        } else {
            mantissa |= u64::from(digit != 0);
            exponent += if point { 0 } else { 4 };
        }
    }
    if let Some(b'p' | b'P') = rest.get(end) {
        let power = &rest[end + 1..];
        if !power.first().is_some_and(|&b| is_space(b)) {
            match integer(power) {
                Ok(power) => exponent = exponent.saturating_add(power.clamp(-9999, 9999) as i32),
                Err(ConversionError::NotANumber) => {}
                Err(_) => return Err(ConversionError::Range),
            }
        }
    }
    let mut value = mantissa as f64;
    if value == 0.0 {
        return Ok(0.0);
    }
    while exponent > 0 && value.is_finite() {
        value *= 2.0;
        exponent -= 1;
    }
    while exponent < 0 && value >= f64::MIN_POSITIVE {
        value *= 0.5;
        exponent += 1;
    }
    if value.is_infinite() || value < f64::MIN_POSITIVE { Err(ConversionError::Range) } else { Ok(value) }
}
