#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Long and hard trials of an EPICS IOC with the package in the emulator: a soak, and memory that runs out.

    trials.py --rtems PREFIX --epics BASE --package PREFIX [--minutes 30] soak|exhaustion

soak: catime, writes of large arrays (their buffers grow in place) and clients that come and go, over and over; then the
tracker has to agree with a walk, without a resync, and the free memory has to be where it was, but for what an image
without the package loses by the same work.
exhaustion: memory is taken until less than a megabyte is free; clients that are connected have to be served on, new ones
refused or served, and after the memory came back everything has to be as before. The same with `always` beside it.
"""

import argparse
import re
import sys
import time

import ioc as emulated
import catime
import circuit
import variants

import bsps
import programs as host
from run import isolate

ARRAYS = [4000, 20_000, 50_000, 100_000]
LEAVE = 900_000
WARM_ROUNDS = 5
CONTROL_ROUNDS = 20
# Seconds until the last circuits are gone.
SETTLE = 10


def pool(ioc):
    """Figures of `poolStat -w`: free bytes, free blocks, resyncs, and whether the walk agrees."""
    shown = ioc.command("poolStat -w")
    free = re.search(r"free\s+(\d+) bytes in (\d+) blocks", shown)
    resyncs = re.search(r"(\d+) resyncs, figures by tracker", shown)
    if not free or not resyncs:
        raise AssertionError(f"no tracker: {shown}")
    return int(free[1]), int(free[2]), int(resyncs[1]), "blocks: agrees" in shown


def settled(ioc):
    """The same, once the circuits are gone and nobody allocates between two looks."""
    last = pool(ioc)
    for _ in range(60):
        time.sleep(2)
        now = pool(ioc)
        if now[3] and now[:2] == last[:2]:
            return now
        last = now
    return last


def round_of_work(clients, number):
    """One turn of the soak."""
    catime.run(clients, 1000)
    writer = circuit.Client()
    array = writer.channel(0, "ioc:array")
    for count in ARRAYS:
        writer.write(array, count)
        values = writer.read(array, count)
        if len(values) < count or values[count - 1] != count - 1:
            raise AssertionError(f"{count} values written, not read back")
    others = [circuit.Client() for _ in range(5)]
    for other in others:
        for channel in range(20):
            other.channel(channel, f"ioc:catime{(number * 100 + channel) % 1000:06}")
    for other in [*others, writer]:
        other.close()
    clients.run("caget", "-w", "10", "ioc:catime000000", "ioc:catime000999")
    clients.run("caput", "-w", "10", "ioc:catime000007", str(number))


def worn(ioc, clients, goes_on):
    """Works while `goes_on(rounds)`, after some rounds that fill the free lists; rounds, and bytes less free a round."""
    for number in range(WARM_ROUNDS):
        round_of_work(clients, number)
    time.sleep(SETTLE)
    before, rounds = ioc.walk(), 0
    while goes_on(rounds):
        round_of_work(clients, rounds)
        rounds += 1
        if rounds % 20 == 0:
            print(f"round {rounds}: {' '.join(map(str, ioc.walk()))}", flush=True)
    time.sleep(SETTLE)
    after = ioc.walk()
    print(f"{rounds} rounds: free bytes {before[2]}, then {after[2]}; used blocks {before[0]}, then {after[0]}", flush=True)
    return rounds, (before[2] - after[2]) / rounds


def soak(boot, clients, minutes):
    """Works for so many minutes; the verdict. What an image without the package loses by the same work is not ours."""
    with boot("always") as ioc:
        _, without = worn(ioc, clients, lambda rounds: rounds < CONTROL_ROUNDS)
    print(f"without the package, {CONTROL_ROUNDS} rounds: {without:.0f} bytes less free after each", flush=True)
    with boot("tier-a") as ioc:
        end = time.monotonic() + 60 * minutes
        rounds, lost = worn(ioc, clients, lambda _: time.monotonic() < end)
        last = settled(ioc)
        print(ioc.command("poolStat -w"))
    good = last[3] and last[2] == 0 and lost <= without * 1.05
    print(f"soak: {minutes:g} minutes, {rounds} rounds, {last[2]} resyncs, the walk {'agrees' if last[3] else 'differs'}, "
          f"{lost:.0f} bytes less free after each round: {'passed' if good else 'FAILED'}")
    return good


def outcome(attempt):
    """What a client that comes now meets with."""
    try:
        client = circuit.Client(10)
        value = client.read(client.channel(1, "ioc:catime000001"))
        client.close()
        return f"served ({value[0]:g})"
    except circuit.Refused as why:
        return f"refused: {why}"
    except (OSError, TimeoutError) as why:
        return f"no answer: {why}"


def exhaustion(boot, clients, variant):
    """Fills the heap of one variant; the verdict."""
    with boot(variant) as ioc:
        for number in range(2):
            round_of_work(clients, number)
        before = ioc.walk()
        connected = circuit.Client(20)
        channel = connected.channel(0, "ioc:catime000000")
        filled = ioc.numbers(f"heapFill {LEAVE}", r"(\d+) bytes free, largest (\d+)")
        print(f"{variant}: filled: {filled[0]} bytes free, largest block {filled[1]}")
        met = [outcome(number) for number in range(8)]
        for each in dict.fromkeys(met):
            print(f"{variant}: new clients: {met.count(each)} of {len(met)} {each}")
        served = 0
        for value in range(1, 21):
            connected.write(channel, 1)
            served += len(connected.read(channel))
        print(f"{variant}: the connected client: {served} of 20 reads")
        found = clients.run("caget", "-w", "3", "ioc:catime000002", seconds=60) if met[-1].startswith("served") else ""
        console = ioc.command("epicsThreadSleep 0.1")
        for line in sorted({line for line in console.splitlines() if "CAS" in line or "pool" in line}):
            print(f"{variant}: console: {line.strip()}")
        ioc.command("heapEmpty")
        connected.close()
        time.sleep(3)
        for number in range(2):
            round_of_work(clients, number)
        after = [outcome(number) for number in range(8)]
        print(f"{variant}: after the memory came back: {sum(each.startswith('served') for each in after)} of 8 new clients served")
        time.sleep(5)
        now = ioc.walk()
        print(f"{variant}: free bytes before {before[2]}, after {now[2]}; used blocks {before[0]}, {now[0]} {found.strip()}")
        good = served == 20 and all(each.startswith("served") for each in after)
        if variant == "tier-a":
            figures = settled(ioc)
            print(f"{variant}: {figures[2]} resyncs, walk agrees: {figures[3]}")
            good = good and figures[3] and figures[2] == 0
        print(f"exhaustion, {variant}: {'passed' if good else 'FAILED'}", flush=True)
        return good


def main():
    """One trial; the exit status says how it went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtems", required=True)
    parser.add_argument("--epics", required=True)
    parser.add_argument("--package", required=True)
    parser.add_argument("--arch", default="arm/xilinx_zynq_a9_qemu")
    parser.add_argument("--build", default=str(emulated.ROOT / "build" / "epics"))
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("trial", choices=["soak", "exhaustion"])
    options = parser.parse_args()
    host.find_clients()
    isolate()
    bsp = bsps.select(options.rtems, options.arch)[0]
    where = bsp, options.epics, options.rtems, options.package, options.build

    def boot(variant):
        return emulated.Ioc(bsp, variants.build(variant, *where))

    clients = host.Clients(host.find_clients())
    try:
        if options.trial == "soak":
            good = soak(boot, clients, options.minutes)
        else:
            good = all([exhaustion(boot, clients, variant) for variant in ("tier-a", "always")])
    finally:
        clients.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
