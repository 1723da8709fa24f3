# SPDX-License-Identifier: BSD-2-Clause
"""A small network of its own for an image: Ethernet frames in datagrams, and one host that gives out an address by DHCP,
names a time server, and is it. QEMU's user network has no such option to give."""

import ipaddress
import socket
import struct
import threading
import time

# As the emulator's: any that differs from the image's.
MAC = bytes.fromhex("02005e100001")
HOST, IMAGE, MASK = "10.9.0.1", "10.9.0.20", "255.255.255.0"
# Seconds from 1900 to 1970.
NTP_TO_UNIX = 2208988800
BROADCAST = b"\xff" * 6
COOKIE = b"\x63\x82\x53\x63"
# The least size of a BOOTP message (RFC 1542); the legacy stack takes no shorter answer, and servers send none.
BOOTP_LEAST = 300
# DHCP: message types, and the options that are answered.
DISCOVER, OFFER, REQUEST, ACK = 1, 2, 3, 5
OPTION_MASK, OPTION_ROUTER, OPTION_NTP = 1, 3, 42
OPTION_LEASE, OPTION_TYPE, OPTION_SERVER, OPTION_WANTED = 51, 53, 54, 55


def packed(address):
    """An IPv4 address in its four bytes."""
    return ipaddress.IPv4Address(address).packed


def checksum(data):
    """Internet checksum of a header of even length."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def udp_frame(to, source, target, payload):
    """An Ethernet frame with a UDP datagram; `source` and `target` are (address, port)."""
    udp = struct.pack(">HHHH", source[1], target[1], 8 + len(payload), 0) + payload
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, packed(source[0]), packed(target[0]))
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return to + MAC + b"\x08\x00" + header + udp


def ntp_answer(question, ahead=0):
    """The time now, or so many seconds ahead, as a server of stratum 1 answers. NTP's count begins anew in 2036."""
    now = time.time() + ahead + NTP_TO_UNIX
    stamp = struct.pack(">II", int(now) & 0xFFFFFFFF, int(now % 1 * (1 << 32)))
    return b"\x24\x01\0\0" + bytes(20) + question[40:48] + stamp + stamp


class Host:
    """Answers ARP, DHCP and NTP until it is closed; `asked` is what it was asked for. A time server is named to those that
    ask for one, as servers do, or to everybody (`unasked`), as they can be told to."""

    def __init__(self, here, machine, unasked=False):
        self.unasked = unasked
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", here))
        self.socket.settimeout(0.2)
        self.machine = ("127.0.0.1", machine)
        self.asked = set()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
        self.socket.close()

    def serve(self):
        """Takes frames."""
        while not self.done.is_set():
            try:
                frame = self.socket.recv(2048)
            except OSError:
                # Nothing came, or the emulator is not there yet.
                continue
            for answer in self.answers(frame):
                self.socket.sendto(answer, self.machine)

    def answers(self, frame):
        """What goes back for a frame."""
        kind = frame[12:14]
        if kind == b"\x08\x06" and frame[20:22] == b"\x00\x01" and frame[38:42] == packed(HOST):
            self.asked.add("arp")
            reply = frame[14:20] + b"\x00\x02" + MAC + packed(HOST) + frame[22:28] + frame[28:32]
            yield frame[6:12] + MAC + kind + reply
        if kind != b"\x08\x00" or frame[23] != 17:
            return
        udp = frame[14 + 4 * (frame[14] & 15) :]
        source, port = struct.unpack(">HH", udp[:4])
        if port == 67:
            yield from self.dhcp(udp[8:])
        elif port == 123 and frame[30:34] == packed(HOST) and len(udp) >= 56:
            self.asked.add("ntp")
            yield udp_frame(frame[6:12], (HOST, 123), (IMAGE, source), ntp_answer(udp[8:56]))

    def dhcp(self, question):
        """An offer or a lease."""
        options = read_options(question[240:])
        kind = {DISCOVER: OFFER, REQUEST: ACK}.get(options.get(OPTION_TYPE, b"\0")[0])
        if question[236:240] != COOKIE or kind is None:
            return
        self.asked.add("dhcp")
        wants_time = OPTION_NTP in options.get(OPTION_WANTED, b"")
        if wants_time:
            self.asked.add("dhcp for ntp")
        answers = {
            OPTION_TYPE: bytes([kind]),
            OPTION_SERVER: packed(HOST),
            OPTION_LEASE: struct.pack(">I", 3600),
            OPTION_MASK: packed(MASK),
            OPTION_ROUTER: packed(HOST),
        }
        if wants_time or self.unasked:
            # Two servers: the first is to be taken.
            answers[OPTION_NTP] = packed(HOST) + packed("10.9.0.99")
        # A reply carries the question's identifier, flags and hardware address.
        reply = b"\x02" + question[1:8] + bytes(2) + question[10:12] + bytes(4) + packed(IMAGE) + packed(HOST) + bytes(4)
        reply += question[28:44] + bytes(192) + COOKIE
        reply += b"".join(bytes([name, len(value)]) + value for name, value in answers.items()) + b"\xff"
        yield udp_frame(BROADCAST, (HOST, 67), ("255.255.255.255", 68), reply.ljust(BOOTP_LEAST, b"\0"))


def read_options(data):
    """{code: value} of DHCP options."""
    found, at = {}, 0
    while at + 1 < len(data) and data[at] != 255:
        if data[at] == 0:
            at += 1
            continue
        size = data[at + 1]
        found[data[at]] = data[at + 2 : at + 2 + size]
        at += 2 + size
    return found
