#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The package under a real EPICS base: the example links with the check passing for each target, and runs in the emulator.

    test.py --rtems PREFIX [--epics BASE] [--package PREFIX]

Without --epics it is $EPICS_BASE, or else the newest base under /opt/epics that serves: bases.py. Without --package `waf
install` is run into a folder of its own. What cannot be had is skipped, counted and said loudly, with the reason.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import bases
import ioc as emulated
import variants

import bsps
import programs as host
from boardlib import BuildError
from machine import Machine, MachineError, PortTaken
from report import Report
from run import isolate

ROOT = emulated.ROOT
ECHO = 4445
TCPECHO = ["RTEMS_IOC_TCPECHO=YES"]
NAMES = ["links", "relinks", "is-told-apart", "boots", "records", "memory-records", "poolStat", "tcpecho"]


def installed(folder):
    """Installs the package below a folder; the prefix."""
    waf = shutil.which("waf") or str(ROOT / "target" / "waf" / "bin" / "waf")
    command = [waf, "install", f"--destdir={folder}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise variants.BuildError(f"{shlex.join(command)}:\n{(done.stdout + done.stderr)[-3000:]}")
    return next(pathlib.Path(folder).glob("**/share/rtems-ioc")).parents[1]


def own_copy(package, bsp, folder):
    """What an application takes of the package for a BSP, in a folder of the test's own: its files may be touched."""
    for part in ("share", f"{bsp.triple}/{bsp.bsp}/lib"):
        shutil.copytree(pathlib.Path(package, part), folder / part)
    return folder


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
    base, rtems, package = where
    package = own_copy(package, bsp, folder / "package")
    with_it = variants.example(bsp, base, rtems, package, folder / "with", TCPECHO)
    report.add("links", "passed", "the check is part of the link")
    relinks(bsp, report, (base, rtems, package), folder, with_it)
    without = variants.example(bsp, base, rtems, None, folder / "without")
    status, text = check_image(bsp, without.with_suffix(""))
    right = status == 1 and "is libCom's" in text and "the heap is not hooked" in text
    report.add("is-told-apart", "passed" if right else "failed", "" if right else text[-300:])
    return with_it


def relinks(bsp, report, where, folder, image):
    """A new archive makes a new image, and make does nothing when there is none."""
    first = image.stat().st_mtime_ns
    variants.example(bsp, *where, folder / "with", TCPECHO)
    second = image.stat().st_mtime_ns
    archive = where[2] / bsp.triple / bsp.bsp / "lib" / "librtems_ioc.a"
    now = time.time() + 1  # later than the image, whatever the file system's steps
    os.utime(archive, (now, now))
    variants.example(bsp, *where, folder / "with", TCPECHO)
    fault = "linked again without a cause" if second != first else "a new archive is not linked" if image.stat().st_mtime_ns == second else ""
    report.add("relinks", "failed" if fault else "passed", fault)


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
    if not pathlib.Path(package, bsp.triple, bsp.bsp, "lib", "librtems_ioc_pool.a").exists():
        for name in NAMES:
            report.add(name, "skipped", f"the package is not installed for this BSP under {package}")
        return report
    try:
        image = links(bsp, report, (base, rtems, package), folder)
        emulator = bsp.config.get("emulator", {"command": [""]})["command"][0].format(rtems=rtems)
        if shutil.which(emulator):
            runs(bsp, report, image)
        else:
            report.add("boots", "skipped", f"no emulator for this board ({emulator or 'none'})")
    except PortTaken as why:
        report.add("boots", "skipped", str(why))
    except (variants.BuildError, MachineError, OSError) as why:
        report.add("links or boots", "failed", str(why)[-3000:])
    return report


def skipped(reasons):
    """Nothing could be tested: says so, and counts it."""
    for why in reasons:
        print(f"SKIPPED: EPICS on RTEMS: {why}")
    print(f"EPICS: 0 passed, 0 failed, {len(NAMES)} skipped")
    return 0


def main():
    """Each target that can be had; the exit status is 1 when a test failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtems", required=True)
    parser.add_argument("--epics")
    parser.add_argument("--package")
    options = parser.parse_args()
    host.find_clients()
    isolate()
    try:
        base, chosen, against = bases.choose(options.epics, bsps.select(options.rtems, ""), options.rtems)
    except BuildError as why:
        return skipped([str(why)])
    if base is None:
        return skipped(against)
    for why in against:
        print(f"EPICS: not tested: {why}")
    print(f"EPICS: {base} for {', '.join(bsp.name for bsp in chosen)}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            package = options.package or installed(folder / "root")
        except variants.BuildError as why:
            print(f"EPICS: failed  the package's installation: {why}\nEPICS: 0 passed, 1 failed, 0 skipped")
            return 1
        reports = [test(bsp, base, options.rtems, package, folder / bsp.bsp) for bsp in chosen]
    for report in reports:
        print(report.summary())
    return 1 if any(report.count("failed") for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
