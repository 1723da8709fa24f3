# SPDX-License-Identifier: BSD-2-Clause
"""Installed EPICS bases: which one the tests take, and why another is of no use to them.

A base serves when it has the libraries of an IOC for a BSP (lib/RTEMS-<bsp>) and was built for the RTEMS that is asked for.
"""

import os
import pathlib
import re
import subprocess

PLACE = "/opt/epics"
ASK = "include $(TOP)/configure/CONFIG\nprint-rtems:\n\t@echo 'RTEMS $(RTEMS_VERSION) $(RTEMS_BASE)'\n"


def by_version(path):
    """For sorting: 7.0.10 is newer than 7.0.9, and a name without a number is older than all."""
    return [int(number) for number in re.findall(r"\d+", pathlib.Path(path).name)]


def candidates(named, place=PLACE):
    """The bases to look at: the one that was named, on the command line or as EPICS_BASE, and no other; else all, newest first."""
    named = named or os.environ.get("EPICS_BASE")
    if named:
        return [named]
    return sorted((str(path) for path in pathlib.Path(place).glob("base*")), key=by_version, reverse=True)


def rtems_of(base, target):
    """(version, prefix) of the RTEMS that an EPICS target is built for, as its make files say; None when they do not."""
    done = subprocess.run(
        ["make", "-s", "-f", "-", f"TOP={base}", f"T_A={target}", "print-rtems"],
        input=ASK, cwd=base, capture_output=True, text=True, check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith(("RTEMS_", "MAKE", "EPICS_"))},
    )
    found = re.search(r"^RTEMS (\S+) (\S+)$", done.stdout, re.M)
    return (found[1], found[2]) if found else None


def fault(base, bsp, rtems):
    """Why this base is of no use for a BSP of the RTEMS under this prefix; None when it is."""
    target = f"RTEMS-{bsp.bsp}"
    missing = [name for name in ("libCom.a", "libdbCore.a", "libdbRecStd.a") if not pathlib.Path(base, "lib", target, name).exists()]
    if missing:
        return f"it has no lib/{target}/{missing[0]}"
    built = rtems_of(base, target)
    if built is None:
        return f"its make files do not say which RTEMS {target} is for, or that one is gone"
    version, prefix = built
    if os.path.realpath(prefix) != os.path.realpath(rtems) or version != bsp.version:
        return f"its {target} is for RTEMS {version} of {prefix}"
    return None


def choose(named, bsps, rtems, place=PLACE):
    """(base, BSPs that it serves, reasons against the rest); the first candidate that serves any, else (None, [], reasons)."""
    found = candidates(named, place)
    reasons = [] if found else [f"no EPICS base under {place}, and none named (--epics, EPICS_BASE)"]
    for base in found:
        if not pathlib.Path(base, "configure", "CONFIG_BASE").exists():
            reasons.append(f"{base} is no EPICS base")
            continue
        faults = [(bsp, fault(base, bsp, rtems)) for bsp in bsps]
        serves = [bsp for bsp, why in faults if why is None]
        against = [f"{base}: {bsp.name}: {why}" for bsp, why in faults if why]
        if serves:
            return base, serves, against
        reasons += against
    return None, [], reasons
