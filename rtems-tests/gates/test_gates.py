# SPDX-License-Identifier: BSD-2-Clause
"""Each gate catches a fault that is put in on purpose, and lets the same thing through without the fault."""

import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import checks
import elf
import gates

ROOT = gates.HERE.parents[1]
COMPILERS = [
    ["powerpc-rtems6-gcc"],
    ["/opt/rtems/6/bin/powerpc-rtems6-gcc"],
    ["powerpc-linux-gnu-gcc"],
    ["clang", "--target=powerpc-unknown-none-eabi"],
]


# One of each kind that a heap hook must not reach: memory, locks, prints, ends.
PLANTED = [
    *("malloc", "realloc", "free", "posix_memalign", "strdup", "_Znwj", "malloc_info"),
    *("_RTEMS_Lock_allocator", "_RTEMS_Unlock_allocator", "_API_Mutex_Lock", "_Mutex_recursive_Acquire", "rtems_semaphore_obtain"),
    *("pthread_mutex_lock", "sem_wait", "rtems_binary_semaphore_wait", "_CORE_mutex_Seize_slow", "rtems_bsdnet_semaphore_obtain"),
    *("rtems_event_send", "_Thread_Dispatch", "rtems_ioc_heap_lock"),
    *("printk", "printf", "puts", "fprintf", "write", "rtems_printf", "abort", "rtems_fatal_error_occurred", "__assert_func"),
]


def compiler():
    """A compiler for PowerPC, whichever is there."""
    return next((c for c in COMPILERS if shutil.which(c[0])), None)


@functools.cache
def rust_faults():
    """planted/ as the boards' archives are built, with core and alloc for their target; None where that cannot be done."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=False) if shutil.which("rustc") else None
    if sysroot is None or not pathlib.Path(sysroot.stdout.strip(), "lib/rustlib/src/rust/library/core").is_dir():
        return None
    target = ROOT / "target" / "planted"
    command = ["cargo", "build", "-q", "--release", "--target", ROOT / "bsp-config" / "powerpc-rtems-ioc.json"]
    command += ["--target-dir", target, "-Zjson-target-spec", "-Zbuild-std=core,alloc"]
    subprocess.run(command, cwd=gates.HERE / "planted", env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, check=True)
    return elf.read(target / "powerpc-rtems-ioc" / "release" / "libplanted.a")


@unittest.skipUnless(compiler(), "no PowerPC compiler: install gcc-powerpc-linux-gnu, clang or the RTEMS toolchain")
class CompiledFaults(unittest.TestCase):
    """Faults in machine code."""

    def objects(self, source, language="c", flags=()):
        """Compiles `source` for PowerPC."""
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / ("fault." + language)
            text.write_text(source)
            result = text.with_suffix(".o")
            options = ["-O1", "-ffunction-sections", "-fno-pic", "-fno-asynchronous-unwind-tables", "-fno-builtin", "-c"]
            subprocess.run([*compiler(), *options, *flags, "-o", result, text], check=True)
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

    @unittest.skipIf(compiler() and compiler()[0] == "clang", "clang alone links nothing for PowerPC")
    def test_tls_in_an_image(self):
        """The C library's is let through, ours is not, and no more either when its name is gone."""
        library = "__thread int _tls_errno;"
        ours = "__thread int counter; __thread char room[400];"
        start = "void start(void) { _tls_errno = 1; %s }"
        allowed = {"_tls_*"}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)

            def image(text, *flags):
                (folder / "image.c").write_text(text)
                options = ["-O1", "-nostdlib", "-static", "-fno-pic", "-ftls-model=local-exec", "-Wl,-e,start"]
                subprocess.run([*compiler(), *options, *flags, "-o", "image", "image.c"], cwd=folder, check=True)
                return folder / "image"

            self.assertEqual(checks.tls_of_image(elf.read(image(library + start % "")), allowed), [])
            wrong = checks.tls_of_image(elf.read(image(library + ours + start % "counter = room[_tls_errno];")), allowed)
            self.assertEqual(len(wrong), 2, wrong)
            self.assertTrue(any("counter of 4 bytes" in line for line in wrong), wrong)
            # The same through the command, as the build runs it.
            self.assertEqual(gates.main(["image", str(folder / "image")]), 1)
            self.assertEqual(gates.main(["image", str(image(library + start % ""))]), 0)
            nameless = elf.read(image(library + ours + start % "counter = room[_tls_errno];", "-Wl,-s"))
            self.assertIn("its variables have 0", checks.tls_of_image(nameless, allowed)[0])

    def test_undefined(self):
        objects = self.objects("extern void outside(void); void inside(void) { outside(); }")
        self.assertEqual(len(checks.undefined(objects, {"memcpy"})), 1)
        self.assertEqual(checks.undefined(objects, {"outside"}), [])

    def test_hooks(self):
        text = """
            %s
            static int (*indirect)(void *);
            __attribute__((noinline)) int quiet(void *p) { return *(int *) p; }
            __attribute__((noinline)) int deep(void *p) { %s; return quiet(p); }
            int __wrap__Heap_Free(void *heap, void *p) { indirect = deep; return deep(p) + 1; }
        """
        root = ["__wrap__Heap_Free"]
        self.assertEqual(checks.hooks(self.objects(text % ("", "")), root), [])
        for name in PLANTED:
            declared = f"extern void {name}(void *);"
            wrong = checks.hooks(self.objects(text % (declared, f"{name}(p)")), root)
            self.assertEqual(len(wrong), 1, f"{name}: {wrong}")
            self.assertIn(f"heap hook reaches {name}: __wrap__Heap_Free -> ", wrong[0])
        self.assertTrue(checks.hooks(self.objects("int other;"), root))

    def test_hooks_by_what_nobody_knows(self):
        """A name that is on no list is one too many, too."""
        text = "int send(int); int __wrap__Heap_Free(void *heap, void *p) { return send(1); }"
        root = ["__wrap__Heap_Free"]
        self.assertEqual(checks.hooks(self.objects(text), root, {"send"}), [])
        self.assertEqual(checks.hooks(self.objects(text), root, {"__real_*"}), ["heap hook reaches send: __wrap__Heap_Free -> send"])

    def test_hooks_by_an_inlined_lock(self):
        """RTEMS's own locks are inline functions; what is left of them in the object is caught."""
        include = next(pathlib.Path("/opt/rtems").glob("*/powerpc-rtems6/*/lib/include/rtems/thread.h"), None)
        if include is None or "rtems" not in compiler()[0]:
            self.skipTest("no RTEMS for PowerPC is installed under /opt/rtems")
        text = """
            #include <rtems.h>
            #include <rtems/thread.h>
            static rtems_mutex mutex;
            int __wrap__Heap_Free(void *heap, void *p) { %s; return heap == p; }
        """
        folder = include.parents[1]
        for taken in ("rtems_mutex_lock(&mutex)", "rtems_semaphore_obtain(1, RTEMS_WAIT, 0)"):
            objects = self.objects(text % taken, flags=["-isystem", str(folder), f"-B{folder.parent}"])
            self.assertEqual(len(checks.hooks(objects, ["__wrap__Heap_Free"])), 1, taken)

    def test_hooks_in_rust(self):
        """Panics and allocations as rustc compiles them, behind a wrapper in C as ours are."""
        planted = rust_faults()
        if planted is None:
            self.skipTest("no cargo with rust-src: core is built for the board's target")
        text = """
            extern unsigned %s(unsigned);
            int __wrap__Heap_Free(void *heap, void *p) { return %s((unsigned) p) != 0; }
        """
        root = ["__wrap__Heap_Free"]
        for name, cause in (
            ("planted_quiet", None),
            ("planted_index", "panicking"),
            ("planted_unwrap", "panicking"),
            ("planted_division", "panicking"),
            ("planted_allocation", "malloc"),
        ):
            wrong = checks.hooks(planted + self.objects(text % (name, name)), root)
            if cause is None:
                self.assertEqual(wrong, [], name)
                continue
            self.assertTrue(any(cause in line for line in wrong), f"{name}: {wrong}")
            self.assertTrue(all(f"__wrap__Heap_Free -> {name}" in line for line in wrong), wrong)

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

    def test_exports(self):
        for text in (
            "int __udivdi3(int a) { return a; }",
            "__attribute__((weak)) int __aeabi_uidivmod(int a) { return a; }",
            "double fmod(double a, double b) { return a + b; }",
            "int _RNvCs5zM9bz3JRa1_4core(int a) { return a; }",
            "int osiSufficientSpaceInPools;",
        ):
            self.assertEqual(len(checks.exports(self.objects(text))), 1, text)
            hidden = text.replace("__attribute__((weak))", "")
            self.assertEqual(checks.exports(self.objects("__attribute__((used)) static " + hidden)), [])
        ours = "int rtems_ioc_pool_largest; int osiSufficentSpaceInPool(int a) { return a; } int __wrap__Heap_Free(int a) { return a; }"
        self.assertEqual(checks.exports(self.objects(ours)), [])

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
        # As bindgen writes it where there is no rustfmt.
        self.assertTrue(checks.returns({"b": 'unsafe extern "C" { pub fn div (a : i32) -> div_t ; }'}))
        self.assertEqual(checks.returns({"b": block + "pub type div_t = ::cty::c_long;"}), [])
        self.assertEqual(checks.returns({"b": block.replace("div_t", "*mut div_t")}), [])

    def test_option(self):
        """Option is a pointer only around what is never null."""
        for inner in ("Pair", "ffi::Pair", "u32", "*mut u8", "&str", "&[u8]", "&mut dyn Visit", "Box<dyn Visit>", "NonNull<[u8]>", "CString"):
            for option in (f"Option<{inner}>", f"::core::option::Option<{inner}>"):
                self.assertEqual(len(checks.returns({"a": f'pub extern "C" fn f() -> {option} {{\n}}'})), 1, option)
        for inner in ("&Pair", "&'static mut [u8; 4]", "NonNull<Pair>", "core::ptr::NonNull<u8>", "Box<Pair>",
                      'unsafe extern "C" fn(*mut u8) -> u32', 'extern "C" fn()'):
            for option in (f"Option<{inner}>", f"::core::option::Option<{inner}>"):
                self.assertEqual(checks.returns({"a": f'pub extern "C" fn f() -> {option} {{\n}}'}), [], option)
        # Through an alias, as bindgen writes handlers, and inside of one.
        handler = 'pub type Handler = ::core::option::Option<unsafe extern "C" fn(*mut u8) -> %s>;'
        found = 'unsafe extern "C" {\n    pub fn install() -> Handler;\n}\n'
        self.assertEqual(checks.returns({"a": handler % "::cty::c_int" + found}), [])
        self.assertEqual(len(checks.returns({"a": handler % "Option<Pair>" + found})), 1)
        self.assertEqual(checks.returns({"a": handler % "Option<&Pair>" + found}), [])
        self.assertEqual(len(checks.returns({"a": "pub type Maybe = Option<Pair>;" + found.replace("Handler", "Maybe")})), 1)

    def test_wide_pointers(self):
        """A slice or a trait object is two words, returned as a struct of 8 bytes is."""
        for result in ("&str", "&'static [u8]", "*const [u8]", "*mut dyn Visit", "&CStr", "&mut str"):
            self.assertEqual(len(checks.returns({"a": f'pub unsafe extern "C" fn f() -> {result} {{\n}}'})), 1, result)
        for result in ("&Pair", "*const [u8; 8]", "*mut *const c_char", "&'static mut u8", "NonNull<u8>"):
            self.assertEqual(checks.returns({"a": f'pub unsafe extern "C" fn f() -> {result} {{\n}}'}), [], result)

    def test_function_pointer(self):
        self.assertTrue(checks.returns({"c": 'pub type Visit = unsafe extern "C" fn(*mut u8) -> Pair;'}))
        self.assertEqual(checks.returns({"c": 'pub type Visit = unsafe extern "C" fn(*mut u8) -> i32;'}), [])


if __name__ == "__main__":
    unittest.main()
