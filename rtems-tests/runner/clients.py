# SPDX-License-Identifier: BSD-2-Clause
"""The tests from the host: EPICS's own clients and a TCP client against the ports of an image."""

import hashlib
import re
import socket
import subprocess
import threading
import time

import wire
from acceptance import acctst
from lan import ntp_answer
from programs import Skip, check

ECHO, CA = 4445, 5064
# QEMU's user network leads this address to the host's 127.0.0.1.
GATEWAY = "10.0.2.2"
PORTS = [("tcp", ECHO), ("tcp", ECHO + 1), ("tcp", ECHO + 2), ("tcp", CA), ("udp", CA)]


def caget(clients, _machine):
    """Status values and an array-free scalar by caget, plain and with time."""
    text = clients.run("caget", "-w", "10", "ioc:MEM_FREE", "ioc:UPTIME", "ioc:catime")
    values = re.findall(r"ioc:MEM_FREE\s+(\S+)", text)
    check(values and float(values[0]) > 1e6, text)
    return f"MEM_FREE {values[0]}"


def caput(clients, _machine):
    """A write comes back, with and without callback."""
    clients.run("caput", "ioc:catime000007", "3.25")
    check("3.25" in clients.run("caget", "ioc:catime000007"), "the value written is not read back")
    clients.run("caput", "-c", "ioc:catime000007", "4.5")
    check("4.5" in clients.run("caget", "-t", "ioc:catime000007"), "nor with callback")


def camonitor(clients, _machine):
    """Updates reach a monitor."""
    with clients.watch("camonitor", "ioc:catime000009") as monitor:
        monitor.wait_for(r"ioc:catime000009 .*\n")
        for value in ("11", "12", "13"):
            clients.run("caput", "ioc:catime000009", value)
            monitor.wait_for(rf"\s{value}\b")


def beacon_times(text):
    """Seconds of the minute at which casw saw beacons of the server."""
    return [float(second) for second in re.findall(rf":{CA} .*?:(\d\d\.\d+)", text)]


def casw(clients, machine):
    """The beacons of the server reach the host, and casw marks those of a server that has started anew."""

    def steady(text):
        # The period grows to 15 s; before it is long, a restart makes no difference that casw could see.
        times = beacon_times(text)[-2:]
        return len(times) == 2 and 4 < (times[1] - times[0]) % 60

    with clients.watch("casw", "-i", "3") as watch:
        watch.wait_until(steady, "beacons of a long period", 120)
        seen = len(watch.text)
        machine.command("casrv stop")
        machine.command("casrv start")
        # To the end of its last line: it may come in pieces.
        anomaly = rf"\* \S+:{CA} [^*]*?current=\S+\s"
        watch.wait_until(lambda text: re.search(anomaly, text[seen:]), "anomaly")
    return " ".join(re.search(anomaly, watch.text[seen:])[0].split())


def unset_clock(clients, _machine):
    """Without a time server the stamps say that nobody knows the time."""
    text = clients.run("caget", "-a", "ioc:catime000007")
    check("2124" not in text and "1988" not in text, text)
    check("undefined" in text or "1990" in text, text)


def day():
    """Today, as caget shows it."""
    return time.strftime("%Y-%m-%d", time.localtime())


def sntp(clients, machine):
    """The clock by SNTP from a server on this host, also beyond 2036, where NTP counts anew; after it the stamps are right."""
    done = threading.Event()
    years = 20 * 365.25 * 86400
    ahead = years
    days = {day()}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        try:
            server.bind(("127.0.0.1", 123))
        except OSError as why:
            raise Skip(f"port 123: {why}") from why
        server.settimeout(0.2)

        def answer():
            while not done.is_set():
                try:
                    question, peer = server.recvfrom(100)
                except TimeoutError:
                    continue
                server.sendto(ntp_answer(question, ahead), peer)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            later = machine.command(f"clock {GATEWAY}")
            ahead = 0
            shown = machine.command(f"clock {GATEWAY}")
        finally:
            done.set()
            thread.join()
    check(f"clock: {time.gmtime(time.time() + years).tm_year}-" in later and "UTC, set" in later, later)
    check("UTC, set" in shown, shown)
    text = clients.run("caget", "-t", "-s", "ioc:HEARTBEAT") + clients.run("caget", "-a", "ioc:UPTIME")
    # It may be midnight.
    days.add(day())
    check(any(each in text for each in days), text)
    return shown.strip().splitlines()[-1]


def catime(count):
    """EPICS's own benchmark."""

    def run(clients, machine):
        found = []
        # A host that is busy elsewhere may let a search wait too long: the best of three.
        for _ in range(3):
            text = clients.run("catime", "ioc:catime", str(count), "1", seconds=400)
            tries = re.search(r"Search tries per chan - mean = (\S+) .*max = (\S+)", text)
            connect = re.search(r"Channel Connect Test.*?Per Op,\s*(\S+) uS", text, re.S)
            check(tries and connect and "Free Channel Test" in text, text[-400:])
            found.append((float(tries[1]), connect[1]))
            if found[-1][0] <= machine.search_tries:
                break
        best, took = min(found)
        check(best <= machine.search_tries, f"search tries {', '.join(str(each) for each, _ in found)}")
        return f"connect {took} us per channel, search tries {best}" + (f", run {len(found)}" if len(found) > 1 else "")

    run.__doc__ = f"catime with {count} channels."
    return run


def device(clients, machine):
    """The example in C: values of a task, alarms, a put that ends later, one that is refused, and the end of it all."""
    check("running" in machine.command("device start"), "the device does not start")
    text = clients.run("caget", "-a", "device:temperature", "device:heater", "device:trace")
    check("20" in text and "device:trace" in text, text)
    clients.run("caput", "-c", "-w", "30", "device:setpoint", "70")
    text = clients.run("caget", "-a", "device:temperature")
    check("70" in text and "HIGH MINOR" in text, text)
    for name, value in (("device:setpoint", "50"), ("device:heater", "Off")):
        clients.run("caput", name, value)
    check("On" in clients.run("caget", "device:heater"), "the heater was switched while the setpoint moved")
    check("stopped" in machine.command("device stop"), "the device does not stop")
    try:
        text = clients.run("caget", "-w", "1", "device:temperature")
    except AssertionError as why:
        text = str(why)
    check("not found" in text, f"a deleted process variable is still served: {text}")


def configuration(clients, machine):
    """The records and rules that bsp-config puts into the image, and rules read again from its file system."""
    # Not "crate:" alone: on a busy machine the echo of the command may be in what it showed.
    if "crate:mode" not in machine.command("dbl crate:"):
        raise Skip("no configuration in this image")
    text = clients.run("caget", "crate:beam:limit", "crate:state", "crate:note")
    check("200" in text and "Local" in text and "nothing to report" in text, text)
    clients.run("caput", "crate:mode", "Remote")
    check("Remote" in clients.run("caget", "crate:state"), "the alias shows the old value")
    check("read, no write" in clients.run("cainfo", "crate:beam:limit"), "writable by everybody")
    check("puts shown" in machine.command("putlog"), "no log of puts")
    shown = machine.command("access load /etc/ioc/crate.acf")
    check("3 in 2 access groups" in shown, shown)
    shown = machine.command("access load /etc/ioc/none.acf")
    check("No such file" in shown, shown)


def from_tftp(clients, machine):
    """Rules are read from a TFTP server that the image has mounted; a file that is not there is an error, and changes nothing."""
    if machine.stack != "libbsd":
        raise Skip("no TFTP in this image")
    rules = "ASG(DEFAULT) { RULE(1, WRITE) }\n"
    # More than one datagram of TFTP.
    (machine.tftp / "open.acf").write_text("# who may do what\n" * 100 + rules, encoding="utf-8")
    (machine.tftp / "closed.acf").write_text(rules.replace("WRITE", "READ"), encoding="utf-8")
    try:
        for name, right in (("closed", "read, no write"), ("missing", "read, no write"), ("open", "read, write")):
            shown = machine.command(f"access load /tftp/{GATEWAY}:{name}.acf", 60)
            check(("1 in 1 access groups" in shown) == (name != "missing"), shown)
            check(right in clients.run("cainfo", "ioc:catime"), f"after {name}.acf not {right!r}")
    finally:
        machine.command("access load /etc/ioc/crate.acf")


def last_value(clients, machine):
    """After a flood of sets from tasks of several priorities the last value is what clients read."""
    machine.command("selftest pv-tasks", 60)
    text = clients.run("caget", "-t", "selftest:shared")
    check(text.strip() == "4321", text)


def server_restart(clients, machine):
    """The server stops and starts by command, and serves again."""
    before = machine.command("casrv stop")
    check("stopped" in before, before)
    after = machine.command("casrv start")
    check("Channel Access on" in after, after)
    clients.run("caget", "ioc:catime")


def echo(megabytes):
    """tcpecho gives back every byte."""

    def run(_clients, _machine):
        total = megabytes << 20
        pattern = bytes(range(256)) * 256
        sent, got = hashlib.sha256(), hashlib.sha256()
        with socket.create_connection(("127.0.0.1", ECHO), timeout=120) as connection:

            def feed():
                left = total
                while left:
                    piece = pattern[: min(left, len(pattern))]
                    connection.sendall(piece)
                    sent.update(piece)
                    left -= len(piece)

            start = time.monotonic()
            feeder = threading.Thread(target=feed, daemon=True)
            feeder.start()
            have = 0
            while have < total:
                piece = connection.recv(1 << 16)
                check(piece, f"the connection ended after {have} bytes")
                got.update(piece)
                have += len(piece)
            feeder.join()
            took = time.monotonic() - start
        check(sent.digest() == got.digest(), "the bytes differ")
        return f"{megabytes} MB in {took:.2f} s"

    run.__doc__ = f"tcpecho carries {megabytes} MB, checked."
    return run


def search_burst(_clients, machine):
    """Name searches that come at once, as many datagrams as the network interface takes: none is lost behind it."""
    names = 10 * 20 * machine.search_burst
    answered = wire.search("127.0.0.1", CA, names, machine.search_burst)
    check(answered == names, f"{answered} of {names} searches answered")
    return f"{names} names, {machine.search_burst} datagrams at once"


def served_again(clients, what):
    """A client is served within 30 s, the limit of a user's patience."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            clients.run("caget", "-w", "5", "ioc:catime", seconds=15)
            return
        except (AssertionError, subprocess.TimeoutExpired):
            time.sleep(1)
    raise AssertionError(f"not served within 30 s after {what}")


def many_circuits(clients, machine):
    """As many circuits as the image takes from one address: each is served, further ones are refused."""
    held, refused = [], 0
    for _ in range(machine.circuits + 5):
        try:
            held.append(wire.Circuit("127.0.0.1", CA))
        except OSError:
            refused += 1
    # One after the other: an emulated interface drops what its ring does not hold.
    for circuit in held:
        circuit.create(7, "ioc:catime000007")
        circuit.wait_for(1)
        circuit.socket.sendall(circuit.read_request(7))
        circuit.wait_for(1)
    report = machine.command("casr")
    for circuit in held:
        circuit.close()
        time.sleep(0.005)
    check((len(held), refused) == (machine.circuits, 5), f"{len(held)} circuits, {refused} refused")
    check(f"{machine.circuits} circuits" in report, report)
    served_again(clients, "the circuits were closed")
    return f"{len(held)} circuits served at once, {refused} more refused"


def never_reading(clients, machine):
    """Clients that send requests and read no reply: the others are served meanwhile, and after their reset all is well."""
    # Little room on this side, or the host itself takes megabytes.
    stuck = [wire.Circuit("127.0.0.1", CA, buffers=4096) for _ in range(min(machine.circuits - 1, 31))]
    for circuit in stuck:
        circuit.create(7, "ioc:catime000007")
        circuit.wait_for(1)
        circuit.socket.setblocking(False)
    rest = {circuit: b"" for circuit in stuck}
    sent, last = 0, time.monotonic()
    # Until nobody's requests are taken any more, or for long enough.
    end = last + 60
    while time.monotonic() < min(last + 2, end):
        for circuit in stuck:
            rest[circuit] = rest[circuit] or circuit.read_request(7) * 500
            try:
                taken = circuit.socket.send(rest[circuit])
            except BlockingIOError:
                continue
            rest[circuit] = rest[circuit][taken:]
            sent, last = sent + taken, time.monotonic()
        time.sleep(0.01)
    check(time.monotonic() < end, "the server takes requests without end")
    clients.run("caget", "-w", "10", "ioc:catime")
    for circuit in stuck:
        circuit.reset()
    served_again(clients, "the reset")
    # QEMU keeps the resets back until the image has read what came before, which a server that waits does not do: with places
    # for one client only, those that come later would have none for as long as a stuck client is borne with.
    machine.command("casrv stop")
    machine.command("casrv start")
    served_again(clients, "a restart")
    return f"{len(stuck)} clients, {sent >> 10} kB of requests taken before they waited"


# In this order: name, function, takes minutes.
TESTS = [
    ("caget", caget, False),
    # On a stack that had served nobody yet such clients once held all network buffers.
    ("never-reading", never_reading, False),
    ("caput", caput, False),
    ("camonitor", camonitor, False),
    ("unset-clock", unset_clock, False),
    ("catime-1000", catime(1000), False),
    ("catime-10000", catime(10000), True),
    ("configuration", configuration, False),
    ("tftp", from_tftp, False),
    ("pv-last-value", last_value, False),
    ("device", device, False),
    ("casrv-restart", server_restart, False),
    ("casw", casw, False),
    ("sntp", sntp, False),
    ("tcpecho-16MB", echo(16), False),
    ("search-burst", search_burst, False),
    ("many-circuits", many_circuits, False),
    ("acctst", acctst, True),
    ("caget-at-the-end", caget, False),
]
