// SPDX-License-Identifier: BSD-2-Clause
//! A child process whose output is read line by line and which cannot outlive its guard.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Lines that a child has printed so far, standard output and standard error in the order of arrival.
#[derive(Default)]
struct Lines {
    text: Vec<String>,
    open_streams: usize,
}

type Shared = Arc<(Mutex<Lines>, Condvar)>;

/// A running child.
pub struct Process {
    child: Child,
    name: String,
    lines: Shared,
    readers: Vec<JoinHandle<()>>,
}

/// How a child ended and what it printed.
#[derive(Debug)]
pub struct Finished {
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output and standard error together.
    pub text: String,
}

impl Finished {
    /// The exit code; -1 after a signal.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }
}

/// Makes a command that starts with a clean EPICS environment and is killed by the kernel when this program dies.
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = if has_setpriv() {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    for (key, _) in std::env::vars_os() {
        if key.to_string_lossy().starts_with("EPICS_") {
            command.env_remove(key);
        }
    }
    command
}

/// Whether util-linux's setpriv can arrange for the death signal.
fn has_setpriv() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "--", "true"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    })
}

impl Process {
    /// Starts `command` in a process group of its own, with pipes on all three streams.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start(command: Command) -> Result<Self, String> {
        Self::start_into(command, Stdio::piped())
    }

    /// As [`Process::start`], but its standard output goes there; what is not a pipe is not read.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start_into(mut command: Command, stdout: Stdio) -> Result<Self, String> {
        let name = format!("{command:?}");
        let mut child = command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name}: {error}"))?;
        let lines: Shared = Arc::default();
        let stderr = child.stderr.take().ok_or("no stderr")?;
        let stdout = child.stdout.take();
        lines.0.lock().unwrap().open_streams = 1 + usize::from(stdout.is_some());
        let mut readers = vec![reader(stderr, Arc::clone(&lines))];
        readers.extend(stdout.map(|stdout| reader(stdout, Arc::clone(&lines))));
        Ok(Self { child, name, lines, readers })
    }

    /// Process number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input; `None` once taken.
    pub fn stdin(&mut self) -> Option<&mut ChildStdin> {
        self.child.stdin.as_mut()
    }

    /// Writes one line to its standard input.
    ///
    /// # Errors
    /// If the child no longer reads.
    pub fn say(&mut self, line: &str) -> Result<(), String> {
        let stdin = self.child.stdin.as_mut().ok_or("standard input closed")?;
        writeln!(stdin, "{line}")
            .and_then(|()| stdin.flush())
            .map_err(|error| format!("{}: {error}", self.name))
    }

    /// Closes its standard input.
    pub fn close_stdin(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// If the process is gone.
    pub fn signal(&self, signal: Signal) -> Result<(), String> {
        let pid = self.pid().ok_or("no process number")?;
        rustix::process::kill_process(pid, signal).map_err(|error| error.to_string())
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Everything printed so far.
    pub fn text(&self) -> String {
        self.lines.0.lock().unwrap().text.join("\n")
    }

    /// How many lines it has printed so far: a mark for [`Process::wait_for_line`].
    pub fn mark(&self) -> usize {
        self.lines.0.lock().unwrap().text.len()
    }

    /// Waits for a line from line number `from` on that satisfies `wanted`, and returns it.
    ///
    /// # Errors
    /// If the child closes its output first or `limit` passes; the text tells what it printed.
    pub fn wait_for_line(
        &self,
        from: usize,
        limit: Duration,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<String, String> {
        let end = Instant::now() + limit;
        let (lock, changed) = &*self.lines;
        let mut lines = lock.lock().unwrap();
        loop {
            if let Some(line) = lines.text.iter().skip(from).find(|line| wanted(line)) {
                return Ok(line.clone());
            }
            let left = end.saturating_duration_since(Instant::now());
            if lines.open_streams == 0 || left.is_zero() {
                let why = if left.is_zero() { "in time" } else { "before it ended" };
                return Err(format!(
                    "{}: the expected line did not come {why}; it printed:\n{}",
                    self.name,
                    lines.text.join("\n")
                ));
            }
            lines = changed.wait_timeout(lines, left).unwrap().0;
        }
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// If `limit` passes first (the child is killed then).
    pub fn finish(mut self, limit: Duration) -> Result<Finished, String> {
        let status = super::deadline::retry(limit, || self.child.try_wait().ok().flatten());
        let Some(status) = status else {
            let text = self.text();
            return Err(format!("{}: still running after {limit:?}; it printed:\n{text}", self.name));
        };
        self.kill_group();
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        Ok(Finished { status, text: self.text() })
    }

    /// The exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    fn kill_group(&self) {
        if let Some(pid) = self.pid() {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_group();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reader(stream: impl Read + Send + 'static, shared: Shared) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            let more = stream.read_until(b'\n', &mut line).unwrap_or(0) > 0;
            let (lock, changed) = &*shared;
            let mut lines = lock.lock().unwrap();
            if more {
                let text = String::from_utf8_lossy(&line);
                lines.text.push(text.trim_end_matches(['\n', '\r']).to_owned());
            } else {
                lines.open_streams -= 1;
            }
            changed.notify_all();
            if !more {
                return;
            }
        }
    })
}
