// SPDX-License-Identifier: BSD-2-Clause
//! The words and signs of an access security file.

use alloc::string::String;
use core::fmt;

/// The most bytes of the file that a message quotes.
const QUOTED: usize = 40;

/// What is wrong, and in which line.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: u32,
    pub(super) message: String,
}

/// Makes a [`Fault`] with a formatted message.
macro_rules! fault {
    ($line:expr, $($message:tt)*) => {
        super::lexer::Fault { line: $line, message: alloc::format!($($message)*) }
    };
}
pub(super) use fault;

/// Bytes of the file in a message.
pub(super) struct Quoted<'a>(pub(super) &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(QUOTED)];
        write!(f, "\"{}{}\"", shown.escape_ascii(), if shown.len() < self.0.len() { "..." } else { "" })
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A bare or quoted word.
    Word(&'a [u8]),
    /// One of `( ) { } ,`.
    Sign(u8),
    /// The end of the file.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => Quoted(word).fmt(f),
            Token::Sign(sign) => write!(f, "'{}'", *sign as char),
            Token::End => f.write_str("the end of the file"),
        }
    }
}

/// What a bare word consists of.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+:./\\[]<>;".contains(&byte)
}

/// Cuts the text into tokens.
pub(super) struct Lexer<'a> {
    rest: &'a [u8],
    pub(super) line: u32,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        // A byte order mark is no part of the text.
        Lexer { rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text), line: 1 }
    }

    fn skip(&mut self) {
        while let [byte, after @ ..] = self.rest {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' | 0x0c => {}
                b'#' => {
                    let end = after.iter().position(|&b| b == b'\n').unwrap_or(after.len());
                    self.rest = &after[end..];
                    continue;
                }
                _ => return,
            }
            self.rest = after;
        }
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, Fault> {
        self.skip();
        let (byte, after) = match self.rest {
            [] => return Ok(Token::End),
            [byte, after @ ..] => (*byte, after),
        };
        match byte {
            b'(' | b')' | b'{' | b'}' | b',' => {
                self.rest = after;
                Ok(Token::Sign(byte))
            }
            b'"' => {
                let end = after.iter().position(|&b| matches!(b, b'"' | b'\n'));
                match end {
                    Some(end) if after[end] == b'"' => {
                        self.rest = &after[end + 1..];
                        Ok(Token::Word(&after[..end]))
                    }
                    _ => Err(fault!(self.line, "a quote is not closed on its line")),
                }
            }
            _ if is_bare(byte) => {
                let end = self.rest.iter().position(|&b| !is_bare(b)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                Ok(Token::Word(word))
            }
            _ => Err(fault!(self.line, "{} cannot be used here; quote it", Quoted(&self.rest[..1]))),
        }
    }
}
