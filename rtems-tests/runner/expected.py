# SPDX-License-Identifier: BSD-2-Clause
"""Which tests the image of a BSP has: what is to be counted where none can run, and asked for by name.

The self tests are those that the C sources list; an image that does not name every one of them has lost some.
"""

import re

import clients
import installed
import kit
from boardlib import ROOT

TARGET = ROOT / "rtems-tests" / "target"
# Files whose tests need a network, or the legacy stack.
NEEDS = {"net_tests": ("libbsd", "legacy"), "buffer_tests": ("legacy",)}
# The pool archive's images, linked with the hooks and without.
POOL_IMAGES = {"pool-tracker": "tracker", "pool-search": "search"}


def self_tests(stack):
    """The names that `selftest -l` has to show on this network stack, in their order in the sources."""
    found = []
    for path in sorted(TARGET.glob("*_tests.c")):
        if stack in NEEDS.get(path.stem, (stack,)):
            found += re.findall(r'^  \{ "([\w-]+)", \w+ \},$', path.read_text(encoding="utf-8"), re.M)
    return found


def emulated(stack):
    """What runs in the emulator."""
    networked = stack != "none"
    names = ["boot", *(["clock"] if networked else []), *self_tests(stack)]
    host = [*kit.CONSOLE, *(clients.TESTS + kit.NETWORK if networked else [])]
    names += [name for name, _test, _slow in host]
    names += ["stacks", *(name for name, _test, _slow in kit.LAST), *POOL_IMAGES]
    return names + (["dhcp-time"] if networked else [])


def tests(config):
    """Every test of a BSP, of which `config` is the content of its file in bsp-config."""
    names = emulated(config["network"]["stack"]) if "emulator" in config else ["boot"]
    return names + list(installed.PROGRAMS)
