# SPDX-License-Identifier: BSD-2-Clause
"""A Channel Access circuit that reads and writes: what the long trials do between EPICS's own clients."""

import socket
import struct

import ioc  # noqa: F401  (puts the runner's folder on the path)
import wire

WRITE = 4
ERROR, CREATE_FAILED = 11, 26
# Payloads from here on need the header with 32-bit sizes.
LARGE = 0xFFFF - 8


class Refused(Exception):
    """The server took the connection and ended it, or would not have the channel."""


class Client:
    """One circuit to the IOC on this host."""

    def __init__(self, seconds=60):
        self.socket = socket.create_connection(("127.0.0.1", 5064), timeout=seconds)
        self.data = b""
        self.socket.sendall(wire.message(wire.VERSION, count=wire.MINOR))

    def channel(self, number, name):
        """Creates a channel; returns the server's number for it."""
        self.socket.sendall(wire.message(wire.CREATE_CHAN, name.encode() + b"\0", 0, 0, number, wire.MINOR))
        return self.wait_for(wire.CREATE_CHAN)[1]

    def write(self, channel, count):
        """Writes so many doubles: 0, 1, 2 ..."""
        payload = struct.pack(f">{count}d", *range(count))
        self.socket.sendall(self.header(WRITE, len(payload), channel, count) + payload)

    def read(self, channel, count=1):
        """Reads so many doubles; returns them."""
        self.socket.sendall(self.header(wire.READ_NOTIFY, 0, channel, count))
        payload = self.wait_for(wire.READ_NOTIFY)[0]
        return struct.unpack(f">{len(payload) // 8}d", payload)

    def close(self):
        """Closes the circuit."""
        self.socket.close()

    @staticmethod
    def header(command, size, channel, count):
        """A header; the long form when size or count need it."""
        if size < LARGE and count < 0xFFFF:
            return struct.pack(">HHHHII", command, size, wire.DBR_DOUBLE, count, channel, 0)
        return struct.pack(">HHHHIIII", command, 0xFFFF, wire.DBR_DOUBLE, 0, channel, 0, size, count)

    def wait_for(self, wanted):
        """The next message of one kind: its payload and second parameter."""
        while True:
            command, size, _kind, _count, _first, second = struct.unpack(">HHHHII", self.exactly(16))
            if size == 0xFFFF:
                size, _count = struct.unpack(">II", self.exactly(8))
            payload = self.exactly(size)
            if command == wanted:
                return payload, second
            if command in (ERROR, CREATE_FAILED):
                raise Refused("an error" if command == ERROR else "the channel was not made")

    def exactly(self, size):
        """So many bytes."""
        while len(self.data) < size:
            try:
                piece = self.socket.recv(1 << 16)
            except ConnectionError:
                piece = b""
            if not piece:
                raise Refused("the server ended the circuit")
            self.data += piece
        taken, self.data = self.data[:size], self.data[size:]
        return taken
