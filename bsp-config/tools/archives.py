# SPDX-License-Identifier: BSD-2-Clause
"""What is done to the archive that cargo has built before the C objects are added."""

import subprocess


def close(bsp, result):
    """Makes one object of Rust's archive: what the C interface of this package needs, and no other global names.

    A linker that does not collect sections, as EPICS's for most boards, takes an object whole: all of core and of Rust's own
    compiler runtime would be in the image. And an image that meets the archive first, as EPICS's does, would take its
    division, memcpy and fmod from there, which are slower than its own: libgcc's and the C library's names are left to the
    image, all others are local.
    """
    # Rust's own ending, by which the gates know the object.
    names, object_ = result.with_suffix(".names"), result.with_suffix(".rcgu.o")

    def listed(symbols):
        names.write_text("\n".join(sorted(symbols)) + "\n", encoding="utf-8")
        return names

    runtime = listed(bsp.runtime_symbols())
    subprocess.run([bsp.tool("objcopy"), f"--localize-symbols={runtime}", str(result)], check=True)
    interface = c_interface(bsp, result)
    wanted = [word for name in sorted(interface) for word in ("-u", name)]
    subprocess.run([bsp.tool("ld"), "-r", "--gc-sections", *wanted, "-o", str(object_), str(result)], check=True)
    subprocess.run([bsp.tool("objcopy"), f"--keep-global-symbols={listed(interface)}", str(object_)], check=True)
    result.unlink()
    subprocess.run([bsp.tool("ar"), "rcs", str(result), str(object_)], check=True)
    object_.unlink()
    names.unlink()


def c_interface(bsp, archive):
    """The names that this package's own crate defines in its archive, without those that are Rust's."""
    shown = subprocess.run([bsp.tool("nm"), "-A", "-g", "--defined-only", str(archive)], capture_output=True, text=True, check=True)
    found = set()
    for line in shown.stdout.splitlines():
        member, _, rest = line.removeprefix(f"{archive}:").partition(":")
        name = rest.split()[-1] if rest.split() else ""
        if member.startswith("rtems_ioc-") and name and not name.startswith(("_R", "_ZN", "rust_", "__rust")):
            found.add(name)
    return found
