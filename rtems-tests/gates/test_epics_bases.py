# SPDX-License-Identifier: BSD-2-Clause
"""Which EPICS base the tests under rtems-tests/epics take, on made-up bases: neither EPICS nor RTEMS is needed."""

import pathlib
import shutil
import sys
import tempfile
import types
import unittest
from unittest import mock

import gates

sys.path.insert(0, str(gates.HERE.parent / "epics"))
import bases  # noqa: E402

BSP = types.SimpleNamespace(bsp="beatnik", name="powerpc/beatnik", version="6")
OTHER = types.SimpleNamespace(bsp="mvme2307", name="powerpc/mvme2307", version="6")


@unittest.skipUnless(shutil.which("make"), "no GNU make")
class Bases(unittest.TestCase):
    """A folder of bases, each built for something else."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        self.rtems = self.place / "rtems6"
        self.rtems.mkdir()
        environment = mock.patch.dict("os.environ")
        environment.start()
        self.addCleanup(environment.stop)
        bases.os.environ.pop("EPICS_BASE", None)

    def base(self, name, rtems=None, version="6", libraries=("libCom.a", "libdbCore.a", "libdbRecStd.a")):
        """A base, with its libraries for RTEMS-beatnik."""
        made = self.place / name
        (made / "configure").mkdir(parents=True)
        (made / "configure" / "CONFIG_BASE").touch()
        (made / "configure" / "CONFIG").write_text(f"RTEMS_VERSION = {version}\nRTEMS_BASE = {rtems or self.rtems}\n")
        library = made / "lib" / "RTEMS-beatnik"
        library.mkdir(parents=True)
        for each in libraries:
            (library / each).touch()
        return str(made)

    def choose(self, named=None):
        return bases.choose(named, [BSP, OTHER], str(self.rtems), self.place)

    def test_the_newest_by_number(self):
        self.base("base-7.0.9")
        newest = self.base("base-7.0.10")
        self.base("base-7.0")
        base, serves, against = self.choose()
        self.assertEqual((base, serves), (newest, [BSP]))
        self.assertEqual(against, [f"{newest}: powerpc/mvme2307: it has no lib/RTEMS-mvme2307/libCom.a"])

    def test_a_newer_one_that_does_not_serve(self):
        right = self.base("base-7.0.8")
        self.base("base-7.0.9", rtems=self.place / "rtems5", version="5")
        self.base("base-7.0.10", libraries=["libCom.a"])
        (self.place / "base-R9").mkdir()
        self.assertEqual(self.choose()[0], right)

    def test_none_and_why(self):
        self.assertIn("no EPICS base under", self.choose()[2][0])
        self.base("base-3", rtems="/elsewhere")
        self.base("base-2", version="5")
        self.base("base-1", libraries=[])
        (pathlib.Path(self.base("base-0")) / "configure" / "CONFIG").write_text("$(error no RTEMS)\n")
        base, serves, against = self.choose()
        self.assertEqual((base, serves), (None, []))
        self.assertIn("base-3: powerpc/beatnik: its RTEMS-beatnik is for RTEMS 6 of /elsewhere", against[0])
        self.assertIn(f"is for RTEMS 5 of {self.rtems}", against[2])
        self.assertIn("no lib/RTEMS-beatnik/libCom.a", against[4])
        self.assertIn("do not say which RTEMS", against[6])

    def test_the_one_that_is_named(self):
        self.base("base-7.0.10")
        named = self.base("old")
        self.assertEqual(self.choose(named)[0], named)
        with mock.patch.dict("os.environ", EPICS_BASE=named):
            self.assertEqual(self.choose()[0], named)
        # It is that one or none: another would be a surprise.
        self.assertEqual(self.choose(str(self.place / "nothing")), (None, [], [f"{self.place}/nothing is no EPICS base"]))


if __name__ == "__main__":
    unittest.main()
