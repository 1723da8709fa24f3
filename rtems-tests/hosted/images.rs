// SPDX-License-Identifier: BSD-2-Clause
//! The RTEMS images that `waf build` left in `build/`, one trial each: booted in their emulator and tested by the runner.
//!
//! Without images, and when a source has changed since the last `waf build`, the trials are skipped and say so.
//! `RTEMS_IOC_IMAGES=no` leaves them out where the runner is started anyway.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::SystemTime;

use libtest_mimic::{Arguments, Failed, Trial};

/// What waf was configured for.
struct Configured {
    prefix: String,
    bsps: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads waf's own record of its configuration; `None` without one that has BSPs.
fn configured() -> Option<Configured> {
    let text = fs::read_to_string(root().join("build/c4che/_cache.py")).ok()?;
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    let quoted = |text: &str| text.split('\'').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let prefix = quoted(value("PREFIX_RTEMS")?).into_iter().next().filter(|prefix| !prefix.is_empty())?;
    let bsps = quoted(value("BSPS")?);
    (!bsps.is_empty()).then_some(Configured { prefix, bsps })
}

/// What an image is made from.
const SOURCES: [&str; 5] = ["src", "include", "rtems-tests/target", "rtems-sys", "bsp-config"];
const KINDS: [&str; 6] = ["rs", "c", "h", "toml", "json", "py"];

/// When the newest of the sources was changed, and which one it is.
fn newest_source() -> Option<(SystemTime, PathBuf)> {
    let mut waiting: Vec<PathBuf> = SOURCES.iter().map(|folder| root().join(folder)).collect();
    let mut newest = None;
    while let Some(path) = waiting.pop() {
        let Ok(about) = path.metadata() else { continue };
        if about.is_dir() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known)) {
            newest = newest.max(about.modified().ok().map(|time| (time, path)));
        }
    }
    newest
}

/// Why the images are not to be tested.
fn obstacle() -> Option<String> {
    if std::env::var_os("RTEMS_IOC_IMAGES").is_some_and(|value| value == "no") {
        return Some("RTEMS_IOC_IMAGES=no".to_owned());
    }
    // waf goes by contents, so an image may be older than its sources; this file tells when it last looked.
    let Ok(looked) = fs::metadata(root().join("build/built.txt")).and_then(|about| about.modified()) else {
        return Some("not built: run waf build".to_owned());
    };
    let (changed, file) = newest_source()?;
    (looked < changed).then(|| format!("{} has changed: run waf build", file.display()))
}

/// Boots one image and runs its tests, those that take minutes excepted.
fn run(prefix: &str, bsp: &str) -> Result<(), Failed> {
    let done = Command::new("python3")
        .args(["rtems-tests/runner/run.py", "--rtems", prefix, "--build", "build", "--quick", bsp])
        .env("RTEMS_IOC_PROGRAM", env!("CARGO_BIN_EXE_rtems-ioc"))
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("python3: {error}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{}", text, String::from_utf8_lossy(&done.stderr)).into())
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The emulators share the ports of 127.0.0.1, and the machine.
    arguments.test_threads = Some(1);
    let mut trials = Vec::new();
    match configured() {
        Some(Configured { prefix, bsps }) => {
            let obstacle = obstacle();
            for bsp in bsps {
                if let Some(why) = &obstacle {
                    say(&format!("SKIPPED: {bsp}: {why}"));
                }
                let (prefix, name) = (prefix.clone(), bsp.clone());
                let trial = Trial::test(name, move || run(&prefix, &bsp));
                trials.push(trial.with_ignored_flag(obstacle.is_some()));
            }
        }
        None => {
            say("SKIPPED: no RTEMS images: waf configure --rtems=PREFIX && waf build");
            trials.push(Trial::test("images", || Ok(())).with_ignored_flag(true));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
