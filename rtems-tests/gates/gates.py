#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the gates on a static archive, a linked image or the sources; prints what is wrong and fails if anything is.

    gates.py archive FILE --server|--pool [--hooks]
    gates.py image FILE [--no-altivec] [--limit BYTES] [--hooks]
    gates.py sources FILE...
"""

import argparse
import pathlib
import sys

import checks
import elf

HERE = pathlib.Path(__file__).resolve().parent
# The wrapped entry points of the heap, as src/os/rtems/wrap.c defines them: nothing may be called from there.
ENTRIES = ["_Heap_Allocate_aligned_with_boundary", "_Heap_Free", "_Heap_Resize_block", "_Heap_Greedy_allocate"]
# Everything for the linker's --wrap: malloc_free_space() is a question, asked by tasks, and may take the lock.
WRAPPED = [*ENTRIES, "malloc_free_space"]
HOOKS = ["__wrap_" + name for name in ENTRIES]
# Tests that go round a hook to see that it is missed (heap_tests.c) and what the plain function costs (bench.c).
ON_PURPOSE = ["lost_hook", "questions"]
MARKER = "rtems_ioc_pool_hooks_present"


def check_archive(path, server, hooks):
    """Everything that a static archive has to satisfy, before anybody links it."""
    objects = elf.read(path)
    allowed = of_hooks = checks.read_allowed(HERE / "allowed-pool.txt")
    if hooks:
        allowed = of_hooks = allowed | {"__real_" + name for name in WRAPPED}
    if server:
        # The hooks may do no more than those of the pool's own archive.
        allowed = allowed | checks.read_allowed(HERE / "allowed-server.txt")
    wrong = checks.altivec(objects) + checks.tls(objects) + checks.undefined(objects, allowed)
    if hooks:
        # With our C objects in it, it is one that is linked, and bsp-config/tools has closed it.
        wrong += checks.marker(objects, HOOKS + [MARKER]) + checks.hooks(objects, HOOKS, of_hooks)
        # Without a network our C objects define the BSD calls, on purpose.
        rust = [found for found in objects if found.name.endswith(".rcgu.o")]
        wrong += checks.exports(rust) if rust else [f"{path}: no object of Rust's in it"]
    return wrong


def check_image(path, no_altivec, limit, hooks):
    """What can be said of a linked image."""
    objects = elf.read(path)
    wrong = checks.altivec(objects, streams=False) if no_altivec else []
    wrong += checks.tls_of_image(objects, checks.read_allowed(HERE / "allowed-tls.txt"))
    if hooks:
        # The linker drops what nobody calls: greedy allocation is for RTEMS's own tests.
        wrong += checks.marker(objects, HOOKS[:3] + [MARKER]) + checks.bypass(objects, WRAPPED, ON_PURPOSE)
    if limit:
        wrong += checks.limits(objects, limit)
    return wrong


def check_sources(paths):
    """The signatures at the C boundary: our own and bindgen's."""
    return checks.returns({str(path): pathlib.Path(path).read_text(encoding="utf-8") for path in paths})


def main(arguments):
    """Parses the command line; the exit code is 1 when a gate is shut."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    archive = commands.add_parser("archive")
    archive.add_argument("file")
    kind = archive.add_mutually_exclusive_group(required=True)
    kind.add_argument("--pool", action="store_true", help="pool status and tracker only")
    kind.add_argument("--server", action="store_true", help="everything")
    archive.add_argument("--hooks", action="store_true", help="the archive carries the heap hooks")
    image = commands.add_parser("image")
    image.add_argument("file")
    image.add_argument("--no-altivec", action="store_true", help="the whole image must leave vector registers alone")
    image.add_argument("--limit", type=int, default=0, help="the most bytes of code, data and bss")
    image.add_argument("--hooks", action="store_true", help="the heap hooks must be linked in")
    commands.add_parser("sources").add_argument("files", nargs="+")
    options = parser.parse_args(arguments)
    try:
        if options.what == "archive":
            wrong = check_archive(options.file, options.server, options.hooks)
            name = options.file
        elif options.what == "image":
            wrong = check_image(options.file, options.no_altivec, options.limit, options.hooks)
            name = options.file
        else:
            wrong = check_sources(options.files)
            name = f"{len(options.files)} source files"
    except (elf.FormatError, OSError) as error:
        print(f"gates: {error}", file=sys.stderr)
        return 2
    for line in wrong[:40]:
        print(f"gates: {line}")
    if len(wrong) > 40:
        print(f"gates: ... and {len(wrong) - 40} more")
    print(f"gates: {name}: {'FAILED' if wrong else 'passed'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
