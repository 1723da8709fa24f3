#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures an image in its emulator: instruction counts of heap questions, and of searches by pool policy.

    measure.py --rtems PREFIX [--build DIR] heap|searches|catime|sets|idle|memory|echo|clients arch/bsp

heap checks its limits, and ends with 1 when one is exceeded. catime is EPICS's benchmark on this host's clock, each policy in
turn, medians of five rounds on a heap with 50 000 used and 20 000 free blocks; clients runs it and ours in turn. memory asks
the heap. The others run QEMU with -icount shift=0: one instruction takes one nanosecond of the guest's clock, so the figures
are counts and do not depend on the load of this machine. psim counts its own way and is not measured.
"""

import argparse
import pathlib
import re
import socket
import statistics
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bsp-config" / "tools"))

import bsps  # noqa: E402
import clients as host  # noqa: E402
import kit  # noqa: E402
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


# Instructions: of a question by the tracker, whatever the heap, and of what the hooks add to a heap operation.
QUESTION, OPERATION = 40, 150
# heapbench rounds to tenths.
FLAT = 0.2


def judge_heap(text):
    """[(limit, does it hold)] of a table of heapbench; raises when the table is not whole."""
    questions = [float(row[1]) for row in re.findall(r"^ *(\d+) +([\d.]+) +[\d.]+ +[\d.]+ *$", text, re.M)]
    added = dict(re.findall(r"^(allocate|free) +[\d.]+ +[\d.]+ +([\d.]+) *$", text, re.M))
    if len(questions) != 8 or set(added) != {"allocate", "free"}:
        raise ValueError(f"no whole table: {text}")
    most, least = max(questions), min(questions)
    return [
        (f"a question takes {most} instructions, limit {QUESTION}", most <= QUESTION),
        (f"whatever the heap: {least} to {most}", most - least <= FLAT),
        *((f"{name}: {value} more, limit {OPERATION}", float(value) <= OPERATION) for name, value in added.items()),
    ]


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


CLIENT_PAIRS = 10


def report_rows(text):
    """{row: us per operation} of a report of either catime."""
    rows, kind, what = {}, "", ""
    for line in text.splitlines():
        head = re.match(r"(\w+) (?:\w+ )?Test$", line)
        test = re.search(r"### (.*) test ###", line)
        figure = re.match(r"(?:Per Op,|Get Latency - mean =)\s*(\S+) uS", line)
        if head:
            kind, what = (f"{head[1]} ", "") if head[1].startswith("DBR") else ("", head[0].removesuffix(" Test"))
        elif test:
            what = test[1]
        elif figure:
            rows[kind + what] = float(figure[1])
    return rows


def both_clients(bsp, build):
    """Our catime and EPICS's in turn against the image: medians, least and most of each row."""
    clients = programs.Clients(programs.find_clients())
    found = ([], [])
    words = ["ioc:catime", str(CATIME_CHANNELS), "1"]
    try:
        with Machine(bsp, image_of(bsp, build), host.PORTS) as machine:
            machine.boot(600)
            # The first pair warms the image up; who goes first changes each time.
            for number in range(CLIENT_PAIRS + 1):
                for who in (0, 1) if number % 2 else (1, 0):
                    text = clients.run("catime", *words, seconds=600) if who else kit.desk("catime", *words)
                    if number > 0:
                        found[who].append(report_rows(text))
    finally:
        clients.close()
    lines = ["| us per operation | ours | least-most | EPICS's | least-most | ours lies |", "|---|---|---|---|---|---|"]
    for row in found[1][0]:
        cells = []
        sides = [[report[row] for report in side] for side in found]
        for values in sides:
            cells += [f"{statistics.median(values):.4g}", f"{min(values):.4g}-{max(values):.4g}"]
        ours = statistics.median(sides[0])
        place = "ABOVE" if ours > max(sides[1]) else "below" if ours < min(sides[1]) else "within"
        lines.append(f"| {row} | " + " | ".join([*cells, place]) + " |")
    return "\n".join(lines)


def idle(bsp, build):
    """Share of the processor that our tasks take when nobody asks, over 60 s of the guest."""
    with Machine(bsp, image_of(bsp, build), host.PORTS, PACED) as machine:
        machine.boot(600)
        # With the courier, which runs from the application's first process variable on.
        machine.command("selftest pv-creation", 60)
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


# tcpecho's priority is that of the BSP; the plain server gets the same.
PLAIN_ECHO = 4455
ECHO_ROUNDS, ECHO_MEGABYTES = 3, 16


def echoed(port, megabytes):
    """Sends so much to an echo server and takes it back, checked."""
    piece = bytes(range(256)) * 256
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        feeder = threading.Thread(target=lambda: [connection.sendall(piece) for _ in range(16 * megabytes)], daemon=True)
        feeder.start()
        have = 0
        while have < megabytes << 20:
            got = connection.recv(1 << 16)
            if not got or got != (piece + piece)[have % len(piece) :][: len(got)]:
                raise SystemExit(f"port {port}: the echo ends or differs after {have} bytes")
            have += len(got)
        feeder.join()


def echo(bsp, build):
    """Instructions of the whole image per byte echoed: tcpecho, and a plain C server with a buffer of 10 000 bytes."""
    megabytes = ECHO_MEGABYTES if bsp.stack == "libbsd" else 2
    spent = {"tcpecho": [], "plain C": []}
    with Machine(bsp, image_of(bsp, build), [*host.PORTS, ("tcp", PLAIN_ECHO)], PACED) as machine:
        machine.boot(600)
        machine.command(f"plainecho {PLAIN_ECHO} {bsp.config['tasks']['tcpecho']['priority']}", 60)
        # The first round warms both up.
        for number in range(ECHO_ROUNDS + 1):
            for who, port in (("tcpecho", host.ECHO), ("plain C", PLAIN_ECHO)):
                before = busy(machine.command("heapbench time", 60))
                echoed(port, megabytes)
                after = busy(machine.command("heapbench time", 60))
                if number > 0:
                    spent[who].append((after - before) * 1000 / (megabytes << 20))
    lines = [f"{ECHO_ROUNDS} echoes of {megabytes} MB each, in turn; instructions per byte, network stack included"]
    lines += [f"{who:8} {statistics.median(per):6.2f} ({min(per):.2f}-{max(per):.2f})" for who, per in spent.items()]
    ratio = statistics.median(spent["tcpecho"]) / statistics.median(spent["plain C"])
    return "\n".join([*lines, f"ratio    {ratio:6.3f}"])


MEASURES = {"echo": echo, "clients": both_clients, "heap": heap, "searches": searches, "catime": catime, "sets": sets, "idle": idle, "memory": memory}


# Those that have limits.
JUDGES = {"heap": judge_heap}


def main():
    """One measurement of one image; the exit code is 1 when it exceeds a limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtems", required=True)
    parser.add_argument("--build", default="build")
    parser.add_argument("what", choices=sorted(MEASURES))
    parser.add_argument("bsp")
    options = parser.parse_args()
    programs.find_clients()  # while there is a network
    isolate()
    bsp = bsps.select(options.rtems, options.bsp)[0]
    text = MEASURES[options.what](bsp, pathlib.Path(options.build))
    print(f"{bsp.name}: {options.what}\n{text}")
    limits = JUDGES[options.what](text) if options.what in JUDGES else []
    for limit, holds in limits:
        print(f"{'holds' if holds else 'EXCEEDED'}: {limit}")
    return 0 if all(holds for _, holds in limits) else 1


if __name__ == "__main__":
    sys.exit(main())
