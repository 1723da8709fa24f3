# SPDX-License-Identifier: BSD-2-Clause
"""An image under its emulator: starts it, talks to its console, ends it."""

import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import time

PROMPT = b"SHLL [/] # "


class MachineError(Exception):
    """The image did not do what was waited for; the text ends with what the console showed."""


class PortTaken(MachineError):
    """A port of this host that is to lead to the image has another program behind it."""


def check_free(ports):
    """Raises when one of these ports of 127.0.0.1 is taken. In a network namespace of its own (run.isolate) none is."""
    for protocol, port in ports:
        kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
        with socket.socket(socket.AF_INET, kind) as probe:
            if protocol == "tcp":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as why:
                raise PortTaken(f"port {port} ({protocol}) of 127.0.0.1 is taken by another program: {why.strerror}") from why


def forwards(ports):
    """QEMU's user network: these ports of 127.0.0.1 lead to the guest's."""
    return "".join(f",hostfwd={protocol}:127.0.0.1:{port}-:{port}" for protocol, port in ports)


def cable(machine, host):
    """A network that carries frames in datagrams between two UDP ports of 127.0.0.1, the machine's and a host's."""
    return f"socket,udp=127.0.0.1:{host},localaddr=127.0.0.1:{machine}"


class Machine:
    """A running image."""

    def __init__(self, bsp, image, ports=(), extra=(), network=None, label="", tftp=None):
        if network is None:
            check_free(ports)
        words = {
            "image": str(image),
            "rtems": bsp.prefix,
            "bsp_lib": str(bsp.lib),
            "network": network or "user" + forwards(ports) + (f",tftp={tftp}" if tftp else ""),
        }
        command = [word.format(**words) for word in bsp.config["emulator"]["command"]] + list(extra)
        # The folder whose files the emulator's TFTP server at 10.0.2.2 has.
        self.tftp = pathlib.Path(tftp) if tftp else None
        self.search_tries = bsp.config["emulator"].get("search_tries", 1.0)
        self.search_burst = bsp.config["emulator"].get("search_burst", 32)
        self.stack = bsp.stack
        server = bsp.config["server"]
        self.circuits = min(server["circuits"], server["circuits_per_address"])
        self.wake = bsp.config["emulator"].get("wake", "").encode()
        self.log = pathlib.Path(image).with_suffix(f"{label}.console").open("wb")
        # What the emulator itself says: shown when something goes wrong, and kept.
        self.complaints = pathlib.Path(image).with_suffix(f"{label}.emulator")
        self.text = b""
        # The emulator does not outlive a runner that is killed.
        guard = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        with self.complaints.open("wb") as complaints:
            self.process = subprocess.Popen(
                guard + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, bufsize=0
            )
        os.set_blocking(self.process.stdout.fileno(), False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def read(self, seconds):
        """Takes what the console shows within so many seconds; false when the emulator has ended."""
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        if ready:
            piece = self.process.stdout.read(65536)
            if not piece:
                return False
            self.log.write(piece)
            self.log.flush()
            self.text += piece
        return True

    def until(self, pattern, seconds):
        """Waits for a pattern (bytes) in what was not yet taken; returns the text up to its end."""
        end = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.text)
            if match:
                taken, self.text = self.text[: match.end()], self.text[match.end() :]
                return taken.decode("utf-8", "replace")
            if time.monotonic() > end:
                self.fail(f"no {pattern!r} within {seconds:.0f} s")
            if not self.read(0.2):
                self.fail(f"the emulator ended before {pattern!r}")

    def fail(self, what):
        """Raises, with the end of what the console showed and of what the emulator said."""
        shown = self.text[-500:].decode("utf-8", "replace")
        said = self.complaints.read_text(encoding="utf-8", errors="replace")[-500:].strip()
        raise MachineError(f"{what}; the console ended with {shown!r}" + (f"; the emulator said {said!r}" if said else ""))

    def send(self, text):
        """Types at the console: slowly enough for a polled UART without flow control."""
        for at in range(0, len(text), 8):
            self.process.stdin.write(text[at : at + 8])
            time.sleep(0.005)

    def load(self, seconds=90, options=""):
        """Gets past a boot loader that waits for a key, or for options of the boot command line; returns what was shown."""
        if not self.wake:
            return ""
        shown = self.until(rb"load:", seconds)
        self.send(options.encode() + self.wake)
        return shown

    def boot(self, seconds=90, options=""):
        """Waits for the first prompt; returns what was shown until then."""
        return self.load(seconds, options) + self.until(re.escape(PROMPT), seconds)

    def command(self, line, seconds=30):
        """Runs one shell command; returns what it printed, without echo and prompt."""
        self.send(line.encode() + b"\n")
        # Log lines may come between the characters of the echo, so only the prompt is waited for.
        shown = self.until(re.escape(PROMPT), seconds)
        return shown[: -len(PROMPT)].replace("\r", "").partition("\n")[2]
