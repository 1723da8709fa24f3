# SPDX-License-Identifier: BSD-2-Clause
"""Each gate catches a fault that is put in on purpose, and lets the same thing through without the fault."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import checks
import elf

COMPILERS = [
    ["powerpc-rtems6-gcc"],
    ["/opt/rtems/6/bin/powerpc-rtems6-gcc"],
    ["powerpc-linux-gnu-gcc"],
    ["clang", "--target=powerpc-unknown-none-eabi"],
]


def compiler():
    """A compiler for PowerPC, whichever is there."""
    return next((c for c in COMPILERS if shutil.which(c[0])), None)


@unittest.skipUnless(compiler(), "no PowerPC compiler: install gcc-powerpc-linux-gnu, clang or the RTEMS toolchain")
class CompiledFaults(unittest.TestCase):
    """Faults in machine code."""

    def objects(self, source, language="c"):
        """Compiles `source` for PowerPC."""
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / ("fault." + language)
            text.write_text(source)
            result = text.with_suffix(".o")
            options = ["-O1", "-ffunction-sections", "-fno-pic", "-fno-asynchronous-unwind-tables", "-c"]
            subprocess.run(compiler() + options + ["-o", result, text], check=True)
            return elf.read(result)

    def test_altivec(self):
        for instruction in (0x7C0040CE, 0x10000484, 0x7C0042A6):
            wrong = checks.altivec(self.objects(f".text\nnop\n.long {instruction:#x}\n", "s"))
            self.assertEqual(len(wrong), 1, hex(instruction))

    def test_no_altivec_in_plain_code(self):
        plain = self.objects("double f(double a, int *b) { return a * *b + b[1]; }")
        self.assertEqual(checks.altivec(plain), [])
        # mfspr of LR (8) and lwzx are neighbours of what the gate looks for.
        self.assertEqual(checks.altivec(self.objects(".text\nmflr 0\n.long 0x7c60002e\n", "s")), [])

    def test_tls(self):
        self.assertTrue(checks.tls(self.objects("__thread int counter = 3; int f(void) { return counter; }")))
        self.assertEqual(checks.tls(self.objects("int counter = 3; int f(void) { return counter; }")), [])

    def test_undefined(self):
        objects = self.objects("extern void outside(void); void inside(void) { outside(); }")
        self.assertEqual(len(checks.undefined(objects, {"memcpy"})), 1)
        self.assertEqual(checks.undefined(objects, {"outside"}), [])

    def test_hooks(self):
        text = """
            extern void *malloc(unsigned long); extern void printk(const char *, ...);
            static int (*indirect)(void *);
            __attribute__((noinline)) int quiet(void *p) { return *(int *) p; }
            __attribute__((noinline)) int deep(void *p) { %s return quiet(p); }
            int __wrap__Heap_Free(void *heap, void *p) { indirect = deep; return deep(p) + 1; }
        """
        root = ["__wrap__Heap_Free"]
        self.assertEqual(checks.hooks(self.objects(text % ""), root), [])
        for fault in ('p = malloc(8);', 'printk("x");'):
            wrong = checks.hooks(self.objects(text % fault), root)
            self.assertEqual(len(wrong), 1, wrong)
            self.assertIn("__wrap__Heap_Free -> ", wrong[0])
        self.assertTrue(checks.hooks(self.objects("int other;"), root))

    def test_marker(self):
        self.assertEqual(checks.marker(self.objects("int present;"), ["present"]), [])
        self.assertTrue(checks.marker(self.objects("extern int present; int *p = &present;"), ["present"]))

    def image(self, *flags):
        """Links a caller of _Heap_Free with its wrapper, as an image of ours is."""
        sources = {
            "caller.c": "extern int _Heap_Free(void *); int start(void *p) { return _Heap_Free(p) + 1; }",
            "real.c": "int _Heap_Free(void *p) { return *(int *) p; }",
            "wrap.c": "extern int __real__Heap_Free(void *);"
            " int __wrap__Heap_Free(void *p) { return __real__Heap_Free(p) + 2; }",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in sources.items():
                pathlib.Path(folder, name).write_text(text)
            options = ["-O1", "-nostdlib", "-static", "-fno-pic", "-Wl,-e,start", "-Wl,--defsym=__real__Heap_Free=_Heap_Free"]
            linked = pathlib.Path(folder, "image")
            subprocess.run([*compiler(), *options, *flags, "-o", linked, *sources], cwd=folder, check=True)
            return elf.read(linked)

    @unittest.skipIf(compiler() and compiler()[0] == "clang", "clang alone links nothing for PowerPC")
    def test_bypass(self):
        self.assertEqual(checks.bypass(self.image("-Wl,--wrap=_Heap_Free"), ["_Heap_Free"]), [])
        wrong = checks.bypass(self.image(), ["_Heap_Free"])
        self.assertEqual(len(wrong), 1, wrong)
        self.assertIn("start calls _Heap_Free past its hook", wrong[0])
        self.assertEqual(checks.bypass(self.image(), ["_Heap_Free"], ["start"]), [])

    def test_runtime(self):
        for text in ("int __udivdi3(int a) { return a; }", "__attribute__((weak)) int __aeabi_uidivmod(int a) { return a; }"):
            self.assertEqual(len(checks.runtime(self.objects(text))), 1, text)
            hidden = text.replace("__attribute__((weak))", "")
            self.assertEqual(checks.runtime(self.objects("__attribute__((used)) static " + hidden)), [])
        self.assertEqual(checks.runtime(self.objects("int ours(int a) { return a; }")), [])

    def test_limits(self):
        objects = self.objects("char buffer[5000] = {1}; int f(void) { return 1; }")
        self.assertEqual(checks.limits(objects, 6000), [])
        self.assertTrue(checks.limits(objects, 4000))


class ReturnedStructs(unittest.TestCase):
    """Signatures at the C boundary."""

    def test_own_function(self):
        self.assertTrue(checks.returns({"a": 'pub extern "C" fn f(x: u32) -> Pair {\n}'}))
        self.assertEqual(checks.returns({"a": 'pub extern "C" fn f(x: u32) -> u64 {\n}'}), [])
        self.assertEqual(checks.returns({"a": 'pub extern "C" fn f(out: *mut Pair) {\n}'}), [])

    def test_declared_function(self):
        block = 'unsafe extern "C" {\n    pub fn div(a: ::cty::c_int, f: unsafe extern "C" fn(u32)) -> div_t;\n}\n'
        self.assertTrue(checks.returns({"b": block + "pub struct div_t { a: i32 }"}))
        self.assertEqual(checks.returns({"b": block + "pub type div_t = ::cty::c_long;"}), [])
        self.assertEqual(checks.returns({"b": block.replace("div_t", "*mut div_t")}), [])

    def test_function_pointer(self):
        self.assertTrue(checks.returns({"c": 'pub type Visit = unsafe extern "C" fn(*mut u8) -> Pair;'}))
        self.assertEqual(checks.returns({"c": 'pub type Visit = unsafe extern "C" fn(*mut u8) -> i32;'}), [])


if __name__ == "__main__":
    unittest.main()
