// SPDX-License-Identifier: BSD-2-Clause
//! One line of input: which command, which arguments. RTEMS has a shell of its own for this.

use core::fmt;

use super::COMMANDS;

/// What a line did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A command ran, with this status.
    Done(i32),
    /// The line was empty or a comment.
    Nothing,
    /// No such command; the output says so.
    Unknown,
    /// The user wants to leave.
    Exit,
}

/// Most words of a line.
const MAX_WORDS: usize = 8;

/// Runs one line: words separated by blanks, `#` begins a comment.
pub fn run_line(line: &str, out: &mut dyn fmt::Write) -> Outcome {
    let line = line.split('#').next().unwrap_or("");
    let mut words = [""; MAX_WORDS];
    let mut count = 0;
    for word in line.split_whitespace() {
        if count == MAX_WORDS {
            let _ = out.write_str("too many words\n");
            return Outcome::Unknown;
        }
        words[count] = word;
        count += 1;
    }
    let Some((name, arguments)) = words[..count].split_first() else { return Outcome::Nothing };
    match *name {
        "help" | "?" => {
            help(out);
            Outcome::Done(super::OK)
        }
        "exit" | "quit" => Outcome::Exit,
        name => match COMMANDS.iter().find(|command| command.name == name) {
            Some(command) => Outcome::Done((command.run)(out, arguments)),
            None => {
                let _ = writeln!(out, "{name}: no such command; try help");
                Outcome::Unknown
            }
        },
    }
}

fn help(out: &mut dyn fmt::Write) {
    for command in COMMANDS {
        let _ = writeln!(out, "{}", command.usage);
    }
    let _ = out.write_str("help                     this list\nexit                     ends the program\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn run(line: &str) -> (Outcome, String) {
        let mut out = String::new();
        (run_line(line, &mut out), out)
    }

    #[test]
    fn empty_lines_and_comments_do_nothing() {
        assert_eq!(run("  \t "), (Outcome::Nothing, String::new()));
        assert_eq!(run("# casr"), (Outcome::Nothing, String::new()));
    }

    #[test]
    fn help_names_every_command() {
        let (outcome, text) = run("help");
        assert_eq!(outcome, Outcome::Done(0));
        for command in COMMANDS {
            assert!(text.contains(command.name));
            assert!(command.usage.starts_with(command.name) && !command.topic.is_empty());
        }
    }

    #[test]
    fn wrong_input_is_answered_with_the_right_one() {
        assert_eq!(run("frobnicate").0, Outcome::Unknown);
        for line in [
            "casr 9",
            "casr x",
            "casrv",
            "poolstat -x",
            "tcpecho start x",
            "tcpecho start 65534",
            "dbl a b",
            "access x",
            "putlog 1",
        ] {
            let (outcome, text) = run(line);
            assert_eq!(outcome, Outcome::Done(crate::shell::USAGE), "{line}");
            assert!(text.starts_with("usage: "), "{line}");
        }
        assert_eq!(run("casr 1 2 3 4 5 6 7 8").0, Outcome::Unknown);
        assert_eq!(run("exit").0, Outcome::Exit);
    }
}
