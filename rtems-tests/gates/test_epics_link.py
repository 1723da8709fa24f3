# SPDX-License-Identifier: BSD-2-Clause
"""epics/rtems_ioc.mk and epics/check-image on small objects: which links are right, and which cause is named for the others.

Neither EPICS nor RTEMS is needed: archives of the same shape, any C compiler, GNU make. What the real ones do with the
fragment is tested by rtems-tests/epics, where they are installed.
"""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import gates

EPICS = gates.HERE.parents[1] / "epics"
CHECK = EPICS / "check-image"

# One object each: file name -> source. The shapes of wrap.c, pool/c_abi.rs, libCom, an application's library, RTEMS.
SOURCES = {
    "wrap": """
        void *__real__Heap_Allocate_aligned_with_boundary(void); int __real__Heap_Free(void);
        int __real__Heap_Resize_block(void); int __real_malloc_free_space(void); int pool_bound(void);
        void *__wrap__Heap_Allocate_aligned_with_boundary(void) { pool_bound(); return __real__Heap_Allocate_aligned_with_boundary(); }
        int __wrap__Heap_Free(void) { pool_bound(); return __real__Heap_Free(); }
        int __wrap__Heap_Resize_block(void) { pool_bound(); return __real__Heap_Resize_block(); }
        int __wrap_malloc_free_space(void) { return __real_malloc_free_space(); }
        const int rtems_ioc_pool_hooks_present[] = { 1 };
    """,
    "pool": """
        int pool_bound(void) { return 7; }
        int osiSufficentSpaceInPool(int n) { return n < pool_bound(); }
        int osiSufficientSpaceInPool(int n) { return n < pool_bound(); }
    """,
    "osdPoolStatus": "static int limit = 5; int malloc_free_space(void);"
    "int osiSufficentSpaceInPool(int n) { return n + limit < malloc_free_space(); }",
    "search": "int osiSufficentSpaceInPool(int); int search(void) { return osiSufficentSpaceInPool(1); }",
    "user": "int search(void); int user(void) { return search(); }",
    "allocate": "void *_Heap_Allocate_aligned_with_boundary(void) { return 0; }",
    "free": "int _Heap_Free(void) { return 1; }",
    "resize": "int _Heap_Resize_block(void) { return 1; }",
    "space": "int malloc_free_space(void) { return 9; }",
    # As in RTEMS: a function of one file calls the other, which no --wrap parts.
    "greedy": "int _Heap_Greedy_allocate(int); int _Heap_Greedy_allocate(int n) { return n + 1; }"
    "int _Heap_Greedy_allocate_all_except_largest(void) { return _Heap_Greedy_allocate(1) + 1; }"
    "int __real__Heap_Greedy_allocate(int); int __wrap__Heap_Greedy_allocate(int n) { return __real__Heap_Greedy_allocate(n); }",
    "malloc": "void *_Heap_Allocate_aligned_with_boundary(void); int _Heap_Free(void); int _Heap_Resize_block(void);"
    "void *c_library(void) { _Heap_Free(); _Heap_Resize_block(); return _Heap_Allocate_aligned_with_boundary(); }",
    "main": "int user(void); void *c_library(void); void start(void) { user(); c_library(); }",
}
ARCHIVES = {
    "librtems_ioc_pool.a": ["wrap", "pool"],
    "libCom.a": ["osdPoolStatus"],
    "libdb.a": ["search"],
    "libuser.a": ["user"],
    "libkernel.a": ["malloc", "allocate", "free", "resize", "space"],
}
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
HERE_LINK = ["-nostdlib", "-static", "-no-pie", "-Wl,-e,start"]
WRAPS = [*(f"-Wl,--wrap={name}" for name in gates.WRAPPED), f"-Wl,-u,{gates.MARKER}"]
ASKED = ["-Wl,-u,osiSufficentSpaceInPool", "-Wl,-u,osiSufficientSpaceInPool"]
LIBRARIES = ["-luser", "-ldb", "-lCom", "-lkernel"]


@unittest.skipUnless(COMPILER, "no C compiler")
class Links(unittest.TestCase):
    """Images as an application might link them."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name, text in SOURCES.items():
            (cls.folder / f"{name}.c").write_text(text)
            options = ["-O1", "-fno-inline", "-fno-ipa-cp", "-fno-pic", "-ffunction-sections", "-fno-asynchronous-unwind-tables", "-fno-stack-protector"]
            subprocess.run([COMPILER, *options, "-c", f"{name}.c"], cwd=cls.folder, check=True)
        for archive, members in ARCHIVES.items():
            subprocess.run(["ar", "rc", archive, *(f"{m}.o" for m in members)], cwd=cls.folder, check=True)

    def link(self, *words):
        """Links to `image`; raises when the linker refuses."""
        command = [COMPILER, *HERE_LINK, "-o", "image", "-L.", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def check(self, *words):
        """(exit status, text) of check-image."""
        environment = {**os.environ, "NM": "nm"}
        done = subprocess.run(
            ["sh", CHECK, *words, "image"], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stderr

    def test_right_whatever_the_order_of_the_libraries(self):
        # The application's and EPICS's libraries in any order; twice, as a linker goes through them once only.
        for order in itertools.permutations(["-luser", "-ldb", "-lCom"]):
            for collected in ([], ["-Wl,--gc-sections"]):
                self.link(*WRAPS, *ASKED, "librtems_ioc_pool.a", *collected, "main.o", *order, *order, "-lkernel")
                self.assertEqual(self.check(), (0, ""), order)

    def test_an_archive_passed_over(self):
        # The usual habit: our library before EPICS's, without -u. Nobody has asked yet, and the linker says nothing.
        self.link("main.o", "-lrtems_ioc_pool", *LIBRARIES)
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn("osiSufficentSpaceInPool is libCom's", text)
        self.assertIn("-u,osiSufficentSpaceInPool", text)

    def test_an_archive_after_libcom(self):
        self.link("main.o", "-luser", "-ldb", "-lCom", "-lrtems_ioc_pool", "-lkernel")
        self.assertIn("osiSufficentSpaceInPool is libCom's", self.check()[1])

    def test_libcom_linked_whole(self):
        first = ["-Wl,--allow-multiple-definition", "osdPoolStatus.o", *WRAPS, *ASKED, "librtems_ioc_pool.a"]
        self.link(*first, "main.o", *LIBRARIES)
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn("osdPoolStatus is linked", text)

    def test_without_hooks(self):
        self.link(*ASKED, "librtems_ioc_pool.a", "main.o", *LIBRARIES)
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn("the heap is not hooked:", text)
        self.assertEqual(self.check("--no-hooks"), (0, ""))

    def test_hooks_that_the_kernel_goes_round(self):
        # RTEMS linked into one object beforehand: its own references are settled, and the wrappers are swept away.
        kernel = [f"{name}.o" for name in ("malloc", "resize", "space")]
        subprocess.run([COMPILER, "-nostdlib", "-r", "-o", "whole.o", *kernel], cwd=self.folder, check=True)
        self.link(*WRAPS, *ASKED, "librtems_ioc_pool.a", "-Wl,--gc-sections", "main.o", "-luser", "-ldb", "whole.o", "-lkernel")
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(text, "no --wrap of.* _Heap_Resize_block")

    def test_hooks_that_the_kernel_goes_round_and_that_are_kept(self):
        # The same without collecting sections: the wrappers are there, and nobody calls them.
        kernel = [f"{name}.o" for name in ("malloc", "resize", "space")]
        subprocess.run([COMPILER, "-nostdlib", "-r", "-o", "whole.o", *kernel], cwd=self.folder, check=True)
        self.link(*WRAPS, *ASKED, "librtems_ioc_pool.a", "main.o", "-luser", "-ldb", "whole.o", "-lkernel")
        status, text = self.check()
        self.assertEqual(status, 1)
        self.assertIn("c_library calls _Heap_Resize_block", text)

    def test_what_the_kernel_has_for_its_own_tests(self):
        # Kept where no sections are collected, and called by nobody.
        wraps = ["-Wl,--wrap=_Heap_Greedy_allocate", *WRAPS]
        self.link(*wraps, *ASKED, "librtems_ioc_pool.a", "greedy.o", "main.o", *LIBRARIES)
        self.assertEqual(self.check(), (0, ""))

    def test_no_question_at_all(self):
        self.link("main.o", "search.o", "user.o", "-Wl,--defsym=osiSufficentSpaceInPool=0", "-lkernel", "-Wl,-s")
        self.assertEqual(self.check()[0], 2)
        (self.folder / "plain.c").write_text("void *c_library(void); void start(void) { c_library(); }")
        subprocess.run([COMPILER, "-fno-stack-protector", "-c", "plain.c"], cwd=self.folder, check=True)
        self.link("plain.o", "-lkernel")
        self.assertIn("the flags of rtems_ioc.mk did not reach this link", self.check()[1])

    def test_modules(self):
        for members, status, wanted in (
            (["main.o", "user.o"], 0, "takes the pool status of the generic image"),
            (["main.o", "user.o", "search.o", "pool.o"], 1, "does nothing in a module"),
        ):
            subprocess.run([COMPILER, "-nostdlib", "-r", "-o", "image", *members], cwd=self.folder, check=True)
            found, text = self.check()
            self.assertEqual(found, status)
            self.assertIn(wanted, text)

    def test_what_is_no_image(self):
        (self.folder / "image").write_text("x")
        self.assertEqual(self.check()[0], 2)
        self.assertEqual(self.check("image")[0], 2)

    @unittest.skipUnless(shutil.which("make"), "no GNU make")
    def test_the_fragment(self):
        """The fragment as EPICS's make files use it: the flags reach the link, and a wrong image does not stay."""
        package = self.folder / "package"
        lib = package / "powerpc-rtems6" / "beatnik" / "lib"
        lib.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.folder / "librtems_ioc_pool.a", lib)
        (package / "share" / "rtems-ioc").mkdir(parents=True, exist_ok=True)
        if not (package / "share/rtems-ioc/epics").exists():
            (package / "share/rtems-ioc/epics").symlink_to(EPICS)
        (self.folder / "Makefile").write_text(
            "OS_CLASS = RTEMS\nRTEMS_VERSION = 6\nRTEMS_TARGET_CPU = powerpc\nRTEMS_BSP = beatnik\nRM = rm -f\n"
            f"RTEMS_IOC_NM = nm\nLINK.cpp = {COMPILER} {' '.join(HERE_LINK)} -o $@ -L. $(OP_SYS_LDFLAGS) main.o $(LIBS)\n"
            f"LINK.mod = {COMPILER} -nostdlib -r -o $@ $(PROD_LDFLAGS) main.o user.o search.o\n"
            "LIBS = -luser -ldb -lCom -lkernel\n"
            f"RTEMS_IOC = {package}\ninclude $(RTEMS_IOC)/share/rtems-ioc/epics/rtems_ioc.mk\n"
            "image: $(PROD_DEPLIBS)\n\t$(LINK.cpp)\nimage.obj:\n\t$(LINK.mod)\n"
        )

        def make(*words, again=False):
            if not again:
                (self.folder / "image").unlink(missing_ok=True)
            done = subprocess.run(["make", *words], cwd=self.folder, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

        self.assertEqual(make("image")[0], 0, make("image"))
        self.assertTrue((self.folder / "image").exists())
        # As EPICS's rules have it: linked anew when the archive is new, and only then.
        self.assertIn("up to date", make("image", again=True)[1])
        os.utime(lib / "librtems_ioc_pool.a", (time.time() + 1,) * 2)
        self.assertNotIn("up to date", make("image", again=True)[1])
        for words, cause in (
            (["OP_SYS_LDFLAGS="], "osiSufficentSpaceInPool is libCom's"),
            (["OP_SYS_LDFLAGS=" + " ".join(ASKED) + f" {lib}/librtems_ioc_pool.a"], "the heap is not hooked"),
        ):
            status, text = make("image", *words)
            self.assertNotEqual(status, 0, text)
            self.assertIn(cause, text)
            self.assertFalse((self.folder / "image").exists(), "a wrong image stays")
        self.assertEqual(make("image", "RTEMS_IOC_HOOKS=NO")[0], 0)
        self.assertEqual(make("image.obj")[0], 0)
        status, text = make("-B", "image.obj", f"PROD_LDFLAGS={' '.join(ASKED)} {lib}/librtems_ioc_pool.a")
        self.assertNotEqual(status, 0)
        self.assertIn("does nothing in a module", text)
        status, text = make("image", "RTEMS_IOC_BSP=powerpc/nothing")
        self.assertNotEqual(status, 0)
        self.assertIn("powerpc-rtems6/nothing/lib/librtems_ioc_pool.a is missing", text)

    def test_the_fragment_wraps_what_is_to_be_wrapped(self):
        text = (EPICS / "rtems_ioc.mk").read_text(encoding="utf-8")
        named = set(re.findall(r"--wrap=(\w+)", text))
        # Up to 4.9 the heap has two more entry points.
        self.assertEqual(named - {"_Heap_Allocate", "_Heap_Allocate_aligned"}, set(gates.WRAPPED))


if __name__ == "__main__":
    unittest.main()
