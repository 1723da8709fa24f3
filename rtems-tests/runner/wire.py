# SPDX-License-Identifier: BSD-2-Clause
"""As much of the Channel Access protocol as the measurements need: searches, and a circuit with channels and monitors."""

import socket
import struct

MINOR = 13
VERSION, EVENT_ADD, SEARCH, READ_NOTIFY, CREATE_CHAN = 0, 1, 6, 15, 18
DBR_DOUBLE, DBE_VALUE = 6, 1


def message(command, payload=b"", data_type=0, count=0, first=0, second=0):
    """A message: the header and the payload padded to 8 bytes."""
    payload += b"\0" * (-len(payload) % 8)
    return struct.pack(">HHHHII", command, len(payload), data_type, count, first, second) + payload


def search_request(first, count):
    """A datagram that searches so many names."""
    request = message(VERSION, count=MINOR)
    for number in range(first, first + count):
        name = f"ioc:catime{number % 10000:06}".encode() + b"\0"
        request += message(SEARCH, name, 5, MINOR, number, number)
    return request


def search(address, port, count, burst=1):
    """Sends so many searches, 20 a datagram and so many datagrams at once, each burst after the answers to the last;
    returns how many were answered."""
    answered = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(2)
        for start in range(0, count, 20 * burst):
            want = min(20 * burst, count - start)
            for first in range(start, start + want, 20):
                datagrams.sendto(search_request(first, min(20, start + want - first)), (address, port))
            while want > 0:
                try:
                    reply = datagrams.recv(65536)
                except TimeoutError:
                    break
                found = count_replies(reply, SEARCH)
                answered += found
                want -= found
    return answered


def count_replies(data, command):
    """Messages of one command in a buffer of whole messages."""
    found, at = 0, 0
    while at + 16 <= len(data):
        kind, size = struct.unpack_from(">HH", data, at)
        found += kind == command
        at += 16 + size
    return found


class Circuit:
    """A circuit that creates channels and subscribes to them."""

    def __init__(self, address, port, buffers=None):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        if buffers is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffers)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffers)
        self.socket.connect((address, port))
        self.socket.sendall(message(VERSION, count=MINOR))
        self.data = b""
        self.servers = {}
        while not self.take():
            pass

    def create(self, number, name):
        """Asks for a channel."""
        self.socket.sendall(message(CREATE_CHAN, name.encode() + b"\0", 0, 0, number, MINOR))

    def subscribe(self, number):
        """Subscribes to a channel that was created."""
        mask = struct.pack(">fffHxx", 0, 0, 0, DBE_VALUE)
        self.socket.sendall(message(EVENT_ADD, mask, DBR_DOUBLE, 1, self.servers[number], number))

    def read_request(self, number):
        """A request to read a channel that was created."""
        return message(READ_NOTIFY, b"", DBR_DOUBLE, 1, self.servers[number], number)

    def take(self):
        """Reads what is there; how many replies to create, subscribe or read it brought (1 for a version)."""
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the server closed the circuit")
        self.data += piece
        found = 0
        while len(self.data) >= 16:
            command, size, _kind, _count, first, second = struct.unpack_from(">HHHHII", self.data)
            if len(self.data) < 16 + size:
                break
            self.data = self.data[16 + size :]
            found += command in (VERSION, CREATE_CHAN, EVENT_ADD, READ_NOTIFY)
            if command == CREATE_CHAN:
                self.servers[first] = second
        return found

    def wait_for(self, replies):
        """Waits for so many replies."""
        while replies > 0:
            replies -= self.take()

    def close(self):
        """Closes the circuit."""
        self.socket.close()

    def reset(self):
        """Ends the circuit with a reset, as a client does that is gone."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()
