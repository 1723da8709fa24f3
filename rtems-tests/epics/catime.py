# SPDX-License-Identifier: BSD-2-Clause
"""EPICS's benchmark catime, run on the host against an IOC; its rows as numbers."""

import re
import statistics
import subprocess


def parse(text):
    """{row: microseconds per operation}, with `tries` and `max tries`."""
    rows, group, operation = {}, "", ""
    for line in map(str.strip, text.splitlines()):
        if found := re.match(r"DBR_(\w+) Test$", line):
            group = found[1] + " "
        elif found := re.match(r"### (.*) test ###$", line):
            operation = found[1].strip().replace("synch", "sync")
        elif line.endswith(" Test"):
            names = {"Channel Connect Test": "connect", "Pend Event Test": "pend", "Get Latency Test": "latency"}
            group, operation = "", names.get(line, "free")
        elif found := re.match(r"Per Op,\s*(\S+)", line):
            rows[group + operation] = float(found[1])
        elif found := re.match(r"Get Latency - mean =\s*(\S+)", line):
            rows["latency"] = float(found[1])
        elif found := re.match(r"Search tries per chan - mean =\s*(\S+).* max =\s*(\S+)", line):
            rows["tries"], rows["max tries"] = float(found[1]), float(found[2])
    if "connect" not in rows or "tries" not in rows or "free" not in rows:
        raise AssertionError(f"catime did not come to its end: {text[-500:]}")
    return rows


def run(clients, channels, seconds=900):
    """One run over so many records of their own; None when it has not ended after so many seconds."""
    try:
        return parse(clients.run("catime", "ioc:catime", str(channels), "1", seconds=seconds))
    except subprocess.TimeoutExpired:
        return None


def warm_up(clients):
    """The first searches after a boot wait for ARP, and the server fills its free lists."""
    run(clients, 100)


def median(reports, row):
    """The median of a row over some runs."""
    return statistics.median(report[row] for report in reports)


def spread(reports, row):
    """Least and most of a row over some runs."""
    values = [report[row] for report in reports]
    return min(values), max(values)
