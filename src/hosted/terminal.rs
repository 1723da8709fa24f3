// SPDX-License-Identifier: BSD-2-Clause
//! Shell commands from standard input, whatever comes in by it.

use std::fmt::Write as _;
use std::io::{self, BufRead, ErrorKind, stdin};

use rtems_ioc::os::hosted::console::{Output, is_interactive};
use rtems_ioc::shell::{Outcome, run_line};

/// The longest line that is taken for a command, in bytes.
const LONGEST: usize = 4096;

/// Reads and runs commands until `exit` or the end of the input.
pub fn run() {
    let prompt = is_interactive();
    let mut line = Vec::new();
    let mut out = Output;
    loop {
        if prompt {
            let _ = out.show("rtems-ioc> ");
        }
        match next_line(&mut stdin().lock(), &mut line) {
            Ok(Line::Whole) => {}
            Ok(Line::TooLong) => {
                let _ = writeln!(out, "line ignored: it has more than {LONGEST} bytes");
                continue;
            }
            Ok(Line::End) => break,
            Err(error) => {
                log::warn!("no more commands: standard input: {error}");
                break;
            }
        }
        let outcome = run_line(&String::from_utf8_lossy(&line), &mut out);
        out.flush();
        if outcome == Outcome::Exit {
            return;
        }
    }
    if prompt {
        let _ = out.show("\n");
    }
}

/// What was read.
#[derive(Debug, PartialEq)]
enum Line {
    /// A line, or what came before the end of the input.
    Whole,
    /// One that is too long; it was passed over.
    TooLong,
    /// Nothing: the input has ended.
    End,
}

/// Reads the next line, without its end, into `line`, of which no more than [`LONGEST`] bytes are ever kept.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let mut too_long = false;
    let mut any = false;
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        any |= !bytes.is_empty();
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let piece = &bytes[..end.unwrap_or(bytes.len())];
        too_long |= line.len() + piece.len() > LONGEST;
        if !too_long {
            line.extend_from_slice(piece);
        }
        let last = end.is_some() || bytes.is_empty();
        let used = piece.len() + usize::from(end.is_some());
        input.consume(used);
        if last {
            return Ok(match (any, too_long) {
                (false, _) => Line::End,
                (true, true) => Line::TooLong,
                (true, false) => Line::Whole,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_up_to_the_limit_and_passed_over_beyond() {
        let mut text = b"casr\n\xff\xfe poolstat\n".to_vec();
        text.extend(vec![b'x'; LONGEST]);
        text.push(b'\n');
        text.extend(vec![b'x'; 3 * LONGEST]);
        text.extend(b"\nlast");
        // Whatever the size of the pieces in which it comes.
        for piece in [1, 7, 100, 8192] {
            let mut input = io::BufReader::with_capacity(piece, &text[..]);
            let mut line = Vec::new();
            let mut next = |line: &mut Vec<u8>| next_line(&mut input, line).unwrap();
            assert_eq!((next(&mut line), &line[..]), (Line::Whole, &b"casr"[..]));
            assert_eq!((next(&mut line), &line[..]), (Line::Whole, &b"\xff\xfe poolstat"[..]));
            assert_eq!((next(&mut line), line.len()), (Line::Whole, LONGEST));
            assert_eq!(next(&mut line), Line::TooLong);
            assert!(line.capacity() <= 2 * LONGEST);
            assert_eq!((next(&mut line), &line[..]), (Line::Whole, &b"last"[..]));
            assert_eq!(next(&mut line), Line::End);
        }
    }
}
