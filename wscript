# SPDX-License-Identifier: BSD-2-Clause
# vim: set ft=python:
"""Builds rtems-ioc for RTEMS, or hosted when there is no RTEMS.

    waf configure --rtems=PREFIX --rtems-bsps=arch/bsp,...     every known BSP that is installed when none is named
    waf build test install

One variant per BSP under build/<arch>-rtems<version>-<bsp>/; bsp-config/tools knows BSPs, cargo and images. Without
--rtems it builds, tests and installs the hosted program.
"""

import os
import sys

from waflib import Context
from waflib.Build import BuildContext

sys.path.insert(0, os.path.join(Context.run_dir, "bsp-config", "tools"))

APPNAME = "rtems-ioc"
top = "."
out = "build"


def options(opt):
    group = opt.add_option_group("RTEMS options")
    group.add_option("--rtems", default=None, help="prefix where RTEMS, its BSPs and tools are installed")
    group.add_option("--rtems-bsps", default="", help="BSPs to build, as arch/bsp,arch/bsp")
    group.add_option("--no-hooks", action="store_true", help="link without the heap hooks (tier B)")
    test = opt.add_option_group("Test options")
    test.add_option("--tests", default="", help="only these on-target tests, comma separated")
    test.add_option("--quick", action="store_true", help="leave out the tests that take minutes")


def configure(conf):
    import boardlib
    import bsps

    conf.find_program("cargo")
    conf.env.PREFIX_RTEMS = conf.options.rtems or ""
    conf.env.BSPS = []
    conf.env.NO_HOOKS = bool(conf.options.no_hooks)
    if not conf.options.rtems:
        if conf.options.rtems_bsps:
            conf.fatal("--rtems-bsps needs --rtems=PREFIX, where RTEMS is installed")
        conf.msg("RTEMS", "not given (--rtems=PREFIX): the hosted variant only", color="YELLOW")
        return
    try:
        boardlib.check_rust_src()
        for bsp in bsps.select(conf.options.rtems, conf.options.rtems_bsps):
            conf.start_msg(f"Checking BSP {bsp.name}")
            try:
                bsp.check()
            except boardlib.BuildError as error:
                # Whoever names a BSP wants that one; without names it is whatever can be built.
                if conf.options.rtems_bsps:
                    raise
                conf.end_msg(f"SKIPPED: {error}", color="RED")
                continue
            conf.end_msg(f"RTEMS {bsp.version}, network: {bsp.stack}")
            conf.env.append_value("BSPS", bsp.name)
            lacking = bsp.emulator_lacks()
            if lacking:
                conf.msg(f"Emulator of {bsp.name}", f"its tests will be skipped: {lacking}", color="RED")
    except boardlib.BuildError as error:
        conf.fatal(str(error))
    if not conf.env.BSPS:
        conf.fatal("none of the installed BSPs can be built: see above")


def build(bld):
    import images

    if not bld.env.BSPS:
        program = bld.srcnode.make_node("target/release/rtems-ioc")
        bld(rule="cargo build --release", cwd=bld.srcnode, always=True, target=program, name="hosted")
        bld.install_files("${PREFIX}/bin", program, chmod=0o755)
        return
    for bsp in _bsps(bld):
        images.build(bld, bsp, hooks=not bld.env.NO_HOOKS)
    bld.add_post_fun(_note_build)
    images.install_for_epics(bld)


def _note_build(bld):
    """Everything is up to date: `cargo test` runs the images as long as no source is newer."""
    bld.bldnode.make_node("built.txt").write("\n".join(bld.env.BSPS) + "\n")


def test(ctx):
    """Boots each image and runs its tests; without RTEMS the hosted tests."""
    import subprocess

    if not ctx.env.BSPS:
        if subprocess.call(["cargo", "test"], cwd=ctx.path.abspath()):
            ctx.fatal("cargo test failed")
        return
    command = [sys.executable, "rtems-tests/runner/run.py", "--rtems", ctx.env.PREFIX_RTEMS, "--build", out]
    command += ["--tests", ctx.options.tests] if ctx.options.tests else []
    command += ["--quick"] if ctx.options.quick else []
    if subprocess.call(command + ctx.env.BSPS, cwd=ctx.path.abspath()):
        ctx.fatal("tests failed: see above")


def _bsps(ctx):
    import bsps

    return bsps.select(ctx.env.PREFIX_RTEMS, ",".join(ctx.env.BSPS))


class TestContext(BuildContext):
    """`waf test`: needs the configuration, builds nothing itself."""

    cmd = "test"
    fun = "test"
