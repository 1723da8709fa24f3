#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Long and hard trials of an EPICS IOC with the package in the emulator: a soak, and memory that runs out.

    trials.py --rtems PREFIX --epics BASE --package PREFIX [--minutes 30] [--as-is] soak|exhaustion

soak: catime, writes of large arrays (their buffers grow in place) and clients that come and go, over and over; then the
tracker has to agree with a walk, without a resync, and the free memory has to be where it was, to the block.
exhaustion: memory is taken until less than a megabyte is free, then less than the pool's reserve; clients that are connected
have to be served on, new ones refused, and after the memory came back everything has to be as before. The same with `always`
beside it (exhaustion.py says what differs).

EPICS base before its PR 940 leaves the memory of each epicsEvent behind. The trials mend that in the image (events_freed.c), so
that what is lost is ours. --as-is leaves base as it is: the soak then compares with an image without the package.
"""

import argparse
import sys

import ioc as emulated
import variants
from exhaustion import exhaustion
from soak import soak

import bsps
import programs as host
from run import isolate


def main():
    """One trial; the exit status says how it went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtems", required=True)
    parser.add_argument("--epics", required=True)
    parser.add_argument("--package", required=True)
    parser.add_argument("--arch", default="arm/xilinx_zynq_a9_qemu")
    parser.add_argument("--build", default=str(emulated.ROOT / "build" / "epics-trials"))
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--as-is", action="store_true", help="soak: with base's own loss of memory, compared with an image without us")
    parser.add_argument("trial", choices=["soak", "exhaustion"])
    options = parser.parse_args()
    host.find_clients()
    isolate()
    bsp = bsps.select(options.rtems, options.arch)[0]
    where = bsp, options.epics, options.rtems, options.package, options.build
    mend = not options.as_is and not variants.frees_events(options.epics, bsp)
    print(f"epicsEventDestroy of this base: {'mended by events_freed.c' if mend else 'as it is'}", flush=True)

    def boot(variant):
        return emulated.Ioc(bsp, variants.build(variant, *where, mend_events=mend))

    clients = host.Clients(host.find_clients())
    try:
        if options.trial == "soak":
            good = soak(boot, clients, options.minutes, options.as_is)
        else:
            good = all([exhaustion(boot, clients, variant) for variant in ("tier-a", "always")])
    finally:
        clients.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
