# SPDX-License-Identifier: BSD-2-Clause
"""What `waf install` leaves, as somebody uses it who has nothing else of this package: headers, archives, flags."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import bsps
from machine import Machine, MachineError

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Program: the installed pkg-config file that it is built with, and its source, which is copied out of the tree.
PROGRAMS = {
    "installed-pool": ("rtems-ioc-pool.pc", ROOT / "rtems-tests" / "pool-image" / "pool_image.c"),
    "installed": ("rtems-ioc.pc", ROOT / "rtems-tests" / "installed" / "program.c"),
}


class InstallError(Exception):
    """Something is missing or does not link; the text says what."""


def run(command, **options):
    """Runs a command to its end; raises with the end of what it printed when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise InstallError(f"{command[0]}: {(done.stdout + done.stderr)[-400:]}")
    return done.stdout


def waf():
    """The waf command, or None."""
    own = ROOT / "target" / "waf" / "bin" / "waf"
    return shutil.which("waf") or (str(own) if own.exists() else None)


def flags(pc):
    """Compiler and linker flags of an installed pkg-config file."""
    if shutil.which("pkg-config"):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent)}
        both = [run(["pkg-config", f"--{kind}", pc.stem], env=environment) for kind in ("cflags", "libs")]
    else:
        found = bsps.read_pc(pc)
        both = [found["Cflags"], found["Libs"]]
    return [shlex.split(each) for each in both]


def link(bsp, pc, source, folder):
    """Compiles and links a program with the flags of the BSP and of the installed package; returns the image."""
    outside = folder / source.name
    shutil.copy(source, outside)
    cflags, libs = flags(pc)
    image = outside.with_suffix(".exe")
    objects = outside.with_suffix(".o")
    stack = f"-DSTACK_{bsp.stack}"
    run([bsp.tool("gcc"), *bsp.cflags, *cflags, stack, "-c", str(outside), "-o", str(objects)], cwd=folder)
    run([bsp.tool("gcc"), *bsp.ldflags, str(objects), *libs, "-o", str(image)], cwd=folder)
    return image


def lock_of(build):
    """The name of waf's lock file of this build folder, or None: without it waf installs what was configured last."""
    for path in sorted(ROOT.glob(".lock-waf*")):
        found = re.search(r"^out_dir = '(.*)'$", path.read_text(encoding="utf-8", errors="replace"), re.M)
        if found and pathlib.Path(found[1]).resolve() == build.resolve():
            return path.name
    return None


def tests(bsp, report, build):
    """Installs `build` into a folder that is nobody's, links the programs from there, and runs them where that is simple."""
    lock = lock_of(build)
    obstacle = "no waf: pip install waf-build" if waf() is None else None if lock else f"waf was not configured for {build}"
    if obstacle:
        for name in PROGRAMS:
            report.add(name, "skipped", obstacle)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            run([waf(), "install", f"--destdir={folder / 'root'}"], cwd=ROOT, env={**os.environ, "WAFLOCK": lock})
        except InstallError as why:
            report.add("installed", "failed", str(why))
            return
        for test, (pc, source) in PROGRAMS.items():
            try:
                found = list((folder / "root").glob(f"**/{bsp.triple}/{bsp.bsp}/lib/pkgconfig/{pc}"))
                if not found:
                    raise InstallError(f"no {pc} was installed for this BSP")
                image = link(bsp, found[0], source, folder)
                report.add(test, "passed", boot(bsp, image))
            except (InstallError, MachineError) as why:
                report.add(test, "failed", " ".join(str(why).split())[-300:])


def boot(bsp, image):
    """Runs an image that its emulator takes as it is; what was done."""
    if bsp.config["image"]["form"] != "elf" or "emulator" not in bsp.config or bsp.emulator_lacks():
        return "links"
    with Machine(bsp, image) as machine:
        shown = machine.until(rb"END OF TEST IOC|FAILED", 120)
    if "END OF TEST" not in shown:
        raise InstallError(shown[-200:])
    return "links and runs"
