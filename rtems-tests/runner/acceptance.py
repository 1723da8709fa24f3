# SPDX-License-Identifier: BSD-2-Clause
"""EPICS's own acceptance test of Channel Access against an image."""

import re

from programs import check

# What it prints when a check goes another way than expected, although it goes on.
COMPLAINT = re.compile(r".*(?:failed|Unusual|[sS]trange|didnt|[sS]kipped|skipping).*")


# How it tells of a check that failed; its thread then stops for ever.
ASSERTION = "A call to 'assert("
# The one check that is about the client's own timer, to a tenth of 0.1 s: on a busy host it may fail whatever the server.
OWN_TIMER = "fabs(accuracy) < 10.0"
ATTEMPTS = 3


def acctst(clients, machine):
    """acctst completes, with nothing skipped, and through a restart of the server."""
    for attempt in range(1, ATTEMPTS + 1):
        with clients.watch("acctst", "ioc:catime", "1", "200", "1") as test:
            test.wait_for("force test channel to disconnect", 300)
            machine.command("casrv stop")
            machine.command("casrv start")
            test.wait_until(lambda text: "Test Complete" in text or ASSERTION in text, "end", 900)
            if ASSERTION in test.text:
                test.wait_for("failed in", 30)
                if OWN_TIMER in test.text and attempt < ATTEMPTS:
                    continue
            complaints = COMPLAINT.findall(test.text)
            check(not complaints, complaints)
            check(test.process.wait(60) == 0, f"exit {test.process.returncode}")
            return
