# SPDX-License-Identifier: BSD-2-Clause
"""What measure.py's figures have to be: each function gives the faults that it finds in them, or (None) that it cannot tell."""

import statistics

import catime

# Instructions per answered search, against a server that always says yes.
MOST_OF_ALWAYS = 1.03
# Connect time with libCom as shipped against ours, on an old heap.
LEAST_FACTOR = 100
# The mean over a run's channels, as catime rounds it in a table: 1.0.
MOST_TRIES = 1.05
# Not times per operation.
NO_TIMES = ("blocks", "tries", "max tries")


def searches(found):
    """Of {variant: [instructions per search]}; None without both ours and `always`."""
    if not found.get("tier-a") or not found.get("always"):
        return None
    ratio = statistics.median(found["tier-a"]) / statistics.median(found["always"])
    return [f"a search takes {ratio:.3f} of `always`, more than {MOST_OF_ALWAYS}"] if ratio > MOST_OF_ALWAYS else []


def tries(rows):
    """Of one table's {variant: [reports]}: ours is found at the first search; None when it was not asked for."""
    if "tier-a" not in rows:
        return None
    if not rows["tier-a"]:
        return ["no run with ours has ended"]
    mean = catime.median(rows["tier-a"], "tries")
    return [f"{mean:.2f} searches for a channel, not 1.0"] if mean >= MOST_TRIES else []


def factor(rows):
    """How many times faster ours connects than as shipped; None without runs of both."""
    if not rows.get("tier-a") or not rows.get("shipped"):
        return None
    return catime.median(rows["shipped"], "connect") / catime.median(rows["tier-a"], "connect")


def connect(rows):
    """Of one table: ours connects that much faster; None when there is no factor."""
    times = factor(rows)
    if times is None:
        return None
    return [f"connects {times:.0f} times faster than as shipped, not {LEAST_FACTOR}"] if times < LEAST_FACTOR else []


def above(rows):
    """(rows of catime, those whose median with ours is above the slowest run of `always`); None without both.

    Told, not judged: of 16 rows that differ by nothing but chance one may well be above in so few runs.
    """
    ours, always = rows.get("tier-a"), rows.get("always")
    if not ours or not always:
        return None
    names = [name for name in always[0] if name not in NO_TIMES]
    slower = []
    for name in names:
        middle, (_, most) = catime.median(ours, name), catime.spread(always, name)
        if middle > most:
            slower.append(f"{name} {middle:.4g}, `always` at most {most:.4g}")
    return names, slower
