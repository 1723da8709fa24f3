# SPDX-License-Identifier: BSD-2-Clause
"""A running EPICS IOC in the emulator: its console is iocsh."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "rtems-tests" / "runner"), str(ROOT / "bsp-config" / "tools")]

from machine import Machine  # noqa: E402

PROMPT = rb"\nexample> "
# The guest's port, and the one of 127.0.0.1 that leads to it: searches by UDP need them to be the same.
PORTS = [("tcp", 5064), ("udp", 5064)]


class Ioc(Machine):
    """The example IOC; booted when it has been made."""

    def __init__(self, bsp, image, extra=(), records=1000, seconds=600):
        super().__init__(bsp, image, PORTS, extra)
        try:
            if self.wake:
                self.until(rb"load:", seconds)
                self.send(self.wake)
            self.booted = self.until(PROMPT, seconds)
            # Not before: the stack takes its memory in its own time.
            self.command(f'dbLoadRecords "/catime{records}.db"', seconds)
            self.command('dbLoadRecords "/array.db"', seconds)
            self.command("iocInit", seconds)
        except BaseException:
            self.__exit__()
            raise

    def command(self, line, seconds=120):
        """Runs one iocsh command; returns what it printed."""
        self.send(line.encode() + b"\n")
        shown = self.until(PROMPT, seconds)
        return shown.replace("\r", "").partition("\n")[2].rpartition("\n")[0]

    def numbers(self, line, pattern, seconds=120):
        """The numbers in a command's output."""
        shown = self.command(line, seconds)
        found = re.search(pattern, shown)
        if not found:
            raise AssertionError(f"{line}: {shown}")
        return [int(text) for text in found.groups()]

    def fragment(self, used, free):
        """Makes the heap old; returns used blocks, free blocks."""
        return self.numbers(f"heapFragment {used} {free}", r"walk: (\d+) used blocks, (\d+) free blocks", 900)

    def walk(self):
        """Used blocks, free blocks, free bytes, largest free block, by RTEMS's walk."""
        return self.numbers("heapWalk", r"walk: (\d+) used blocks, (\d+) free blocks, (\d+) bytes free, largest (\d+)")

    def busy(self):
        """Microseconds so far: in which some task ran, and altogether."""
        total, idle = self.numbers("cpuTime", r"time: (\d+) us, idle (\d+) us")
        return total - idle, total
