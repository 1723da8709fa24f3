#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Boots each image, runs its self tests over the console and the real clients over its network.

    run.py --rtems PREFIX [--build DIR] [--tests NAME,...] [--quick] arch/bsp...
    run.py --list [arch/bsp...]         the tests that there are, for every BSP of bsp-config when none is named

`waf test` calls it. Each test is passed, failed or skipped; the results also go to build/<variant>/results.json. Where the
system allows it everything runs in namespaces of its own, so that the ports of the image are free and no client or emulator
outlives a runner that is killed.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bsp-config" / "tools"))

import bsps  # noqa: E402
import clients as host  # noqa: E402
import console_tests  # noqa: E402
import expected  # noqa: E402
import installed  # noqa: E402
import kit  # noqa: E402
import lan  # noqa: E402
import programs  # noqa: E402
from boardlib import BuildError  # noqa: E402
from machine import Machine, MachineError, cable  # noqa: E402
from report import Report  # noqa: E402

SCREENS = ROOT / "rtems-tests" / "target" / "screens"
# What the log has to say during a test on the legacy stack, and how often: a shortage once, however long it lasts, and
# its end.
LOGGED = {
    # The size of its buffer is what one read takes.
    "tcpecho-2005": {"received 1000 in 10 reads, sent 1000": 1},
    "descriptors": {"cannot accept a client": 1, "accepting clients again": 1},
    "buffers": {"runs out of buffers": 1, "has buffers again": 1, "cannot accept": 0, "beacon": 0},
}
# The warnings that a test is about; any other one is a fault.
WARNED = {
    "descriptors": ("cannot accept a client", "accepting clients again", "refused: too many circuits"),
    "buffers": ("runs out of buffers", "has buffers again"),
}
# UDP ports of the cable between an image and the host of lan.py.
LAN_HOST, LAN_MACHINE = 24701, 24702
# What differs from image to image or from run to run; log_fault looks at the warnings.
VARIABLE = re.compile(r"^(?:\*\*\* TEST (?:VERSION|BUILD|TOOLS):|- |INFO: |WARN: |\[zone: |err: |info: |warning: |$)")


def isolate():
    """Starts this program again in namespaces of its own for the network and the processes, if that is allowed, and ends with
    it: when this one is killed, the kernel kills whatever runs in there."""
    if os.environ.get("RTEMS_IOC_ISOLATED"):
        return
    missing = [program for program in ("unshare", "ip") if not shutil.which(program)]
    for kind in ("-n", "-rn") if not missing else ():
        command = ["unshare", kind, "--pid", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run([*command, "ip", "link", "set", "lo", "up"], capture_output=True, check=False).returncode == 0:
            # With packets of an Ethernet's size; with larger ones the host takes megabytes of what an image sends.
            again = ["sh", "-c", 'ip link set lo mtu 1500 up; exec "$@"', "sh", sys.executable, *sys.argv]
            guard = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
            inner = subprocess.Popen([*guard, *command, *again], env={**os.environ, "RTEMS_IOC_ISOLATED": "1"})
            # unshare itself does not heed it.
            signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
            try:
                sys.exit(inner.wait())
            finally:
                inner.kill()
    why = f"{' and '.join(missing)} not found" if missing else "the system allows no network namespace"
    print(f"runner: not isolated ({why}): the ports of 127.0.0.1 are shared with every other program here", flush=True)


def compare(shown, screen):
    """The first line that differs from the expected screen, or None."""
    expected = [line for line in screen.read_text(encoding="utf-8").splitlines() if not VARIABLE.match(line)]
    found = [line for line in shown.splitlines() if not VARIABLE.match(line)]
    for number in range(max(len(expected), len(found))):
        want = expected[number] if number < len(expected) else "(nothing)"
        have = found[number] if number < len(found) else "(nothing)"
        if want != have:
            return f"expected '{want}', found '{have}'"
    return None


def log_fault(stack, name, shown):
    """What the log said too often or not often enough, or a warning that is none of the test's; else None."""
    for line in re.findall(r"^WARN: .*", shown, re.M):
        if not any(text in line for text in WARNED.get(name, ())):
            return f"unexpected '{line}'"
    for text, times in LOGGED.get(name, {}).items() if stack == "legacy" or name == "tcpecho-2005" else ():
        if shown.count(text) != times:
            return f"'{text}' was logged {shown.count(text)} times, not {times}"
    return None


def image_of(bsp, build, name="rtems-ioc"):
    """The file that the emulator loads."""
    suffix = {"elf": "exe", "binary": "bin", "bootloader": "boot"}[bsp.config["image"]["form"]]
    return build / bsp.variant / f"{name}.{suffix}"


def add(report, name, fault, figures):
    """A result: failed with its fault, or passed with its figures."""
    report.add(name, "failed" if fault else "passed", fault or figures)


def self_tests(machine, report, wanted, limit):
    """Every test that the sources have for this image, one by one, against its screen."""
    listed = machine.command("selftest -l").split()
    names = expected.self_tests(machine.stack)
    for name in names:
        if wanted and name not in wanted:
            continue
        if name not in listed:
            report.add(name, "failed", "selftest -l does not name it")
            continue
        shown = machine.command(f"selftest {name}", limit)
        body = re.search(r"\*\*\* BEGIN OF TEST.*?(?=\nselftest: )", shown, re.S)
        screen = SCREENS / f"{name}.scn"
        if not screen.exists():
            report.add(name, "failed", f"no expected screen {screen.name}")
            continue
        difference = compare(body[0] if body else shown, screen) or log_fault(machine.stack, name, shown)
        figures = "; ".join(line[2:] for line in shown.splitlines() if line.startswith("- "))
        add(report, name, difference, figures)
    for name in listed:
        if name not in names:
            report.add(name, "failed", "the image has a test that the sources do not list")


def pool_images(bsp, report, build):
    """The images of the pool archive alone: linked with the --wrap flags the tracker answers, without them the search."""
    for name, how in expected.POOL_IMAGES.items():
        image = image_of(bsp, build, name)
        try:
            with Machine(bsp, image) as machine:
                machine.load()
                shown = machine.until(rb"END OF TEST IOC pool-image|FAILED", 120)
            right = "END OF TEST" in shown and f"answers by {how}" in shown
            report.add(name, "passed" if right else "failed", "" if right else shown[-200:])
        except MachineError as why:
            report.add(name, "failed", str(why)[-300:])


def lease(bsp, report, build):
    """An address by DHCP, and the time from the server that DHCP names, on a network with a host of our own."""
    name = "dhcp-time"
    options = ""
    if bsp.config["network"]["address"] != "dhcp":
        if not bsp.config["emulator"].get("wake"):
            report.add(name, "skipped", "this image has its address from bsp-config, and no boot loader to tell it otherwise")
            return
        # The boot loader that waits for a key takes options, which come after those that it has.
        options = " --ip=dhcp"
    # The legacy stack's client takes a time server, but does not ask for it.
    legacy = bsp.stack == "legacy"
    with lan.Host(LAN_HOST, LAN_MACHINE, unasked=legacy) as host_there:
        with Machine(bsp, image_of(bsp, build), network=cable(LAN_MACHINE, LAN_HOST), label=".lan") as machine:
            shown = machine.boot(options=options)
            clock = machine.command("clock")
    right = f"{lan.IMAGE} (DHCP)" in shown and f"clock set by SNTP from {lan.HOST}" in shown and "UTC, set" in clock
    right = right and {"dhcp" if legacy else "dhcp for ntp", "ntp"} <= host_there.asked
    report.add(name, "passed" if right else "failed", clock.strip() if right else f"{host_there.asked}: {shown[-200:]}")


def host_tests(tests, machine, report, wanted, quick):
    """Tests that talk to the image from the host."""
    clients = programs.Clients(programs.find_clients())
    for name, test, slow in tests:
        if wanted and name not in wanted:
            continue
        if quick and slow:
            report.add(name, "skipped", "takes minutes: left out by --quick")
            continue
        try:
            report.add(name, "passed", test(clients, machine) or "")
        except programs.Skip as why:
            report.add(name, "skipped", str(why))
        except Exception as why:  # whatever it is, the other tests and the summary are to follow
            report.add(name, "failed", f"{type(why).__name__}: {' '.join(str(why).split())[-300:]}")
    clients.close()


def skip_all(report, bsp, wanted, why):
    """Each test that would have run in the emulator is a skipped one."""
    for name in expected.emulated(bsp.stack):
        if not wanted or name in wanted | {"boot"}:
            report.add(name, "skipped", why)


def run_image(bsp, build, wanted, quick):
    """Boots one image and runs what there is to run."""
    report = Report(bsp.name)
    facts = {"booted": False, "network": bsp.stack}
    image = image_of(bsp, build)
    lacking = bsp.emulator_lacks()
    if "emulator" not in bsp.config:
        report.add("boot", "skipped", "no emulator for this board")
    elif lacking:
        skip_all(report, bsp, wanted, lacking)
    elif not image.exists():
        report.add("boot", "failed", f"{image} is missing: run waf first")
    else:
        ports = host.PORTS if bsp.stack != "none" else ()
        try:
            with tempfile.TemporaryDirectory() as folder, Machine(bsp, image, ports, tftp=folder) as machine:
                shown = machine.boot()
                facts["booted"] = True
                report.add("boot", "passed", " ".join(re.findall(r"network: .*", shown)).strip())
                # psim's clock goes by its own instructions.
                if bsp.stack != "none" and (not wanted or "clock" in wanted):
                    add(report, "clock", *console_tests.clock(machine, shown))
                self_tests(machine, report, wanted, bsp.config["emulator"]["time_limit"])
                networked = host.TESTS + kit.NETWORK if bsp.stack != "none" else []
                host_tests(kit.CONSOLE + networked, machine, report, wanted, quick)
                if not wanted or "stacks" in wanted:
                    add(report, "stacks", *console_tests.stacks(machine))
                host_tests(kit.LAST, machine, report, wanted, quick)
            if not wanted or wanted & {"pool-tracker", "pool-search"}:
                pool_images(bsp, report, build)
            if bsp.stack != "none" and (not wanted or "dhcp-time" in wanted):
                lease(bsp, report, build)
        except (MachineError, OSError) as why:
            report.add("machine", "failed", str(why)[:400])
    if not wanted or wanted & set(installed.PROGRAMS):
        installed.tests(bsp, report, build)
    report.write(build / bsp.variant / "results.json", facts)
    return report


def check_names(wanted, configs):
    """Raises when a test is asked for that none of these BSPs has."""
    there = dict.fromkeys(name for config in configs.values() for name in expected.tests(config))
    unknown = sorted(wanted - set(there))
    if unknown:
        raise BuildError(f"--tests: {', '.join(configs)} has no test {', '.join(unknown)}; there are: {', '.join(there)}")


def list_tests(names):
    """Prints `arch/bsp test` for each test; needs no RTEMS."""
    for name, path in bsps.known().items():
        if not names or name in names:
            for test in expected.tests(tomllib.loads(path.read_text(encoding="utf-8"))):
                print(name, test)
    return 0


def main():
    """Every image named; the exit code is 1 when a test failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtems")
    parser.add_argument("--build", default="build")
    parser.add_argument("--tests", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("bsps", nargs="*")
    options = parser.parse_args()
    if options.list:
        return list_tests(options.bsps)
    if not options.rtems or not options.bsps:
        parser.error("give --rtems=PREFIX and the BSPs, or --list")
    wanted = {name for name in options.tests.split(",") if name}
    try:
        chosen = bsps.select(options.rtems, ",".join(options.bsps))
        check_names(wanted, {bsp.name: bsp.config for bsp in chosen})
    except BuildError as error:
        print(f"runner: {error}", file=sys.stderr)
        return 2
    programs.find_clients()  # while there is a network
    isolate()
    reports = [run_image(bsp, pathlib.Path(options.build), wanted, options.quick) for bsp in chosen]
    for report in reports:
        print(report.summary())
    return 1 if any(report.count("failed") for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
