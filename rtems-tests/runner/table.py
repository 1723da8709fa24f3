#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints the support table of the README from what was built and what `waf test` found: table.py [BUILD]."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bsp-config" / "tools"))

import bsps  # noqa: E402
import clients  # noqa: E402

HOST_TESTS = {name for name, _test, _slow in clients.TESTS}
# What is neither a self test nor a client's test.
OTHERS = {"boot", "machine"}


def verdict(results):
    """`n passed`, with the failures beside it; a dash when nothing ran."""
    ran = [result for result in results if result["outcome"] != "skipped"]
    failed = [result["test"] for result in ran if result["outcome"] == "failed"]
    if not ran:
        return "-"
    return f"{len(ran) - len(failed)} passed" + (f", failed: {', '.join(failed)}" if failed else "")


def row(name, build):
    """One BSP; a dash where nothing is known on this machine."""
    arch, bsp = name.split("/")
    folder = next(iter(sorted(build.glob(f"{arch}-rtems*-{bsp}"))), None)
    yes = [folder is not None and (folder / file).exists() for file in ("librtems_ioc.a", "rtems-ioc.exe", "gates.ok")]
    cells = [name, *("yes" if each else "-" for each in yes)]
    results = folder / "results.json" if folder else None
    if results is None or not results.exists():
        return [*cells, "-", "-", "-"]
    found = json.loads(results.read_text(encoding="utf-8"))
    cells.append("yes" if found["booted"] else "-")
    cells.append(verdict([r for r in found["results"] if r["test"] not in HOST_TESTS | OTHERS]))
    cells.append(verdict([r for r in found["results"] if r["test"] in HOST_TESTS]))
    return cells


def main():
    """The table in Markdown."""
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    print("| BSP | builds | links | gates | boots in emulator | selftest | from the host |")
    print("|---|---|---|---|---|---|---|")
    for name in bsps.known():
        print("| " + " | ".join(row(name, build)) + " |")


if __name__ == "__main__":
    main()
