# SPDX-License-Identifier: BSD-2-Clause
"""A number, served by EPICS's portable server (pcas) through pcaspy."""

from pcaspy import Driver, SimpleServer

server = SimpleServer()
server.createPV("ioc:", {"catime": {"type": "float"}})
driver = Driver()
while True:
    server.process(0.1)
