# SPDX-License-Identifier: BSD-2-Clause
"""The diagnosis kit on an image: tcpecho's media, netcheck, catime in each direction, rtex and spy.

The desk side is this package's program for the host: RTEMS_IOC_PROGRAM names it, or cargo has built it under target/.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import threading

import programs
from programs import Skip, check

ECHO = 4445
# Where the image finds this host, and a port for a server on it: that of the image is taken by QEMU.
GATEWAY, HOST_PORT = "10.0.2.2", 5164
ROWS = 15
RTEX_LINES = [f"testfunc_malloc ({n})" for n in range(4)] + [f"testfunc_deepstack ({n})" for n in range(4)]
RTEX_LINES += ["main setup", "touch_cold_cache (0)", "touch_warm_cache (1)", "heap_search (0)", "heap_search (1)"]


def program():
    """The package's program for this host."""
    named = os.environ.get("RTEMS_IOC_PROGRAM")
    target = programs.ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    built = [target / kind / "rtems-ioc" for kind in ("release", "debug")]
    found = [named] if named else [str(path) for path in built if path.exists()]
    if not found:
        raise Skip("no program for the host: cargo build --release")
    return found[0]


def desk(*words, ok=(0,), seconds=600):
    """Runs the program against the image; what it printed on standard output."""
    environment = {**os.environ, "EPICS_CA_ADDR_LIST": "127.0.0.1", "EPICS_CA_AUTO_ADDR_LIST": "NO"}
    done = subprocess.run(
        [program(), *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
    )
    check(done.returncode in ok, f"{' '.join(words)}: exit {done.returncode}: {(done.stdout + done.stderr)[-300:]}")
    return done.stdout


def per_operation(text):
    """Microseconds per operation of each row of a report, all of which must be there."""
    rows = [float(row) for row in re.findall(r"Per Op,\s*(\S+) uS", text)]
    check(len(rows) == ROWS and "Get Latency - mean" in text, f"{len(rows)} rows: {text[-300:]}")
    check("Search tries per chan" in text and "Free Channel Test" in text, text[-300:])
    return rows


def media(_clients, machine):
    """tcpecho says what the driver tells of the cable, or that it does not."""
    text = machine.command("tcpecho status")
    shown = re.findall(r"^(\w+) +media: (.*)$", text, re.M)
    told = r"the driver does not tell|no link|(\d+ Mbit/s|unknown speed), (full|half|unknown) duplex(, \w[\w ]+)?"
    check(shown and all(re.fullmatch(told, words) for _, words in shown), text)
    return "; ".join(f"{name}: {words}" for name, words in shown)


def netcheck(_clients, machine):
    """netcheck measures the image: nothing is changed on the way, every size is answered, and there is a verdict."""
    # What QEMU's network does to a rate is no fault of the image: 1 is "a fault was found".
    found = json.loads(desk("netcheck", "127.0.0.1", "--json", "--quiet", "--limit", "60", ok=(0, 1)))
    measured = found["measurements"]
    flows = {way: measured[way] for way in ("out", "in", "both")}
    wrong = [way for way, flow in flows.items() if flow["wrong_at"] is not None or flow["bytes"] == 0]
    check(not wrong and measured["failures"] == 0, f"wrong bytes: {wrong}, {measured['failures']} failures")
    if machine.stack == "libbsd":
        late = [way for way, flow in flows.items() if not flow["complete"] or flow["bytes"] < 16e6]
        check(not late, f"16 MB did not come within a minute: {late}")
    trips = measured["round_trips"]
    check(len(trips) == 26 and all(trip["no_delay"]["count"] and trip["nagle"]["count"] for trip in trips), str(trips)[-300:])
    check(found["fault"] not in ("corruption", "unclear", "nagle_plateau"), found["summary"])
    rates = ", ".join(f"{way} {flow['bytes'] * 8e-6 / flow['seconds']:.1f}" for way, flow in flows.items())
    return f"{found['summary'][:60]}; Mbit/s: {rates}; one byte {trips[0]['no_delay']['p50']:.3f} ms"


def catime_desk(_clients, machine):
    """Our catime on the host against the image, as text, as a table and as JSON."""
    rows = per_operation(desk("catime", "--search-timeout", "60", "ioc:catime", "1000", "1"))
    table = desk("catime", "--table", "--search-timeout", "60", "ioc:catime", "100", "1")
    check("async get DBR_STRING" in table and "100 channels" in table, table)
    found = json.loads(desk("catime", "--json", "--search-timeout", "60", "ioc:catime", "100", "1"))
    check(found["errors"] == 0 and len(found["rows"]) == ROWS, str(found)[:300])
    check(found["search_tries"]["mean"] <= machine.search_tries, str(found["search_tries"]))
    return f"connect {rows[0]:.1f} us, put {rows[2]:.2f}, get {rows[3]:.2f}, sync get {rows[4]:.0f}"


def catime_self(_clients, machine):
    """catime of the image against the image's own server."""
    rows = per_operation(machine.command("catime --at 127.0.0.1 ioc:catime 100 1", 300))
    table = machine.command("catime --table --at 127.0.0.1 ioc:catime 20", 300)
    check("async get DBR_STRING" in table and "20 channels" in table, table)
    return f"put {rows[2]:.2f} us, get {rows[3]:.2f}, sync get {rows[4]:.0f}"


@contextlib.contextmanager
def host_server(port):
    """This package's server on the host."""
    words = ["serve", "--port", str(port), "--echo-port", str(port + 10), "--name", "desk"]
    server = subprocess.Popen(
        [program(), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        for line in server.stdout:
            if f":{port} (TCP)" in line:
                break
        yield
    finally:
        server.kill()
        server.communicate()


def catime_host(_clients, machine):
    """catime of the image, as the client, against a server on the host."""
    with host_server(HOST_PORT):
        rows = per_operation(machine.command(f"catime --at {GATEWAY}:{HOST_PORT} desk:catime 100 1", 300))
    return f"put {rows[2]:.2f} us, get {rows[3]:.2f}, sync get {rows[4]:.0f}"


def rtex(_clients, machine):
    """rtex runs all its tests, shows no fault where there is no paging, and refuses what would leave the stack."""
    text = machine.command("rtex 0x1f", 600)
    check("*** TEST STATE: BENCHMARK" in text and "*** END OF TEST IOC RTEX ***" in text, text)
    check("no paging here" in text and "touch" in text, text)
    lines = re.findall(r"^ *(\d+) ns +(\d+) faults : (.*)$", text, re.M)
    check(sorted(name for _, _, name in lines) == sorted(RTEX_LINES), text)
    check(all(int(faults) == 0 for _, faults, _ in lines), text)
    mark = re.search(r"stack: (\d+) of (\d+) bytes used at most", text)
    check(mark and 0 < int(mark[1]) < int(mark[2]), text)
    refused = machine.command("rtex 0x10 4096 1000000")
    check("refused: 1000000 bytes of recursion" in refused and "testfunc" not in refused, refused)
    ns = {name: int(time) for time, _, name in lines}
    return (
        f"first malloc {ns['testfunc_malloc (0)'] / 1e6:.1f} ms, cold touch {ns['touch_cold_cache (0)'] / 1e6:.1f} ms, "
        f"warm {ns['touch_warm_cache (1)'] / 1e6:.1f} ms"
    )


def shares(text):
    """{task: per cent} of one report of spy, in its order; what does not add up to 100 fails."""
    found = re.findall(r"^ *(\d+\.\d) %  (\S+)", text, re.M)
    total = sum(float(share) for share, _ in found)
    check(found and found[0][1] == "IDLE", f"idle does not come first: {text}")
    check(97 <= total <= 103, f"the shares add up to {total:.1f} %: {text}")
    return {name: float(share) for share, name in found}


def spy(_clients, machine):
    """spy shows an idle image idle, and an echo as the time of tcpecho's task."""
    quiet = shares(machine.command("spy 2", 60))
    if machine.stack == "none":
        return f"idle {quiet['IDLE']} %"
    done = threading.Event()

    def load():
        with socket.create_connection(("127.0.0.1", ECHO), timeout=60) as connection:
            while not done.is_set():
                connection.sendall(bytes(20_000))
                left = 20_000
                while left:
                    left -= len(connection.recv(left)) or left

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    try:
        loaded = shares(machine.command("spy 3", 60))
    finally:
        done.set()
        thread.join()
    check(loaded.get("tcpe", 0) > quiet.get("tcpe", 0) and loaded["IDLE"] < quiet["IDLE"], f"{quiet} {loaded}")
    return f"idle {quiet['IDLE']} %; under an echo idle {loaded['IDLE']} %, tcpecho {loaded['tcpe']} %"


# Name, function, takes minutes: on each image, and on those with a network.
CONSOLE = [("spy", spy, False)]
# It fills the shell's stack on purpose: after the stacks have been looked at.
LAST = [("rtex", rtex, False)]
NETWORK = [
    ("media", media, False),
    ("catime-desk", catime_desk, False),
    ("catime-self", catime_self, False),
    ("catime-host", catime_host, False),
    ("netcheck", netcheck, True),
]
