# SPDX-License-Identifier: BSD-2-Clause
"""EPICS's client programs: where they are, how they are run to their end, how they are watched while they run."""

import fcntl
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the hosted tests install, too: one place under target/, one list with versions.
REQUIREMENTS = ROOT / "rtems-tests" / "hosted" / "requirements.txt"
REPEATER_PORT = 5065
# For what happens soon, on however slow a machine.
PATIENCE = 60


class Skip(Exception):
    """The test cannot run here; the text says why."""


def check(condition, text):
    """An assertion that survives python -O."""
    if not condition:
        raise AssertionError(text)


def find_clients():
    """The folder of caget and its kind: on PATH, or in the environment that the hosted tests use as well."""
    found = shutil.which("caget")
    if found:
        return pathlib.Path(found).parent
    venv = ROOT / "target" / "clients"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    stamp = venv / "installed.txt"
    venv.parent.mkdir(exist_ok=True)
    with open(venv.parent / "clients.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
            print(f"runner: installing EPICS clients into {venv}", flush=True)
            try:
                subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True, capture_output=True)
                pip = [venv / "bin" / "pip", "install", "-q", "--no-input", "--timeout", "20", "-r", REQUIREMENTS]
                subprocess.run(pip, check=True, capture_output=True, timeout=300)
                stamp.write_text(wanted, encoding="utf-8")
            except (OSError, subprocess.SubprocessError) as why:
                print(f"runner: no EPICS clients: {why}", flush=True)
                return None
    return venv / "bin"


def is_bound(port):
    """Does a program have this UDP port?"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return True
    return False


class Clients:
    """Runs the clients of EPICS against 127.0.0.1."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "EPICS_CA_ADDR_LIST": "127.0.0.1", "EPICS_CA_AUTO_ADDR_LIST": "NO"}
        self.repeater = None
        if folder is not None:
            # Otherwise the first client starts one, which keeps that client's output open.
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            command = [folder / "caRepeater"]
            self.repeater = subprocess.Popen(command, env=self.environment, start_new_session=True, **quiet)
            # A client that comes before it would start one of its own, which nobody ends.
            end = time.monotonic() + PATIENCE
            while not is_bound(REPEATER_PORT) and time.monotonic() < end:
                time.sleep(0.05)

    def close(self):
        """Ends the repeater."""
        if self.repeater is not None:
            # It may be a script around the program: both have to end.
            os.killpg(self.repeater.pid, signal.SIGKILL)
            self.repeater.wait()

    def words(self, command):
        """The command line of a client; skips the test where there are none."""
        if self.folder is None:
            raise Skip("no EPICS clients: put caget on PATH, or go online once")
        return [str(self.folder / command[0]), *command[1:]]

    def run(self, *command, seconds=PATIENCE):
        """A client's output; raises when it fails."""
        done = subprocess.run(
            self.words(command), env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )
        text = done.stdout + done.stderr
        if done.returncode:
            raise AssertionError(f"{' '.join(command)}: exit {done.returncode}: {text[-200:]}")
        return text

    def watch(self, *command):
        """A client that runs until the `with` block ends."""
        return Watched(self.words(command), self.environment)


class Watched:
    """A client that runs on, and what it has printed."""

    def __init__(self, words, environment):
        self.name = os.path.basename(words[0])
        self.text = ""
        # A session of its own: the client may be a script around the program, and both have to end.
        self.process = subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def wait_for(self, pattern, seconds=PATIENCE):
        """Waits until what was printed so far matches."""
        self.wait_until(lambda text: re.search(pattern, text), repr(pattern), seconds)

    def wait_until(self, holds, what, seconds=PATIENCE):
        """Waits until something holds for what was printed so far."""
        end = time.monotonic() + seconds
        while not holds(self.text):
            check(time.monotonic() < end, f"{self.name}: no {what} within {seconds} s: {self.text[-600:]}")
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                piece = os.read(self.process.stdout.fileno(), 65536)
                check(piece, f"{self.name} has ended: {self.text[-300:]}")
                self.text += piece.decode("utf-8", "replace")
