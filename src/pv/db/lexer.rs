// SPDX-License-Identifier: BSD-2-Clause
//! The words and signs of a .db file.

use super::error::{Fault, Place, Quoted, fault};
use super::macros::{self, push};
use alloc::vec::Vec;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bare or quoted word, macros and escapes replaced.
    Word(Vec<u8>),
    /// A JSON array or object, as written.
    Json(Vec<u8>),
    /// One of `( ) { } ,`.
    Sign(u8),
    /// The end of the file.
    End,
}

/// A token and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// Cuts the text into tokens.
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    macros: &'a [(&'a str, &'a str)],
    at: usize,
    line: u32,
    line_start: usize,
}

/// What a bare word consists of, macros apart.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+:.[]<>;".contains(&byte)
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8], macros: &'a [(&'a str, &'a str)]) -> Self {
        // A byte order mark is no part of the text.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Lexer { text, macros, at: 0, line: 1, line_start: 0 }
    }

    fn place(&self) -> Place {
        Place { line: self.line, column: (self.at - self.line_start) as u32 + 1 }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn newline(&mut self) {
        self.line += 1;
        self.line_start = self.at;
    }

    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.newline();
                }
                b' ' | b'\t' | b'\r' | 0x0c => self.at += 1,
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// The next token; where a value is expected, `[` and `{` start JSON.
    pub(super) fn next(&mut self, value_expected: bool) -> Result<Token, Fault> {
        self.skip_blanks();
        let place = self.place();
        let kind = match self.peek() {
            None => Kind::End,
            Some(b'"') => Kind::Word(self.quoted(place)?),
            Some(b'[' | b'{') if value_expected => Kind::Json(self.json(place)?),
            Some(sign @ (b'(' | b')' | b'{' | b'}' | b',')) => {
                self.at += 1;
                Kind::Sign(sign)
            }
            Some(byte) if is_bare(byte) || macros::starts(&self.text[self.at..]) => {
                Kind::Word(self.bare(place)?)
            }
            Some(_) => {
                let rest = &self.text[self.at..];
                let end = rest.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(rest.len());
                return Err(fault!(
                    place,
                    "{} is no part of a .db file here; quote it",
                    Quoted(&rest[..end])
                ));
            }
        };
        Ok(Token { kind, place })
    }

    fn bare(&mut self, place: Place) -> Result<Vec<u8>, Fault> {
        let start = self.at;
        while let Some(byte) = self.peek() {
            if let Some(length) = macros::reference(&self.text[self.at..]) {
                self.at += length;
            } else if is_bare(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
        if self.at == start {
            // A macro that does not end; expanding it says so.
            self.at += 1;
            let rest = &self.text[start..];
            let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            let mut word = Vec::new();
            macros::expand(&rest[..end], self.macros, &mut word, place)?;
            return Ok(word);
        }
        let mut word = Vec::new();
        macros::expand(&self.text[start..self.at], self.macros, &mut word, place)?;
        Ok(word)
    }

    fn quoted(&mut self, place: Place) -> Result<Vec<u8>, Fault> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                None | Some(b'\n') => return Err(fault!(place, "a quote is not closed on its line")),
                Some(b'"') => break,
                // Whatever is escaped does not end the word.
                Some(b'\\') if self.at + 1 < self.text.len() && self.text[self.at + 1] != b'\n' => {
                    self.at += 2
                }
                Some(_) => self.at += 1,
            }
        }
        let mut expanded = Vec::new();
        macros::expand(&self.text[start..self.at], self.macros, &mut expanded, place)?;
        self.at += 1;
        let mut word = Vec::new();
        unescape(&expanded, &mut word, place)?;
        Ok(word)
    }

    /// Up to the bracket that closes the first one; strings may contain brackets.
    fn json(&mut self, place: Place) -> Result<Vec<u8>, Fault> {
        let start = self.at;
        let (mut depth, mut in_string) = (0u32, false);
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\n' => self.newline(),
                b'\\' if in_string => self.at = (self.at + 1).min(self.text.len()),
                b'"' => in_string = !in_string,
                b'[' | b'{' if !in_string => depth += 1,
                b']' | b'}' if !in_string => {
                    depth -= 1;
                    if depth == 0 {
                        let mut json = Vec::new();
                        macros::expand(&self.text[start..self.at], self.macros, &mut json, place)?;
                        return Ok(json);
                    }
                }
                _ => {}
            }
        }
        Err(fault!(place, "a bracket is not closed"))
    }
}

/// C's escapes.
fn unescape(text: &[u8], out: &mut Vec<u8>, place: Place) -> Result<(), Fault> {
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            push(out, *byte, place)?;
            continue;
        }
        let [code, after @ ..] = rest else { break };
        rest = after;
        let byte = match code {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'0'..=b'7' => number(*code, &mut rest, 2, 8),
            b'x' => number(b'0', &mut rest, 2, 16),
            other => *other,
        };
        push(out, byte, place)?;
    }
    Ok(())
}

/// An octal or hexadecimal escape of at most `more` further digits.
fn number(first: u8, rest: &mut &[u8], more: usize, radix: u32) -> u8 {
    let mut value = u32::from(first - b'0');
    for _ in 0..more {
        let Some(digit) = rest.first().and_then(|b| (*b as char).to_digit(radix)) else { break };
        value = value * radix + digit;
        *rest = &rest[1..];
    }
    value as u8
}
