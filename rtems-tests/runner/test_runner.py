# SPDX-License-Identifier: BSD-2-Clause
"""The runner itself, on made-up consoles: what it must not take for a pass. Neither RTEMS nor an emulator is needed."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

import run
import bsps
import console_tests
import expected
import installed
import measure
from boardlib import BuildError
from report import Report

# What the command stackuse shows: id, name, ends of the stack, current pointer, its size, and the most that was used.
STACKS = """                             STACK USAGE BY THREAD
ID         NAME                  LOW        HIGH       CURRENT     AVAIL  USED
0x09010001 IDLE                  0x00200000 0x00201000 0x00200f00   4080    544
"""


def stack(name, size, used):
    """A line of it."""
    return f"0x0a010001 {name}                  0x00200000 0x00203000 0x00202f00  {size}   {used}\n"


class Stacks(unittest.TestCase):
    """The report of our tasks' stacks."""

    def judge(self, network="libbsd", **changes):
        """The fault, of six tasks of which some were changed; None for a task takes it away."""
        lines = {name: (8176, 2000) for name in console_tests.OWN_TASKS.values()} | changes
        text = STACKS + "".join(stack(name, *line) for name, line in lines.items() if line)
        return console_tests.judge_stacks(text, network)[0]

    def test_all_is_well(self):
        self.assertIsNone(self.judge())
        self.assertIsNone(self.judge("none", CAsr=None, tcpe=None, SNTP=None))

    def test_a_task_that_is_not_there(self):
        self.assertIn("not in the list: cour", self.judge(cour=None))
        self.assertIn("not in the list: CAsr", self.judge(CAsr=None))

    def test_more_than_half(self):
        self.assertIn("more than half used: cour", self.judge(cour=(8176, 4088)))

    def test_too_much_together(self):
        self.assertIn("more than 65536 bytes", self.judge(UI1=(30000, 2000)))


SCREEN = "*** BEGIN OF TEST IOC x ***\n*** TEST STATE: EXPECTED_PASS\nall well\n*** END OF TEST IOC x ***\n"


class Console:
    """An image's console that lists these self tests and passes each."""

    stack = "none"

    def __init__(self, names, more=""):
        self.names, self.more = names, more

    def command(self, line, _seconds=30):
        """Answers as the shell does."""
        name = line.split()[-1]
        if name == "-l":
            return "\n".join(self.names) + "\n"
        text = (run.SCREENS / f"{name}.scn").read_text(encoding="utf-8")
        return f"\n{text}{self.more}\nselftest: 1 passed, 0 failed\n"


class SelfTests(unittest.TestCase):
    """Each test of the sources, against its screen."""

    def outcomes(self, console):
        """{test: (outcome, detail)}."""
        report = Report("made/up")
        with mock.patch("builtins.print"):
            run.self_tests(console, report, set(), 1)
        return {result["test"]: (result["outcome"], result["detail"]) for result in report.results}

    def test_every_test_has_a_screen_and_the_other_way_round(self):
        self.assertEqual(set(expected.self_tests("legacy")), {path.stem for path in run.SCREENS.glob("*.scn")})
        self.assertLess(set(expected.self_tests("none")), set(expected.self_tests("libbsd")))
        self.assertLess(set(expected.self_tests("libbsd")), set(expected.self_tests("legacy")))

    def test_all_is_well(self):
        found = self.outcomes(Console(expected.self_tests("none")))
        self.assertEqual({outcome for outcome, _ in found.values()}, {"passed"}, found)

    def test_a_test_that_the_image_has_lost(self):
        names = expected.self_tests("none")
        found = self.outcomes(Console(names[1:]))
        self.assertEqual(found[names[0]], ("failed", "selftest -l does not name it"))

    def test_a_test_that_nobody_knows(self):
        found = self.outcomes(Console([*expected.self_tests("none"), "new"]))
        self.assertEqual(found["new"][0], "failed")

    def test_a_warning_that_is_not_the_tests(self):
        found = self.outcomes(Console(expected.self_tests("none"), "WARN: beacon to 10.0.2.2:5065: errno 118\n"))
        self.assertEqual(found["tracker"], ("failed", "unexpected 'WARN: beacon to 10.0.2.2:5065: errno 118'"))
        self.assertIsNone(run.log_fault("libbsd", "descriptors", "WARN: cannot accept a client: too many open files\n"))
        self.assertIn("unexpected", run.log_fault("libbsd", "restarts", "WARN: cannot accept a client: too many open files\n"))


class Names(unittest.TestCase):
    """What there is to run, and what was asked for."""

    def setUp(self):
        load = bsps.tomllib.loads
        self.configs = {name: load(path.read_text(encoding="utf-8")) for name, path in bsps.known().items()}

    def test_a_name_that_no_image_has(self):
        with self.assertRaises(BuildError) as caught:
            run.check_names({"typo", "stacks"}, self.configs)
        self.assertIn("has no test typo; there are: boot", str(caught.exception))
        run.check_names({"stacks", "caget", "installed", "boot", "buffers"}, self.configs)
        with self.assertRaises(BuildError):
            run.check_names({"buffers"}, {"arm/xilinx_zynq_a9_qemu": self.configs["arm/xilinx_zynq_a9_qemu"]})

    def test_the_list_has_each_test_of_each_image(self):
        command = [sys.executable, str(pathlib.Path(run.__file__)), "--list"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(len(lines), sum(len(expected.tests(config)) for config in self.configs.values()))
        self.assertIn("powerpc/psim tracker", lines)
        self.assertNotIn("powerpc/psim caget", lines)

    def test_without_an_emulator_each_test_is_a_skipped_one(self):
        config = self.configs["powerpc/psim"]
        with tempfile.TemporaryDirectory() as folder:
            bsp = types.SimpleNamespace(name="powerpc/psim", stack="none", config=config, variant="v", prefix=folder)
            bsp.emulator_lacks = lambda: bsps.Bsp.emulator_lacks(bsp)
            (pathlib.Path(folder) / "v").mkdir()
            with mock.patch("builtins.print"), mock.patch.object(installed, "tests"):
                report = run.run_image(bsp, pathlib.Path(folder), set(), False)
        self.assertEqual(report.count("skipped"), len(expected.emulated("none")))
        self.assertEqual(len(report.results), report.count("skipped"))

    def test_what_the_emulator_needs(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder)
            bsp = types.SimpleNamespace(config=self.configs["powerpc/psim"], prefix=folder)
            self.assertIn("powerpc-rtems6-run is not installed", bsps.Bsp.emulator_lacks(bsp))
            (prefix / "bin").mkdir()
            (prefix / "bin" / "powerpc-rtems6-run").write_text("#!/bin/sh\n")
            (prefix / "bin" / "powerpc-rtems6-run").chmod(0o755)
            why = bsps.Bsp.emulator_lacks(bsp)
            self.assertIn(f"{folder}/share/psim-device-tree is missing: copy", why)
            (prefix / "share").mkdir()
            (prefix / "share" / "psim-device-tree").touch()
            self.assertIsNone(bsps.Bsp.emulator_lacks(bsp))

    def test_the_build_folder_that_is_installed(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(installed, "ROOT", pathlib.Path(folder)):
            (pathlib.Path(folder) / ".lock-waf_other").write_text(f"top_dir = '/'\nout_dir = '{folder}/other'\n")
            self.assertEqual(installed.lock_of(pathlib.Path(folder, "other")), ".lock-waf_other")
            self.assertIsNone(installed.lock_of(pathlib.Path(folder, "build")))


HEAPBENCH = """used blocks: tracker, malloc_free_space walk, malloc_info walk
     100        32.0       251.7     10042.5
    1000        32.0       251.7     34728.5
   10000        31.9       253.6    277838.5
  100000        32.0       270.0   2708922.0
used blocks, as many free ones: tracker, malloc_free_space walk, malloc_info walk
     100        32.0      1353.0     13018.4
    1000        32.0     11257.3     60740.1
   10000        31.9    110299.5    537960.4
  100000        31.9   1100730.0   5310112.0
heap operation: plain, hooked, difference
allocate       180.0       305.0       125.0
free            79.0       229.0       150.0
"""


class HeapLimits(unittest.TestCase):
    """What `measure.py heap` says of a table."""

    def exceeded(self, old="", new=""):
        """The limits that do not hold when a part of the table is another."""
        self.assertIn(old, HEAPBENCH)
        return [limit for limit, holds in measure.judge_heap(HEAPBENCH.replace(old, new)) if not holds]

    def test_each_limit(self):
        self.assertEqual(self.exceeded(), [])
        self.assertEqual(len(self.exceeded("10000        31.9       253", "10000        40.1       253")), 2)
        self.assertEqual(self.exceeded("100000        31.9", "100000        33.0"), ["whatever the heap: 31.9 to 33.0"])
        self.assertEqual(self.exceeded("150.0\n", "150.1\n"), ["free: 150.1 more, limit 150"])
        self.assertEqual(self.exceeded("125.0", "203.9"), ["allocate: 203.9 more, limit 150"])

    def test_a_table_that_is_cut(self):
        for part in ("free            79", "    1000        32.0       251"):
            with self.assertRaises(ValueError):
                measure.judge_heap(HEAPBENCH.replace(part, ""))


# Starts a program in a session of its own, as EPICS's clients start their repeater, and waits.
LEFTOVER = """
import os, subprocess, sys, time
sys.path.insert(0, {folder!r})
import run
run.isolate()
print("isolated" if os.environ.get("RTEMS_IOC_ISOLATED") else "not isolated", flush=True)
subprocess.Popen(["sh", "-c", "exec sleep {seconds}"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
time.sleep(60)
"""


class Leftovers(unittest.TestCase):
    """A runner that is killed."""

    def leftovers(self, number):
        """How many of the programs that it started there are, before it is killed and after."""
        seconds = f"3600.{os.getpid()}{number}"

        def there():
            found = 0
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    found += path.read_bytes().split(b"\0")[:2] == [b"sleep", seconds.encode()]
                except OSError:
                    continue
            return found

        def wait_for(count):
            end = time.monotonic() + 20
            while there() != count and time.monotonic() < end:
                time.sleep(0.05)
            return there()

        folder = str(pathlib.Path(run.__file__).parent)
        environment = {name: value for name, value in os.environ.items() if name != "RTEMS_IOC_ISOLATED"}
        with tempfile.TemporaryDirectory() as place:
            script = pathlib.Path(place) / "runner.py"
            script.write_text(LEFTOVER.format(folder=folder, seconds=seconds))
            command = [sys.executable, str(script)]
            with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as runner:
                line = runner.stdout.readline()
                while line and "isolated" not in line.split("(")[0]:
                    line = runner.stdout.readline()
                if not line.startswith("isolated"):
                    runner.kill()
                    self.skipTest("the system allows no namespaces")
                before = wait_for(1)
                os.kill(runner.pid, number)
                runner.wait()
                return before, wait_for(0)

    def test_it_leaves_nothing(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.assertEqual(self.leftovers(number), (1, 0), number)


if __name__ == "__main__":
    unittest.main()
