#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The support table of the README from what was built and what `waf test` found.

    table.py [BUILD]             prints it
    table.py --write [BUILD]     puts it into README.md, in the place of the one that is there
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bsp-config" / "tools"))

import bsps  # noqa: E402
import clients  # noqa: E402
import kit  # noqa: E402

HOST_TESTS = {name for name, _test, _slow in clients.TESTS + kit.NETWORK}
# What is neither a self test nor a client's test.
OTHERS = {"boot", "machine"}


def verdict(results):
    """`n passed`, with the failures beside it and how many were skipped; a dash when nothing ran."""
    ran = [result for result in results if result["outcome"] != "skipped"]
    failed = [result["test"] for result in ran if result["outcome"] == "failed"]
    if not ran:
        return "-"
    skipped = len(results) - len(ran)
    text = f"{len(ran) - len(failed)} passed"
    return text + (f", failed: {', '.join(failed)}" if failed else "") + (f", {skipped} skipped" if skipped else "")


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
    if not found["booted"]:
        # What was linked from an installation is no self test.
        return [*cells, "-", "-"]
    cells.append(verdict([r for r in found["results"] if r["test"] not in HOST_TESTS | OTHERS]))
    cells.append(verdict([r for r in found["results"] if r["test"] in HOST_TESTS]))
    return cells


HEADER = "| BSP | builds | links | gates | boots in emulator | selftest | network served |"


def main():
    """The table in Markdown."""
    arguments = sys.argv[1:]
    write = "--write" in arguments
    places = [each for each in arguments if each != "--write"]
    build = pathlib.Path(places[0] if places else "build")
    lines = [HEADER, "|---|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row(name, build)) + " |" for name in bsps.known()]
    table = "\n".join(lines) + "\n"
    if not write:
        print(table, end="")
        return
    readme = ROOT / "README.md"
    text, found = re.subn(rf"{re.escape(HEADER)}\n(?:\|.*\n)*", lambda _: table, readme.read_text(encoding="utf-8"))
    if found != 1:
        sys.exit(f"table: README.md has {found} tables with the header {HEADER}")
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
