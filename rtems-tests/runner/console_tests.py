# SPDX-License-Identifier: BSD-2-Clause
"""Tests of an image that are seen from its console: does its clock run right, do its tasks have stack enough."""

import re
import time

# This package's tasks: what they are in [tasks] of bsp-config, and what the kernel calls them.
OWN_TASKS = {"init": "UI1", "shell": "SHLL", "server": "CAsr", "tcpecho": "tcpe", "sntp": "SNTP", "courier": "cour"}
# Of all of them together.
STACK_BYTES = 64 << 10


def guest_seconds(machine):
    """Time since the guest's boot."""
    return int(re.search(r"(\d+) us, idle", machine.command("heapbench time"))[1]) / 1e6


def clock(machine, boot):
    """The guest's clock keeps step with the host's: it ticks, and no faster. Returns (fault, figures).

    RTEMS 6 may have started no clock on motorola_powerpc: then the image says that it did. With the option
    CLOCK_DRIVER_USE_FAST_IDLE an idle guest's clock runs about nine times too fast, and with it every timeout.
    """
    guest, host = guest_seconds(machine), time.monotonic()
    time.sleep(2)
    rate = (guest_seconds(machine) - guest) / (time.monotonic() - host)
    who = "the image" if "has not started the clock" in boot else "RTEMS"
    figures = f"{rate:.2f} of the host's, started by {who}"
    if "does not tick" in boot or rate < 0.2:
        return f"the clock does not run: {figures}", figures
    if rate > 2:
        return f"too fast ({figures}): was RTEMS built with CLOCK_DRIVER_USE_FAST_IDLE?", figures
    return None, figures


def stacks(machine):
    """No task of ours has ever used half of its stack, by RTEMS's stack checker. Returns (fault, figures)."""
    # The courier runs from the application's first process variable on.
    machine.command("selftest pv-creation")
    return judge_stacks(machine.command("stackuse"), machine.stack)


def judge_stacks(shown, network):
    """The same of what the command stackuse has shown."""
    used = re.findall(r"^0x\w+ (\w+) .* (\d+) +(\d+)\s*$", shown, re.M)
    own = [(name, int(size), int(most)) for name, size, most in used if name in OWN_TASKS.values()]
    together = sum(size for _, size, _ in own)
    figures = ", ".join(f"{name} {most} of {size}" for name, size, most in own) + f", together {together}"
    expected = set(OWN_TASKS.values()) if network != "none" else {"UI1", "SHLL", "cour"}
    missing = expected - {name for name, _, _ in own}
    if missing:
        return f"not in the list: {', '.join(sorted(missing))} ({figures})", figures
    if together > STACK_BYTES:
        return f"more than {STACK_BYTES} bytes of stacks ({figures})", figures
    tight = [name for name, size, most in own if 2 * most >= size]
    return (f"more than half used: {', '.join(tight)} ({figures})" if tight else None), figures
