#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Records what a real softIoc's conversions answer, for src/value/convert/recorded.rs.

Usage: record_conversions.py SOFTIOC > src/value/convert/recorded.txt

One line per conversion:
  get NATIVE PRECISION VALUE TO STATUS ANSWER
  put KIND NATIVE FROM VALUE STATUS VALUE_AFTERWARDS
Types are DBR codes, values are network bytes in hexadecimal (texts without their padding), `-` is nothing.
"""
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time

PORT, REPEATER_PORT = 15164, 15165
ELEMENT_TYPES = ["STRING", "SHORT", "FLOAT", "ENUM", "UCHAR", "LONG", "DOUBLE"]
SIZES = [40, 2, 4, 2, 1, 4, 8]
FORMATS = {1: ">h", 2: ">f", 3: ">H", 4: ">B", 5: ">i", 6: ">d"}
PRECISIONS = [0, 1, 2, 3, 6, 8, 9, 15, 17, -1]
STRING, FLOAT, DOUBLE = 0, 2, 6

EDGES = [
    0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 3.7, -3.9, 0.125, 0.9995, 9.9999999, 9.99999994, 99999.95, 9999999.5,
    1e7, 1e7 + 0.5, 1.00000005e7, 10000001.5, 1e8, 2147483647.0, 2147483648.0, -2147483648.0, 32768.0, -32769.0, 65536.0,
    256.0, -1.0, 1e15, 1e16, 1.0000000000000002e16, -1e17, 1e300, 5e-9, 1e-300, 5e-324, 3.4028234e38,
    3.4028235677973366e38, 1.17549435e-38, 1e-39, -1e-39, float("inf"), float("-inf"), float("nan"), -float("nan"), 1e23,
]
INTEGERS = {
    1: [0, -1, 128, 256, 32767, -32768, -300],
    3: [0, 1, 3, 256, 65535],
    4: [0, 65, 128, 255],
    5: [0, -1, 256, 70000, -70000, 2147483647, -2147483648, 16777217],
}
TEXTS = (
    "0|1|-1| 42 |8 mm|0x10|0x|0x.8|0x1p4|0x1.8p+1x|-0x10|1e3|1e|1e+|1.5e3|-7|300|-256|-255|255|256|32767|32768|-32769|"
    "65535|65536|2147483647|2147483648|-2147483649|12.5|.5|5.|.|-|+5|++5|- 5|nan|-nan|inf|-inf|Infinity|infx|1e400|"
    "1e-400|1e-310|2.2250738585072014e-308|2.2250738585072011e-308|1e39|3.5e38|1e-39|-1e-39|junk|| |\t5|\n5|yes|no|"
    "may be|may|Yes|2|3|16|99999999999999999999|-9223372036854775809|0.123400|1,5|1_000|010|0b1|1.7976931348623157e308|"
    "1.7976931348623159e308|123456789012345678901234567890|3.14159265358979323846|0x1fffffffffffff.8|"
    "0x10000000000000001|0xg|1d3|infinity x|e5|1.e2|1e0005"
).split("|")


class Circuit:
    """Just enough of a client."""

    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT))
        self.received = b""
        self.channels = {}
        self.send(0, 0, 13, 0, 0)
        self.send(20, 0, 0, 0, 0, b"recorder\0")
        self.send(21, 0, 0, 0, 0, b"localhost\0")

    def send(self, command, kind, count, p1, p2, payload=b""):
        payload += b"\0" * (-len(payload) % 8)
        self.socket.sendall(struct.pack(">HHHHII", command, len(payload), kind, count, p1, p2) + payload)

    def answer(self, wanted):
        while True:
            while len(self.received) < 16:
                self.more()
            command, size, _, count, p1, p2 = struct.unpack(">HHHHII", self.received[:16])
            while len(self.received) < 16 + size:
                self.more()
            payload, self.received = self.received[16 : 16 + size], self.received[16 + size :]
            if command == wanted:
                return p1, p2, payload

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError
        self.received += data

    def channel(self, name):
        if name not in self.channels:
            self.send(18, 0, 0, 1, 13, name.encode() + b"\0")
            self.channels[name] = self.answer(18)[1]
        return self.channels[name]

    def put(self, name, kind, payload):
        self.send(19, kind, 1, self.channel(name), 1, payload)
        return self.answer(19)[0]

    def get(self, name, kind):
        self.send(15, kind, 1, self.channel(name), 1)
        status, _, payload = self.answer(15)
        payload = payload[: SIZES[kind]]
        return status, payload.split(b"\0")[0] if kind == STRING else payload


def single(number):
    try:
        return struct.pack(">f", number)
    except OverflowError:
        return struct.pack(">f", 3e38)


def line(*words):
    print(*[(word.hex() or "-") if isinstance(word, bytes) else word for word in words])


def records():
    for precision in PRECISIONS:
        for kind in (DOUBLE, FLOAT):
            yield f'record(waveform,"w{kind}:{precision}"){{field(FTVL,{ELEMENT_TYPES[kind]}) field(PREC,{precision})}}'
    for kind, name in enumerate(ELEMENT_TYPES):
        yield f'record(waveform,"array{kind}"){{field(FTVL,{name}) field(NELM,3) field(PREC,3)}}'
    yield 'record(ai,"scalar6"){field(PREC,3)} record(longin,"scalar5"){} record(stringin,"scalar0"){}'
    yield 'record(mbbo,"mbbo3"){field(ZRST,no) field(ONST,yes) field(TWST,"may be")}'
    yield 'record(bo,"bo3"){field(ZNAM,no) field(ONAM,yes)}'


def record_gets(circuit, doubles):
    for precision in PRECISIONS:
        for number in doubles:
            for kind, value in ((DOUBLE, struct.pack(">d", number)), (FLOAT, single(number))):
                circuit.put(f"w{kind}:{precision}", kind, value)
                for to in range(7) if precision == 3 and number in EDGES else [STRING]:
                    line("get", kind, precision, value, to, *circuit.get(f"w{kind}:{precision}", to))
    values = [(kind, struct.pack(FORMATS[kind], number)) for kind, all_ in INTEGERS.items() for number in all_]
    for kind, value in values + [(STRING, text.encode()) for text in TEXTS]:
        circuit.put(f"array{kind}", kind, value + b"\0")
        for to in range(7):
            status, answer = circuit.get(f"array{kind}", to)
            line("get", kind, 3, value, to, status, answer if status == 1 else b"")


def record_puts(circuit):
    targets = ["scalar6", "scalar5", "scalar0", "mbbo3", "bo3"] + [f"array{kind}" for kind in range(7)]
    values = [(STRING, text.encode()) for text in TEXTS]
    values += [(DOUBLE, struct.pack(">d", number)) for number in EDGES]
    values += [(kind, struct.pack(FORMATS[kind], number)) for kind, all_ in INTEGERS.items() for number in all_]
    for target in targets:
        native = int(target[-1])
        for kind, value in values:
            circuit.put(target, native, b"\0" * SIZES[native])
            status = circuit.put(target, kind, value + b"\0")
            line("put", target[:-1], native, kind, value, status, circuit.get(target, native)[1])


def main():
    chance = random.Random(7)
    doubles = EDGES + [chance.uniform(-1, 1) * 10 ** chance.randint(-9, 18) for _ in range(25)]
    doubles += [round(chance.uniform(-2e7, 2e7), chance.randint(0, 4)) for _ in range(10)]
    environment = dict(
        os.environ,
        EPICS_CA_SERVER_PORT=str(PORT),
        EPICS_CA_REPEATER_PORT=str(REPEATER_PORT),
        EPICS_CAS_INTF_ADDR_LIST="127.0.0.1",
        EPICS_CAS_BEACON_ADDR_LIST="127.0.0.1",
        EPICS_CAS_AUTO_BEACON_ADDR_LIST="NO",
    )
    with tempfile.NamedTemporaryFile("w", suffix=".db") as database:
        database.write("\n".join(records()))
        database.flush()
        command = [sys.argv[1], "-d", database.name]
        ioc = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        try:
            for _ in range(100):
                try:
                    circuit = Circuit()
                    break
                except OSError:
                    time.sleep(0.1)
            record_gets(circuit, doubles)
            record_puts(circuit)
        finally:
            # At the end of its input it exits; a signal would reach only the wrapper that the wheel installs.
            ioc.stdin.close()
            ioc.wait()


if __name__ == "__main__":
    main()
