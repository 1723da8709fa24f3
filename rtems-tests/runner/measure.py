#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures an image in its emulator: instruction counts of heap questions, and of searches by pool policy.

    measure.py --rtems PREFIX [--build DIR] heap|searches|catime|sets|idle|memory arch/bsp

catime is EPICS's benchmark on this host's clock, each policy in turn, medians of five rounds on a heap with 50 000 used and
20 000 free blocks. memory asks the heap. The others run QEMU with -icount shift=0: one instruction takes one nanosecond of
the guest's clock, so the figures
are counts and do not depend on the load of this machine. psim counts its own way and is not measured.
"""

import argparse
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bsp-config" / "tools"))

import bsps  # noqa: E402
import clients as host  # noqa: E402
import programs  # noqa: E402
import wire  # noqa: E402
from machine import Machine  # noqa: E402
from run import image_of, isolate  # noqa: E402

COUNTED = ["-icount", "shift=0,sleep=off"]
# The same, but an idle guest's time passes no faster than ours: for what waits for the network.
PACED = ["-icount", "shift=0"]
POLICIES = ["tracker", "always", "walk", "largest-walk"]
SEARCHES = 2000


def heap(bsp, build):
    """The table of heapbench."""
    with Machine(bsp, image_of(bsp, build), extra=COUNTED) as machine:
        machine.boot(600)
        return machine.command("heapbench", 1800)


def busy(text):
    """Time that was not idle, from `heapbench time`."""
    found = re.search(r"(\d+) us, idle (\d+) us", text)
    return int(found[1]) - int(found[2])


def searches(bsp, build):
    """Instructions per answered search, by policy, with 50 000 used and 20 000 free blocks."""
    lines = []
    with Machine(bsp, image_of(bsp, build), host.PORTS, PACED) as machine:
        machine.boot(600)
        lines.append(machine.command("heapbench fragment 50000 20000", 600).strip())
        for number, policy in enumerate(POLICIES):
            machine.command(f"heapbench policy {number}", 60)
            wire.search("127.0.0.1", host.CA, 50)
            before = busy(machine.command("heapbench time", 60))
            answered = wire.search("127.0.0.1", host.CA, SEARCHES)
            after = busy(machine.command("heapbench time", 60))
            lines.append(f"{policy:13} {(after - before) * 1000 // max(answered, 1):8} ns per search, {answered} answered")
    return "\n".join(lines)


def sets(bsp, build):
    """What a set of an application's process variable costs the task that does it."""
    with Machine(bsp, image_of(bsp, build), extra=COUNTED) as machine:
        machine.boot(600)
        return machine.command("pvbench", 600)


# Rows of catime's report that are shown: the search, and the DBR_FLOAT rows behind it.
CATIME_ROWS = {
    "search": r"Channel Connect Test.*?Per Op,\s*(\S+) uS",
    "async put": r"DBR_FLOAT Test.*?async put test.*?Per Op,\s*(\S+) uS",
    "async get": r"DBR_FLOAT Test.*?async get test.*?Per Op,\s*(\S+) uS",
    "sync get": r"DBR_FLOAT Test.*?synch get test.*?Per Op,\s*(\S+) uS",
}
CATIME_TRIES = r"Search tries per chan - mean = (\S+) .*max = (\S+)"
CATIME_ROUNDS, CATIME_CHANNELS = 5, 1000


def catime(bsp, build):
    """Medians of catime by policy, us per operation."""
    found = {policy: [] for policy in POLICIES}
    clients = programs.Clients(programs.find_clients())
    try:
        with Machine(bsp, image_of(bsp, build), host.PORTS) as machine:
            machine.boot()
            heap_now = machine.command("heapbench fragment 50000 20000", 600).strip()
            for _ in range(CATIME_ROUNDS):
                for number, policy in enumerate(POLICIES):
                    machine.command(f"heapbench policy {number}", 60)
                    found[policy].append(clients.run("catime", "ioc:catime", str(CATIME_CHANNELS), "1", seconds=600))
    finally:
        clients.close()
    lines = [heap_now, f"| {CATIME_CHANNELS} channels | " + " | ".join([*CATIME_ROWS, "search tries, mean (max)"]) + " |"]
    lines.append("|---" * (len(CATIME_ROWS) + 2) + "|")
    for policy, texts in found.items():
        cells = []
        for row in CATIME_ROWS.values():
            values = [float(re.search(row, text, re.S)[1]) for text in texts]
            cells.append(f"{statistics.median(values):.4g} ({min(values):.4g}-{max(values):.4g})")
        tries = [re.search(CATIME_TRIES, text) for text in texts]
        mean = statistics.median(float(each[1]) for each in tries)
        cells.append(f"{mean:.2f} ({max(float(each[2]) for each in tries):.0f})")
        lines.append(f"| `{policy}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def idle(bsp, build):
    """Share of the processor that our tasks take when nobody asks, over 60 s of the guest."""
    with Machine(bsp, image_of(bsp, build), host.PORTS, PACED) as machine:
        machine.boot(600)
        return machine.command("heapbench idle 60", 600)


def free_bytes(machine):
    """Free memory by poolstat."""
    return int(re.search(r"free\s+(\d+) bytes", machine.command("poolstat"))[1])


def memory(bsp, build):
    """Heap bytes per circuit, channel and monitor."""
    with Machine(bsp, image_of(bsp, build), host.PORTS) as machine:
        machine.boot()
        wire.Circuit("127.0.0.1", host.CA).close()
        steps = [free_bytes(machine)]
        circuits = [wire.Circuit("127.0.0.1", host.CA) for _ in range(8)]
        steps.append(free_bytes(machine))
        for number in range(2000):
            circuits[0].create(number, f"ioc:catime{number:06}")
        circuits[0].wait_for(2000)
        steps.append(free_bytes(machine))
        for number in range(2000):
            circuits[0].subscribe(number)
        circuits[0].wait_for(2000)
        steps.append(free_bytes(machine))
        for circuit in circuits:
            circuit.close()
    per = [(steps[0] - steps[1]) / 8, (steps[1] - steps[2]) / 2000, (steps[2] - steps[3]) / 2000]
    return "circuit {:.0f} bytes, channel {:.0f} bytes, monitor {:.0f} bytes (with the network stack's share)".format(*per)


MEASURES = {"heap": heap, "searches": searches, "catime": catime, "sets": sets, "idle": idle, "memory": memory}


def main():
    """One measurement of one image."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtems", required=True)
    parser.add_argument("--build", default="build")
    parser.add_argument("what", choices=sorted(MEASURES))
    parser.add_argument("bsp")
    options = parser.parse_args()
    programs.find_clients()  # while there is a network
    isolate()
    bsp = bsps.select(options.rtems, options.bsp)[0]
    measure = MEASURES[options.what]
    print(f"{bsp.name}: {options.what}\n{measure(bsp, pathlib.Path(options.build))}")


if __name__ == "__main__":
    main()
