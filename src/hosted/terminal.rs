// SPDX-License-Identifier: BSD-2-Clause
//! Shell commands from standard input.

use std::io::{BufRead, stdin};

use rtems_ioc::os::hosted::console::{Output, is_interactive};
use rtems_ioc::shell::{Outcome, run_line};

/// Reads and runs commands until `exit` or the end of the input.
pub fn run() {
    let prompt = is_interactive();
    let mut line = String::new();
    loop {
        let mut out = Output;
        if prompt {
            print!("rtems-ioc> ");
            out.flush();
        }
        line.clear();
        match stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let outcome = run_line(&line, &mut out);
        out.flush();
        if outcome == Outcome::Exit {
            return;
        }
    }
    if prompt {
        println!();
    }
}
