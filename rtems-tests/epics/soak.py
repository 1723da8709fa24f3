# SPDX-License-Identifier: BSD-2-Clause
"""Rounds of work for a long time: afterwards the tracker agrees with a walk and the free memory is where it was."""

import time

import work

WARM_ROUNDS = 5
CONTROL_ROUNDS = 20
# Seconds until the last circuits are gone.
SETTLE = 10
# The least that a block takes on a 32-bit RTEMS is 16 bytes: a leak of one in two rounds is more than this.
TOLERANCE = 8


def worn(ioc, clients, goes_on):
    """Works while `goes_on(rounds)`, after some rounds that fill the free lists; rounds, (used blocks, free bytes) before
    and after."""
    work.warm_up(clients, WARM_ROUNDS)
    before, rounds = work.walked(ioc), 0
    while goes_on(rounds):
        work.one_round(clients, rounds)
        rounds += 1
        if rounds % 20 == 0:
            used, holes, free, largest = ioc.walk()
            print(f"round {rounds}: {used} used blocks, {free} bytes free in {holes}, the largest {largest}", flush=True)
    time.sleep(SETTLE)
    after = work.walked(ioc)
    print(f"{rounds} rounds: free bytes {before[1]}, then {after[1]}; used blocks {before[0]}, then {after[0]}", flush=True)
    return rounds, before, after


def is_no_worse(lost, without):
    """Does an image with the package lose no more in a round than one without it? Either may gain, too."""
    return lost - max(without, 0) <= TOLERANCE


def soak(boot, clients, minutes, as_is):
    """Works for so many minutes; the verdict. With `as_is` base's own loss is measured, and ours must be no greater."""
    without = 0.0
    if as_is:
        with boot("always") as ioc:
            rounds, before, after = worn(ioc, clients, lambda rounds: rounds < CONTROL_ROUNDS)
            without = (before[1] - after[1]) / rounds
        print(f"without the package, {rounds} rounds: {without:.0f} bytes less free after each", flush=True)
    with boot("tier-a") as ioc:
        end = time.monotonic() + 60 * minutes
        rounds, before, after = worn(ioc, clients, lambda _: time.monotonic() < end)
        last = work.tracked(ioc)
        print(ioc.command("poolStat -w"))
    lost = (before[1] - after[1]) / max(rounds, 1)
    memory = is_no_worse(lost, without) if as_is else work.is_back(before, after)
    good = rounds > 0 and last[3] and last[2] == 0 and memory
    print(f"soak: {minutes:g} minutes, {rounds} rounds, {last[2]} resyncs, the walk {'agrees' if last[3] else 'differs'}, "
          f"{before[1] - after[1]} bytes and {after[0] - before[0]} blocks less free than before, {lost:.1f} bytes a round: "
          f"{'passed' if good else 'FAILED'}")
    return good
