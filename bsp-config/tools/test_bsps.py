# SPDX-License-Identifier: BSD-2-Clause
"""What `waf configure` says of a BSP that cannot be built: tried on a prefix that only pretends to be RTEMS."""

import pathlib
import tempfile
import unittest

import bsps
from boardlib import BuildError

DRIVER = "rtems_ne_driver_attach"


class Configure(unittest.TestCase):
    """powerpc/qemuprep under a pretended prefix, complete unless a test takes something away."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name)
        self.lib = self.prefix / "powerpc-rtems6" / "qemuprep" / "lib"
        for each in (self.lib, self.prefix / "bin", self.prefix / "lib" / "pkgconfig"):
            each.mkdir(parents=True)
        self.abi("-mcpu=powerpc -mmultiple -mstrict-align")
        (self.lib / "libnetworking.a").touch()
        self.tool("gcc", "13.3.0")
        self.tool("nm", f"000012bc T {DRIVER}")

    def abi(self, flags):
        """The BSP as pkg-config describes it."""
        text = f"libdir={self.lib}\nABI_FLAGS={flags}\nCflags: ${{ABI_FLAGS}}\n"
        (self.prefix / "lib" / "pkgconfig" / "powerpc-rtems6-qemuprep.pc").write_text(text)

    def tool(self, name, says):
        """A tool that prints one line whatever it is asked."""
        path = self.prefix / "bin" / f"powerpc-rtems6-{name}"
        path.write_text(f"#!/bin/sh\necho '{says}'\n")
        path.chmod(0o755)

    def refusal(self, wanted="powerpc/qemuprep", **changes):
        """Why configure stops, or an empty text."""
        try:
            for bsp in bsps.select(self.prefix, wanted):
                for section, values in changes.items():
                    bsp.config[section].update(values)
                bsp.check()
        except BuildError as why:
            return str(why)
        return ""

    def test_complete(self):
        self.assertEqual(self.refusal(), "")

    def test_driver_that_was_not_compiled(self):
        self.tool("nm", "         U " + DRIVER)
        self.assertIn(f"libnetworking.a has no {DRIVER}: that driver was not compiled for this BSP", self.refusal())
        self.tool("nm", "000012bc T rtems_dec21140_driver_attach")
        self.assertIn(f"has no {DRIVER}", self.refusal())

    def test_network_stack_that_is_not_installed(self):
        (self.lib / "libnetworking.a").unlink()
        self.assertIn("libnetworking.a is missing: network stack 'legacy' of powerpc-qemuprep.toml", self.refusal())

    def test_compiler_that_does_not_run(self):
        # Not removed: there may be another one on PATH.
        (self.prefix / "bin" / "powerpc-rtems6-gcc").write_text("#!/bin/sh\nexit 1\n")
        self.assertIn("powerpc-rtems6-gcc does not run", self.refusal())

    def test_other_abi(self):
        self.abi("-mcpu=powerpc -msoft-float")
        self.assertIn("compiled with -msoft-float", self.refusal())

    def test_version_that_lacks_what_the_server_is_made_from(self):
        place = self.prefix / "lib" / "pkgconfig"
        (place / "powerpc-rtems6-qemuprep.pc").rename(place / "powerpc-rtems4.10-qemuprep.pc")
        self.assertIn("needs RTEMS 5 or later: 4.10 has no poll.h, no sys/lock.h", self.refusal())

    def test_bsp_that_is_not_installed_or_not_known(self):
        for wanted in ("powerpc/mvme5500", "powerpc/typo"):
            self.assertIn(f"{wanted} is not installed", self.refusal(wanted))
            self.assertIn("installed under", self.refusal(wanted))
        self.assertIn("is not of the form arch/bsp", self.refusal("qemuprep"))

    def test_too_few_descriptors(self):
        self.assertIn("292 clients need 308 descriptors", self.refusal(network={"descriptors": 307}))

    def test_too_few_network_buffers(self):
        self.assertIn("bytes of clusters", self.refusal(network={"cluster_bytes": 1 << 20}))

    def test_too_few_network_buffers_on_libbsd(self):
        path = bsps.CONFIG / "arm-xilinx_zynq_a9_qemu.toml"
        pc = self.prefix / "lib" / "pkgconfig" / "powerpc-rtems6-qemuprep.pc"
        bsp = bsps.Bsp(self.prefix, "arm/xilinx_zynq_a9_qemu", path, "6", pc)
        config = bsp.config
        bsp.check_numbers()
        for key, value in (("clusters", 4096), ("domain_bytes", 16 << 20), ("tcp_receive_bytes", 65536), ("tcp_send_bytes", 1 << 18)):
            bsp.config = {**config, "network": {**config["network"], key: value}}
            self.assertRaisesRegex(BuildError, "the buffers of 76 clients take \\d+ clusters", bsp.check_numbers)


if __name__ == "__main__":
    unittest.main()
