# SPDX-License-Identifier: BSD-2-Clause
"""`waf configure` on an RTEMS prefix that is made up: what it refuses and lists, what it makes for the sources.

test_bsps.py beside it looks at one BSP more closely.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import bsps
import images
from boardlib import ROOT, BuildError

sys.path.insert(0, str(ROOT / "rtems-tests" / "runner"))
from console_tests import OWN_TASKS, STACK_BYTES  # noqa: E402

# BSP: the flags that its pkg-config file gives.
INSTALLED = {
    "powerpc/psim": "-Dppc603e -meabi -mcpu=603e -msdata=sysv",
    "powerpc/mvme2307": "-mcpu=604 -msoft-float",
    "arm/xilinx_zynq_a9_qemu": "-march=armv7-a -mthumb -mfloat-abi=soft",
    "arm/raspberrypi2": "-march=armv7-a -mfloat-abi=hard",
}


def waf():
    """The waf command, or None."""
    own = ROOT / "target" / "waf" / "bin" / "waf"
    return shutil.which("waf") or (str(own) if own.exists() else None)


class MadeUpPrefix(unittest.TestCase):
    """A prefix with the pkg-config files of four BSPs and compilers that only start."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name)
        (self.prefix / "bin").mkdir()
        (self.prefix / "lib" / "pkgconfig").mkdir(parents=True)
        for name, flags in INSTALLED.items():
            arch, bsp = name.split("/")
            text = f"prefix={self.prefix}\nlibdir=${{prefix}}/{arch}-rtems6/{bsp}/lib\nABI_FLAGS={flags}\n"
            (self.prefix / "lib" / "pkgconfig" / f"{arch}-rtems6-{bsp}.pc").write_text(text)
            for tool in ("gcc", "nm"):
                program = self.prefix / "bin" / f"{arch}-rtems6-{tool}"
                program.write_text("#!/bin/sh\nexit 0\n")
                program.chmod(0o755)

    def refusal(self, wanted):
        """The text with which these BSPs are refused."""
        with self.assertRaises(BuildError) as caught:
            for bsp in bsps.select(self.prefix, wanted):
                bsp.check()
        return str(caught.exception)

    def configure(self, *arguments):
        """`waf configure` beside the user's own configuration: exit status and what it printed."""
        if waf() is None:
            self.skipTest("no waf: pip install waf-build")
        lock = f".lock-waf_test{os.getpid()}"
        self.addCleanup((ROOT / lock).unlink, missing_ok=True)
        done = subprocess.run(
            [waf(), "configure", f"--out={self.prefix}/out", *arguments],
            cwd=ROOT,
            env={**os.environ, "WAFLOCK": lock, "NOCOLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        link = ROOT / "build_current"
        if link.is_symlink() and os.readlink(link).startswith(str(self.prefix)):
            link.unlink()
        return done.returncode, done.stdout + done.stderr


class Refusals(MadeUpPrefix):
    """Each says what is wrong and what there is."""

    def test_not_installed(self):
        text = self.refusal("powerpc/psim,powerpc/mvme5500")
        self.assertIn("powerpc/mvme5500 is not installed", text)
        for name in [*INSTALLED, "powerpc/beatnik"]:
            self.assertIn(name, text)

    def test_malformed(self):
        for malformed in ("powerpc/", "/psim", "powerpc/psim/x"):
            self.assertIn("not of the form arch/bsp", self.refusal(malformed))

    def test_not_in_bsp_config(self):
        text = self.refusal("arm/raspberrypi2")
        self.assertIn("arm/raspberrypi2 has no file in bsp-config", text)
        self.assertIn("known to bsp-config: arm/xilinx_zynq_a9_qemu", text)

    def test_another_abi(self):
        text = self.refusal("powerpc/mvme2307")
        self.assertIn("compiled with -msoft-float", text)
        self.assertIn("ABI_FLAGS=-mcpu=604 -msoft-float", text)
        text = self.refusal("arm/xilinx_zynq_a9_qemu")
        self.assertIn("needs -mfloat-abi=hard", text)
        self.assertIn("-mfloat-abi=soft", text)

    def test_no_rtems(self):
        shutil.rmtree(self.prefix / "lib")
        self.assertIn("no RTEMS BSP is installed under", self.refusal(""))

    def test_what_fits_is_taken(self):
        chosen = bsps.select(self.prefix, "powerpc/psim, powerpc/psim")
        self.assertEqual([bsp.name for bsp in chosen], ["powerpc/psim"])
        chosen[0].check()
        known = bsps.select(self.prefix, "")
        self.assertEqual({bsp.name for bsp in known}, set(INSTALLED) - {"arm/raspberrypi2"})


class Waf(MadeUpPrefix):
    """The same through waf itself."""

    def test_refusals_end_the_configuration(self):
        status, text = self.configure(f"--rtems={self.prefix}", "--rtems-bsps=powerpc/psim,powerpc/typo")
        self.assertNotEqual(status, 0)
        self.assertIn("powerpc/typo is not installed", text)
        status, text = self.configure(f"--rtems={self.prefix}", "--rtems-bsps=powerpc/mvme2307")
        self.assertNotEqual(status, 0)
        self.assertIn("compiled with -msoft-float", text)
        status, text = self.configure("--rtems-bsps=powerpc/psim")
        self.assertNotEqual(status, 0)
        self.assertIn("needs --rtems=PREFIX", text)

    def test_a_bsp_that_fits(self):
        status, text = self.configure(f"--rtems={self.prefix}", "--rtems-bsps=powerpc/psim")
        self.assertEqual(status, 0, text)
        self.assertIn("RTEMS 6, network: none", text)

    def test_without_names_what_does_not_fit_is_skipped_loudly(self):
        status, text = self.configure(f"--rtems={self.prefix}")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, "Checking BSP powerpc/mvme2307 .*SKIPPED: .*compiled with -msoft-float")
        self.assertRegex(text, "Checking BSP arm/xilinx_zynq_a9_qemu .*SKIPPED: .*needs -mfloat-abi=hard")
        self.assertIn("RTEMS 6, network: none", text)
        built = (self.prefix / "out" / "c4che" / "_cache.py").read_text(encoding="utf-8")
        self.assertIn("BSPS = ['powerpc/psim']", built)
        (self.prefix / "lib" / "pkgconfig" / "powerpc-rtems6-psim.pc").unlink()
        status, text = self.configure(f"--rtems={self.prefix}")
        self.assertNotEqual(status, 0)
        self.assertIn("none of the installed BSPs can be built", text)

    def test_what_the_emulator_needs_is_looked_for(self):
        run = self.prefix / "bin" / "powerpc-rtems6-run"
        run.write_text("#!/bin/sh\n")
        run.chmod(0o755)
        _, text = self.configure(f"--rtems={self.prefix}", "--rtems-bsps=powerpc/psim")
        self.assertRegex(text, "Emulator of powerpc/psim .*share/psim-device-tree is missing: copy tester/")
        (self.prefix / "share").mkdir()
        (self.prefix / "share" / "psim-device-tree").touch()
        _, text = self.configure(f"--rtems={self.prefix}", "--rtems-bsps=powerpc/psim")
        self.assertNotIn("psim-device-tree", text)

    def test_without_rtems_it_is_the_hosted_program(self):
        status, text = self.configure()
        self.assertEqual(status, 0, text)
        self.assertIn("the hosted variant only", text)


class Texts(MadeUpPrefix):
    """What is made from the file of a BSP."""

    def test_settings_for_the_sources(self):
        (bsp,) = bsps.select(self.prefix, "arm/xilinx_zynq_a9_qemu")
        rust, header = bsp.rust_constants(), bsp.c_header()
        self.assertIn('pub const EPICS: &[(&str, &str)] = &[("EPICS_CAS_BEACON_ADDR_LIST", "10.0.2.2")];', rust)
        self.assertIn("pub const FIRMWARE_VARIABLES: usize = 0;", rust)
        self.assertIn("#define RTEMS_IOC_TASK_SNTP_STACK 6144\n", header)
        self.assertIn("#define RTEMS_IOC_STACK_LIBBSD 1\n", header)

    def test_our_stacks_are_small(self):
        for name, path in bsps.known().items():
            tasks = bsps.tomllib.loads(path.read_text(encoding="utf-8"))["tasks"]
            # Each of them, and none that the runner's `stacks` does not look at.
            self.assertEqual(set(tasks), set(OWN_TASKS), name)
            self.assertLessEqual(sum(task["stack"] for task in tasks.values()), STACK_BYTES, name)

    def test_every_task_is_looked_at(self):
        """The tasks that the sources start have a place in bsp-config, in the report of stacks and in the idle figure."""
        roles = re.findall(r'Role::\w+ => "(\w+)"', (ROOT / "src/os/system.rs").read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(roles), 3)
        # The kernel keeps four characters.
        started = {role[:4] for role in roles} | {"SNTP"}
        self.assertEqual(started | {"UI1", "SHLL"}, set(OWN_TASKS.values()))
        kernel = (ROOT / "src/os/rtems/kernel.c").read_text(encoding="utf-8")
        listed = re.search(r"own_tasks\[\] = \{(.*?)\}", kernel)[1]
        self.assertEqual(set(re.findall(r'"(\w+)"', listed)), started)
        task = (ROOT / "src/os/rtems/task.rs").read_text(encoding="utf-8")
        dimensions = re.findall(r"Role::\w+ => \(config::TASK_(\w+)_STACK, config::TASK_(\w+)_PRIORITY\)", task)
        self.assertEqual(len(dimensions), len(roles), "stack and priority are not from bsp-config")

    def test_flags_for_installed_archives(self):
        (bsp,) = bsps.select(self.prefix, "powerpc/psim")
        texts = images.pkg_config(bsp)
        self.assertEqual(set(texts), {"rtems-ioc.pc", "rtems-ioc-pool.pc"})
        pool = texts["rtems-ioc-pool.pc"]
        for flag in ("-u,osiSufficentSpaceInPool", "${libdir}/librtems_ioc_pool.a", "--wrap=_Heap_Free"):
            self.assertIn(flag, pool)
        self.assertIn("${libdir}/librtems_ioc.a", texts["rtems-ioc.pc"])


if __name__ == "__main__":
    unittest.main()
