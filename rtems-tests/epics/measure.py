#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures an EPICS IOC by the way it answers "is there enough memory?": builds the example with each, boots it in the
emulator, makes its heap old and drives it with EPICS's own catime from the host.

    measure.py --rtems PREFIX --epics BASE --package PREFIX [--arch arch/bsp] [--what table,curve,searches,cost] ...

| what     | prints                                                                                     |
|----------|--------------------------------------------------------------------------------------------|
| table    | catime for 1000 and 10 000 records, by variant (variants.py says which there are)              |
| curve    | connect time against the number of heap blocks, and draws it (--svg FILE)                    |
| searches | instructions per answered name search (QEMU's -icount: no wall clock in it)                  |
| cost     | instructions per malloc() and free(), size of the image                                      |

The exit status is 1 when a search takes more than 1.03 of what it takes with `always`, ours connects less than 100 times faster
than as shipped, or a channel of ours needs more than one search (verdicts.py).
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import ioc as emulated
import variants
import catime
import chart
import verdicts

import bsps  # noqa: E402  (ioc.py has put its folder on the path)
import programs as host
import wire
from run import isolate

USED, FREE = 50_000, 20_000
COLUMNS = ["connect", "pend", "FLOAT async put", "FLOAT async get", "FLOAT sync get"]
CURVE = ["shipped", "pr866", "tier-b", "tier-a", "always"]
HOLES = [0, 1000, 3000, 10_000, 20_000, 40_000]
COUNTED = ["-icount", "shift=0"]
# As many as there are records.
SEARCHES = 1000


class Bench:
    """The images that were built, and how to boot one."""

    def __init__(self, options):
        self.bsp = bsps.select(options.rtems, options.arch)[0]
        self.options = options
        self.built = {}

    def image(self, variant):
        """The image of a variant, built once."""
        if variant not in self.built:
            where = self.options.epics, self.options.rtems, self.options.package, self.options.build
            self.built[variant] = variants.build(variant, self.bsp, *where)
        return self.built[variant]

    def linked(self, variant):
        """The same as the linker made it."""
        return self.image(variant).with_suffix("")

    def boot(self, variant, extra=(), records=1000):
        """A running IOC."""
        return emulated.Ioc(self.bsp, self.image(variant), extra, records)

    def clients(self):
        """EPICS's clients, by UDP or by a name server's TCP."""
        found = host.Clients(host.find_clients())
        if self.options.tcp:
            found.environment |= {"EPICS_CA_ADDR_LIST": "", "EPICS_CA_NAME_SERVERS": "127.0.0.1:5064"}
        return found


def say(*words):
    """Progress, apart from the result."""
    print(*words, file=sys.stderr, flush=True)


def table(bench):
    """{number of records: {variant: [reports]}}; the variants take turns, round by round."""
    found = {}
    for count in bench.options.channels:
        rows = found[count] = {variant: [] for variant in bench.options.variants}
        for number in range(bench.options.rounds):
            for variant in bench.options.variants:
                with bench.boot(variant, records=count) as ioc:
                    blocks = ioc.fragment(USED, FREE)
                    clients = bench.clients()
                    try:
                        catime.warm_up(clients)
                        for _ in range(bench.options.runs):
                            report = catime.run(clients, count, bench.options.patience)
                            if report is None:
                                say(f"{count} {variant} round {number}: not ended after {bench.options.patience} s")
                                break
                            report["blocks"] = blocks
                            rows[variant].append(report)
                            say(f"{count} {variant} round {number}: blocks {blocks}, connect {report['connect']:.1f} us, "
                                f"tries {report['tries']} ({report['max tries']:.0f})")
                    finally:
                        clients.close()
    return found


def show_table(found):
    """The table in Markdown: medians, and the spread of the rows that matter."""
    print("| us per operation | " + " | ".join(COLUMNS) + " | search tries, mean (max) | heap blocks, used + free |")
    print("|:--|" + "--:|" * (len(COLUMNS) + 2))
    for count, rows in found.items():
        for variant, reports in rows.items():
            if not reports:
                print(f"| {count} records: {variant} | no run ended in time |" + " |" * (len(COLUMNS) + 1))
                continue
            cells = []
            for column in COLUMNS:
                low, high = catime.spread(reports, column)
                middle = catime.median(reports, column)
                cells.append(f"{middle:.4g} ({low:.4g}-{high:.4g})")
            tries = f"{catime.median(reports, 'tries'):.2f} ({max(r['max tries'] for r in reports):.0f})"
            used, free = reports[-1]["blocks"]
            print(f"| {count} records: {variant} | " + " | ".join(cells) + f" | {tries} | {used} + {free} |")
        compare(count, rows)


def compare(count, rows):
    """What the table says of ours against the others."""
    factor, above = verdicts.factor(rows), verdicts.above(rows)
    if factor is not None:
        print(f"\n{count} records: connects {factor:.0f} times faster than as shipped.", end=" ")
    if above is not None:
        names, slower = above
        print(f"Of catime's {len(names)} rows {len(names) - len(slower)} have a median that is not above the slowest run of `always`"
              + (f"; above it are {'; '.join(slower)}" if slower else "") + ".\n")


def curve(bench):
    """{variant: [(heap blocks, connect time per channel)]}."""
    found = {}
    for variant in [name for name in CURVE if name in bench.options.variants]:
        found[variant] = []
        with bench.boot(variant) as ioc:
            clients = bench.clients()
            try:
                catime.warm_up(clients)
                for holes in HOLES:
                    blocks = sum(ioc.fragment(holes * 5 // 2, holes))
                    reports = [catime.run(clients, 1000, bench.options.patience) for _ in range(bench.options.runs)]
                    if None in reports:
                        say(f"curve: {variant}: {blocks} blocks: not ended after {bench.options.patience} s")
                        break
                    found[variant].append((blocks, catime.median(reports, "connect")))
                    say(f"curve: {variant}: {blocks} blocks, connect {found[variant][-1][1]:.1f} us")
            finally:
                clients.close()
    return found


def show_curve(found, bench):
    """The points as a table, the picture as a file."""
    print(chart.table(found, "connect, us per channel", "blocks"))
    if bench.options.svg:
        names = {"shipped": "as shipped", "pr866": "PR 866", "tier-b": "ours, no hooks", "tier-a": "ours", "always": "always yes"}
        title = f"EPICS base on RTEMS, {bench.bsp.name} in QEMU: connect time of 1000 channels by catime"
        curves = {names[variant]: points for variant, points in found.items() if points}
        picture = chart.draw(curves, title, "heap blocks, used and free", "us per channel")
        pathlib.Path(bench.options.svg).write_text(picture, encoding="utf-8")


def searches(bench):
    """{variant: [instructions per answered search]} on the old heap."""
    found = {}
    for variant in bench.options.variants:
        with bench.boot(variant, COUNTED) as ioc:
            blocks = ioc.fragment(USED, FREE)
            wire.search("127.0.0.1", 5064, 200)
            count = SEARCHES // 5 if variant in ("shipped", "pr866") else SEARCHES
            found[variant] = []
            for _ in range(5):
                # What runs anyway, over about the same time.
                quiet = [ioc.busy(), time.sleep(2), ioc.busy()]
                rate = (quiet[2][0] - quiet[0][0]) / (quiet[2][1] - quiet[0][1])
                before = ioc.busy()
                answered = wire.search("127.0.0.1", 5064, count)
                after = ioc.busy()
                host.check(answered, f"{variant}: no search was answered")
                taken = after[0] - before[0] - rate * (after[1] - before[1])
                found[variant].append(taken * 1000 / answered)
            say(f"searches: {variant}: blocks {blocks}, {[round(each) for each in found[variant]]}")
    return found


def show_searches(found):
    """Medians, and their ratio to `always`."""
    print("| variant | instructions per search | of `always` |\n|:--|--:|--:|")
    base = statistics.median(found["always"]) if "always" in found else None
    for variant, values in found.items():
        middle = statistics.median(values)
        ratio = f"{middle / base:.3f}" if base else "-"
        print(f"| {variant} | {middle:.0f} ({min(values):.0f}-{max(values):.0f}) | {ratio} |")


def cost(bench):
    """Instructions of malloc() and free(), and the image's size, without the package and with it."""
    found = {}
    for variant in ("shipped", "tier-a"):
        with bench.boot(variant, COUNTED) as ioc:
            shown = [ioc.command("mallocCost") for _ in range(3)][-1]
            free = ioc.walk()[2]
        size = subprocess.run([bench.bsp.tool("size"), bench.linked(variant)], capture_output=True, text=True, check=True)
        sections = subprocess.run(
            [bench.bsp.tool("size"), "-A", bench.linked(variant)], capture_output=True, text=True, check=True
        ).stdout
        found[variant] = {"malloc": shown.strip(), "size": size.stdout.splitlines()[1], "free bytes": free, "sections": sections}
    return found


def show_cost(found):
    """Both, one under the other."""
    for variant, facts in found.items():
        print(f"{variant}: {facts['malloc']}; text data bss {' '.join(facts['size'].split()[:3])}; {facts['free bytes']} bytes free")


def judge(what, found):
    """Says what is wrong with the figures, and what could not be told; True when nothing is wrong."""
    judged = []
    if what == "searches":
        judged = [("instructions per search", verdicts.searches(found))]
    elif what == "table":
        judged = [(f"{count} records: {name}", test(rows)) for count, rows in found.items()
                  for name, test in (("search tries", verdicts.tries), ("connect time", verdicts.connect))]
    for name, faults in judged:
        if faults is None:
            print(f"NOT JUDGED: {name}: there is nothing to compare")
        for fault in faults or []:
            print(f"FAULT: {name}: {fault}")
    return not any(faults for _, faults in judged)


def main():
    """What was asked for, one after the other; the exit status is 1 when a figure is not what it has to be (verdicts.py)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtems", required=True)
    parser.add_argument("--epics", required=True, help="an EPICS base, built for the target")
    parser.add_argument("--package", required=True, help="where `waf install` has put this package")
    parser.add_argument("--arch", default="arm/xilinx_zynq_a9_qemu")
    parser.add_argument("--build", default=str(emulated.ROOT / "build" / "epics"))
    parser.add_argument("--what", default="searches,table,curve,cost")
    parser.add_argument("--variants", default=",".join(variants.VARIANTS))
    parser.add_argument("--channels", default="1000,10000")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=2, help="runs of catime per boot")
    parser.add_argument("--patience", type=float, default=900, help="seconds that a run of catime may take")
    parser.add_argument("--tcp", action="store_true", help="search by a name server's TCP instead of UDP")
    parser.add_argument("--svg", help="where to draw the curve")
    parser.add_argument("--json", help="where to write every single run")
    options = parser.parse_args()
    host.find_clients()  # while there is a network
    isolate()
    options.variants = options.variants.split(",")
    options.channels = [int(count) for count in options.channels.split(",")]
    bench = Bench(options)
    steps = {
        "searches": (searches, show_searches),
        "table": (table, show_table),
        "curve": (curve, lambda found: show_curve(found, bench)),
        "cost": (cost, show_cost),
    }
    everything, good = {}, True
    for what in options.what.split(","):
        measure, show = steps[what]
        everything[what] = measure(bench)
        show(everything[what])
        good &= judge(what, everything[what])
        sys.stdout.flush()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(everything, indent=1), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
