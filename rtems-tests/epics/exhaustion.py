# SPDX-License-Identifier: BSD-2-Clause
"""Memory runs out: who is connected is served on, who comes is refused politely, and afterwards all is as before.

What rsrv does when there is no memory, and what of it the pool's answer decides:

| a client                | rsrv                                                   | decided by                               |
|-------------------------|--------------------------------------------------------|------------------------------------------|
| searches by UDP         | does not answer: the client goes on searching          | the pool's answer, unless free lists have room |
| searches over a circuit | an error, ECA_ALLOCMEM                                 | the same                                 |
| connects                | closes the connection, and looks again after 15 s      | the stacks of two tasks, about 1.6 MB     |
| is connected            | reads and writes need no memory                        |                                          |

A client takes two tasks: one with a stack of 512 kB, which can still be had in the first stage, and one of 1 MB, which cannot.
(Where the first one cannot be had, base loses about 120 bytes for each client that it refuses.)

So below a megabyte everybody who connects is refused, whatever the pool's answer is; below the reserve nobody is told any more
that the server is here, if the answer is right. An answer that is always "yes" goes on to invite clients.
"""

import time

import circuit
import wire
import work

# What is left free: too little for a task's stack, and less than the pool's reserve of 50 000 bytes.
STAGES = [("below 1 MB", 900_000), ("below the reserve", 45_000)]
SEARCHES = 20
NEWCOMERS = 3
READS = 20
# rsrv waits 15 s after it has refused somebody, and whoever comes meanwhile waits with it.
PATIENCE = 25


def outcome(name="ioc:catime000001"):
    """What a client that comes now meets with: served, refused, or no answer."""
    try:
        client = circuit.Client(PATIENCE)
        try:
            client.read(client.channel(1, name))
        finally:
            client.close()
        return "served"
    except (circuit.Refused, ConnectionError):
        return "refused"
    except TimeoutError:
        return "no answer"


def circuit_search(client, name="ioc:catime000002"):
    """What a search over an open circuit meets with."""
    client.socket.sendall(wire.message(wire.SEARCH, name.encode() + b"\0", 10, wire.MINOR, 99, 99))
    try:
        client.wait_for(wire.SEARCH)
        return "answered"
    except circuit.Refused:
        return "refused"


def stage(ioc, variant, title, leave, client, newcomers):
    """Fills the heap and tries everything; what is not as it should be. `client` is a circuit with its channel."""
    connected, channel = client
    free, largest = ioc.numbers(f"heapFill {leave}", r"(\d+) bytes free, largest (\d+)")
    print(f"{variant}, {title}: {free} bytes free, the largest block {largest}", flush=True)
    answered = wire.search("127.0.0.1", 5064, SEARCHES)
    over_circuit = circuit_search(connected)
    print(f"{variant}, {title}: {answered} of {SEARCHES} searches by UDP answered, one over a circuit {over_circuit}")
    met = [outcome() for _ in range(newcomers)]
    print(f"{variant}, {title}: new clients: {', '.join(met)}")
    served = 0
    for _ in range(READS):
        connected.write(channel, 1)
        served += len(connected.read(channel))
    print(f"{variant}, {title}: the connected client: {served} of {READS} reads", flush=True)
    log = ioc.command("epicsThreadSleep 0.1")
    for line in sorted({line.strip() for line in log.splitlines() if "CAS" in line or "pool" in line}):
        print(f"{variant}, {title}: console: {line}")
    found = {"free": free, "largest": largest, "searches": answered, "circuit": over_circuit, "met": met, "served": served}
    return [f"{title}: {each}" for each in faults(variant, found)]


def faults(variant, found):
    """What of a stage is not as it should be."""
    # The pool's answer: no, when the largest block is not more than the reserve.
    invites = variant == "always" or found["largest"] > 60_000
    wrong = [] if found["free"] < 1_000_000 else [f"{found['free']} bytes are free"]
    wrong += [] if found["searches"] == (SEARCHES if invites else 0) else [f"{found['searches']} of {SEARCHES} searches answered"]
    wrong += [] if found["circuit"] == ("answered" if invites else "refused") else [f"a search over a circuit {found['circuit']}"]
    wrong += [] if found["met"] and set(found["met"]) == {"refused"} else [f"new clients: {found['met']}"]
    wrong += [] if found["served"] == READS else [f"{found['served']} of {READS} reads"]
    return wrong


def turn(ioc, clients, variant, newcomers):
    """Both stages and the memory given back; what is not as it should be, and (used blocks, free bytes) in the end."""
    connected = circuit.Client(20)
    channel = connected.channel(0, "ioc:catime000000")
    wrong = []
    for title, leave in STAGES:
        wrong += stage(ioc, variant, title, leave, (connected, channel), newcomers)
    ioc.command("heapEmpty")
    connected.close()
    # Until rsrv looks again.
    time.sleep(16)
    after = [outcome() for _ in range(8)]
    print(f"{variant}: after the memory came back: {after.count('served')} of 8 new clients served")
    wrong += [] if after == ["served"] * 8 else [f"after the memory came back: {after}"]
    for number in range(2):
        work.one_round(clients, number)
    time.sleep(5)
    return wrong, work.walked(ioc)


def exhaustion(boot, clients, variant):
    """Two turns for one variant; the verdict. What the first one costs for good is what rsrv and the network take when they are
    short for the first time; the second one may cost nothing."""
    with boot(variant) as ioc:
        work.warm_up(clients, 3)
        fresh = work.walked(ioc)
        wrong, before = turn(ioc, clients, variant, NEWCOMERS)
        print(f"{variant}: the first turn took {fresh[1] - before[1]} bytes, {before[0] - fresh[0]} blocks for good", flush=True)
        again, now = turn(ioc, clients, variant, NEWCOMERS)
        wrong += again
        print(f"{variant}: free bytes before the second turn {before[1]}, after {now[1]}; used blocks {before[0]}, {now[0]}")
        wrong += [] if work.is_back(before, now) else [f"{before[1] - now[1]} bytes less free than before"]
        wrong += [] if fresh[1] - before[1] < 4096 else [f"{fresh[1] - before[1]} bytes gone after the first turn"]
        if variant == "tier-a":
            figures = work.tracked(ioc)
            print(f"{variant}: {figures[2]} resyncs, the walk {'agrees' if figures[3] else 'differs'}")
            wrong += [] if figures[3] and figures[2] == 0 else ["the tracker does not agree with the walk, or counted anew"]
    for each in wrong:
        print(f"{variant}: WRONG: {each}")
    print(f"exhaustion, {variant}: {'FAILED' if wrong else 'passed'}", flush=True)
    return not wrong
