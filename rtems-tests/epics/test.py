#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The package under a real EPICS base: the example links with the check passing for each target, and runs in the emulator.

    test.py --rtems PREFIX [--epics BASE] [--package PREFIX]

BASE is $EPICS_BASE or the newest under /opt/epics; it has to be built for RTEMS targets. Without --package `waf install` is
run into a folder of its own. What is missing is skipped, and said loudly.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import ioc as emulated
import variants

import bsps
import programs as host
from machine import Machine, MachineError
from report import Report
from run import isolate

ROOT = emulated.ROOT
ECHO = 4445
NAMES = ["links", "is-told-apart", "boots", "records", "memory-records", "poolStat", "tcpecho"]


def find_base(named):
    """The EPICS base that was named, or one that is where such things are; None without."""
    found = [named, os.environ.get("EPICS_BASE"), *sorted(map(str, pathlib.Path("/opt/epics").glob("base*")), reverse=True)]
    return next((each for each in found if each and pathlib.Path(each, "configure", "CONFIG_BASE").exists()), None)


def targets(base, chosen):
    """The BSPs among `chosen` for which this base has the libraries of an IOC."""
    return [bsp for bsp in chosen if pathlib.Path(base, "lib", f"RTEMS-{bsp.bsp}", "libdbRecStd.a").exists()]


def installed(folder):
    """Installs the package below a folder; the prefix."""
    waf = shutil.which("waf") or str(ROOT / "target" / "waf" / "bin" / "waf")
    subprocess.run([waf, "install", f"--destdir={folder}"], cwd=ROOT, check=True, capture_output=True)
    return next(pathlib.Path(folder).glob("**/share/rtems-ioc")).parents[1]


def check_image(bsp, image):
    """(exit status, text) of check-image."""
    done = subprocess.run(
        ["sh", ROOT / "epics" / "check-image", image],
        env={**os.environ, "NM": bsp.tool("nm")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def links(bsp, report, where, folder):
    """The example with the package and without; what runs is returned."""
    with_it = variants.example(bsp, *where, folder / "with", ["RTEMS_IOC_TCPECHO=YES"])
    report.add("links", "passed", "the check is part of the link")
    without = variants.example(bsp, where[0], where[1], None, folder / "without")
    status, text = check_image(bsp, without.with_suffix(""))
    right = status == 1 and "is libCom's" in text and "the heap is not hooked" in text
    report.add("is-told-apart", "passed" if right else "failed", "" if right else text[-300:])
    return with_it


def value(clients, name):
    """A record's value as a number."""
    return float(clients.run("caget", "-t", "-w", "10", name))


def records(clients, _machine):
    """The IOC serves and takes values."""
    clients.run("caput", "-w", "10", "example:ao", "2.5")
    host.check(value(clients, "example:ai") == 42 and value(clients, "example:ao") == 2.5, "wrong values")


def memory_records(clients, machine):
    """iocStats's memory records are the tracker's figures."""
    free, largest = value(clients, "example:MEM_FREE"), value(clients, "example:MEM_BLK")
    total, used = value(clients, "example:MEM_MAX"), value(clients, "example:MEM_USED")
    shown = machine.command("poolStat")
    now = float(re.search(r"free\s+(\d+) bytes", shown)[1])
    # A record is up to ten seconds old, and a client's circuit takes memory in between.
    host.check(abs(free - now) < 4e6 and largest <= free and abs(free + used - total) < 4e6, f"{free} {largest} {used} {total}: {shown}")
    return f"MEM_FREE {free:.0f}, MEM_BLK {largest:.0f}"


def pool_stat(_clients, machine):
    """The tracker is at work, and a walk finds the same."""
    for _ in range(10):
        shown = machine.command("poolStat -w")
        if "blocks: agrees" in shown:
            break
    host.check("blocks: agrees" in shown and "0 resyncs, figures by tracker" in shown and "heapSpace" in shown, shown)
    host.check("usage: poolStat" in machine.command("poolStat x"), "a wrong argument is taken")
    return " ".join(re.search(r"free +\d.*", shown)[0].split())


def tcpecho(_clients, machine):
    """tcpecho starts from iocsh, echoes and stops."""
    shown = machine.command("tcpecho start")
    host.check(f"listening on 0.0.0.0:{ECHO}" in shown, shown)
    with socket.create_connection(("127.0.0.1", ECHO), timeout=20) as connection:
        connection.sendall(b"rtems-ioc" * 100)
        got = b""
        while len(got) < 900:
            piece = connection.recv(1000)
            host.check(piece, "the connection ended")
            got += piece
    host.check(got == b"rtems-ioc" * 100, "other bytes came back")
    host.check("1 served" in machine.command("tcpecho"), "not counted")
    host.check("stopped" in machine.command("tcpecho stop"), "does not stop")


TESTS = [("records", records), ("memory-records", memory_records), ("poolStat", pool_stat), ("tcpecho", tcpecho)]


def runs(bsp, report, image):
    """Boots the image and runs the tests in it."""
    with Machine(bsp, image, [*emulated.PORTS, ("tcp", ECHO)]) as machine:
        machine.command = lambda line, seconds=120: emulated.Ioc.command(machine, line, seconds)
        if machine.wake:
            machine.until(rb"load:", 120)
            machine.send(machine.wake)
        machine.until(emulated.PROMPT, 300)
        report.add("boots", "passed")
        clients = host.Clients(host.find_clients())
        with contextlib.closing(clients):
            for name, test in TESTS:
                try:
                    report.add(name, "passed", test(clients, machine) or "")
                except host.Skip as why:
                    report.add(name, "skipped", str(why))
                except (AssertionError, OSError, subprocess.SubprocessError, MachineError) as why:
                    report.add(name, "failed", " ".join(str(why).split())[-400:])


def test(bsp, base, rtems, package, folder):
    """Everything for one BSP."""
    report = Report(f"EPICS, {bsp.name}")
    try:
        image = links(bsp, report, (base, rtems, package), folder)
        emulator = bsp.config.get("emulator", {"command": [""]})["command"][0].format(rtems=rtems)
        if shutil.which(emulator):
            runs(bsp, report, image)
        else:
            report.add("boots", "skipped", f"no emulator for this board ({emulator or 'none'})")
    except (variants.BuildError, MachineError, OSError) as why:
        report.add("links or boots", "failed", str(why)[-1500:])
    return report


def main():
    """Each target that can be had; the exit status is 1 when a test failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtems", required=True)
    parser.add_argument("--epics")
    parser.add_argument("--package")
    options = parser.parse_args()
    host.find_clients()
    isolate()
    base = find_base(options.epics)
    chosen = targets(base, bsps.select(options.rtems, "")) if base else []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package = options.package or (installed(folder / "root") if chosen else None)
        chosen = [bsp for bsp in chosen if pathlib.Path(package, bsp.triple, bsp.bsp, "lib", "librtems_ioc_pool.a").exists()]
        if not chosen:
            why = f"{base} is not built for a BSP of this package" if base else "no EPICS base (EPICS_BASE=...)"
            print(f"SKIPPED: EPICS on RTEMS: {why}\nEPICS: 0 passed, 0 failed, {len(NAMES)} skipped")
            return 0
        reports = [test(bsp, base, options.rtems, package, folder / bsp.bsp) for bsp in chosen]
    for report in reports:
        print(report.summary())
    return 1 if any(report.count("failed") for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
