# SPDX-License-Identifier: BSD-2-Clause
"""Builds the example IOC with each way of answering "is there enough memory?", and commands to measure with.

| variant  | osiSufficentSpaceInPool                                                            |
|----------|------------------------------------------------------------------------------------|
| shipped  | libCom's, as the installed EPICS base has it                                       |
| pr866    | as EPICS has it since PR 866: malloc_free_space()                                  |
| always   | yes                                                                                |
| tier-a   | ours, by rtems_ioc.mk                                                              |
| tier-b   | ours, without the heap hooks                                                       |
| wrapped  | that of pr866, in an image whose heap is hooked and whose malloc_free_space() is ours |
"""

import pathlib
import shlex
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXTRA = [
    HERE / "measure_commands.c",
    ROOT / "rtems-tests/target/heap_chain.c",
    ROOT / "rtems-tests/target/heap_chain.h",
    ROOT / "src/os/rtems/kernel.c",
    ROOT / "src/os/rtems/kernel.h",
]
SCRIPT = """epicsEnvSet IOCSH_PS1 "example> "
dbLoadDatabase "/O.Common/example.dbd"
example_registerRecordDeviceDriver pdbbase
"""
VARIANTS = ["shipped", "pr866", "always", "tier-a", "tier-b", "wrapped"]


class BuildError(Exception):
    """An image could not be built; the text says why."""


def settings(variant):
    """(sources besides the example's own, whether the package is taken, words for make)."""
    # Ours is in the archive with the hooks, too; the first definition stays.
    first = ["USR_LDFLAGS_RTEMS=-Wl,--allow-multiple-definition pool_866.o"]
    return {
        "shipped": ([], False, []),
        "pr866": (["pool_866.c"], False, []),
        "always": (["pool_always.c"], False, []),
        "tier-a": ([], True, []),
        "tier-b": ([], True, ["RTEMS_IOC_HOOKS=NO"]),
        "wrapped": (["pool_866.c"], True, first),
    }[variant]


def example(bsp, base, rtems, package, place, words=()):
    """Builds the example IOC at `place`, with the package or (None) without; returns what the emulator loads."""
    if not place.exists():
        shutil.copytree(ROOT / "epics" / "example", place, ignore=shutil.ignore_patterns("O.*", "RELEASE.local"))
    target = f"RTEMS-{bsp.bsp}"
    command = ["make", "-s", f"BASE={base}", f"RTEMS_BASE={rtems}", f"CROSS_COMPILER_TARGET_ARCHS={target}"]
    command += [f"RTEMS_IOC={package}"] * (package is not None) + list(words)
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    image = place / "bin" / target / ("example" if bsp.config["image"]["form"] == "elf" else "example.boot")
    if done.returncode:
        raise BuildError(f"{shlex.join(command)}:\n{(done.stdout + done.stderr)[-3000:]}")
    if not image.exists():
        raise BuildError(f"{shlex.join(command)}: no {image.name}; is MUNCH_SUFFIX set for {target} in that base?")
    return image


def frees_events(base, bsp):
    """Has this base EPICS's PR 940, so that epicsEventDestroy() gives the event's memory back?"""
    library = pathlib.Path(base, "lib", f"RTEMS-{bsp.bsp}", "libCom.a")
    done = subprocess.run([bsp.tool("nm"), "-A", library], capture_output=True, text=True, check=True)
    wanted = {line.split()[-1] for line in done.stdout.splitlines() if ":osdEvent.o:" in line and " U " in line}
    if "malloc" not in wanted:
        raise BuildError(f"{library}: no osdEvent.o that takes memory: is this an EPICS base for RTEMS 5 and later?")
    return "free" in wanted


def build(variant, bsp, base, rtems, package, folder, mend_events=False):
    """Builds one variant for a BSP under `folder`; returns what the emulator loads."""
    place = pathlib.Path(folder) / variant
    source = place / "src"
    sources, ours, words = settings(variant)
    if mend_events:
        sources = [*sources, "events_freed.c"]
        words = [*words, "PROD_LDFLAGS_RTEMS=-Wl,--wrap=epicsEventDestroy"]
    if place.exists():
        shutil.rmtree(place)
    shutil.copytree(ROOT / "epics" / "example", place, ignore=shutil.ignore_patterns("O.*", "RELEASE.local"))
    for extra in [*EXTRA, *(HERE / name for name in sources)]:
        shutil.copy(extra, source)
    (source / "st.cmd").write_text(SCRIPT)
    (source / "array.db").write_text('record(waveform, "ioc:array") { field(FTVL, "DOUBLE") field(NELM, "100000") }\n')
    for count in (1000, 10000):
        records = (f'record(ai, "ioc:catime{number:06}") {{}}\n' for number in range(count))
        (source / f"catime{count}.db").write_text("".join(records))
    compiled = ["measure_commands.c", "heap_chain.c", "kernel.c", *sources]
    words = [f"PROD_SRCS_RTEMS={' '.join(compiled)}", *words]
    return example(bsp, base, rtems, package if ours else None, place, words)
