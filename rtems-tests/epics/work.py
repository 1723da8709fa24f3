# SPDX-License-Identifier: BSD-2-Clause
"""What the long trials do to an IOC, and what they look at between."""

import re
import time

import catime
import circuit

# More circuits at once than a round has, also when those of the last one are not quite gone.
PEAK = 24
# Bytes: four times what the least block takes on a 32-bit RTEMS.
REMAINDERS = 64
ARRAYS = [4000, 20_000, 50_000, 100_000]


def pool(ioc):
    """Figures of `poolStat -w`: free bytes, free blocks, resyncs, and whether the walk agrees."""
    shown = ioc.command("poolStat -w")
    free = re.search(r"free\s+(\d+) bytes in (\d+) blocks", shown)
    resyncs = re.search(r"(\d+) resyncs, figures by tracker", shown)
    if not free or not resyncs:
        raise AssertionError(f"no tracker: {shown}")
    return int(free[1]), int(free[2]), int(resyncs[1]), "blocks: agrees" in shown


def same_twice(look, agrees=lambda figures: True):
    """What `look()` finds once two looks in a row find the same and `agrees` with it; the last one when that never happens."""
    last = look()
    for _ in range(60):
        time.sleep(2)
        now = look()
        if now == last and agrees(now):
            return now
        last = now
    return last


def tracked(ioc):
    """The tracker's figures, once the circuits are gone and nobody allocates between two looks."""
    return same_twice(lambda: pool(ioc), lambda figures: figures[3])


def walked(ioc):
    """(used blocks, free bytes) by RTEMS's own walk, once nobody allocates between two looks: with the package or without."""
    used, _free_blocks, free, _largest = same_twice(ioc.walk)
    return used, free


def is_back(before, after):
    """Is the free memory where it was? No block may have gone. A block may have kept some bytes of the hole that it came from,
    which were too few for a block of their own."""
    return after[0] <= before[0] and before[1] - after[1] <= REMAINDERS


def one_round(clients, number):
    """catime, large arrays (rsrv's buffers for them grow in place), circuits that come and go, gets and puts."""
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


def warm_up(clients, rounds):
    """Some rounds, and more circuits at once than come later: EPICS's free lists keep what the busiest moment needed."""
    for number in range(rounds):
        one_round(clients, number)
    held = [circuit.Client() for _ in range(PEAK)]
    for number, each in enumerate(held):
        each.read(each.channel(number, f"ioc:catime{number:06}"))
    for each in held:
        each.close()
    time.sleep(10)
    one_round(clients, rounds)
    time.sleep(10)
