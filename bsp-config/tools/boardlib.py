#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Builds the static archives for a board target with cargo, core and alloc from rust-src, and runs the gates on them.

wscript uses it for each BSP. Run by itself it needs no RTEMS: it builds the archives without the RTEMS side for both
target families and shuts the gates on them, which is what continuous integration does.

    boardlib.py [--target-dir DIR] [TARGET...]
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = ROOT / "bsp-config"
GATES = ROOT / "rtems-tests" / "gates" / "gates.py"
sys.path.insert(0, str(GATES.parent))
from gates import WRAPPED  # noqa: E402  (the symbols for the linker's --wrap; exported from here)
TARGETS = ["powerpc-rtems-ioc.json", "armv7-rtems-eabihf"]


# Every archive leaves cargo under the same name: from its start to the copy nobody else may build.
CARGO = threading.Lock()


class BuildError(Exception):
    """The build cannot go on; the text says why and what to do."""


def version():
    """The version of this package."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]


def run_gates(arguments):
    """Runs the gates; raises when one is shut."""
    done = subprocess.run([sys.executable, GATES, *map(str, arguments)], check=False)
    if done.returncode:
        raise BuildError("a gate is shut: see above")


def check_signatures(target, features, target_dir):
    """The gate on functions at the C boundary: our own, and what bindgen made of the installed headers."""
    sources = [*ROOT.glob("src/**/*.rs"), *ROOT.glob("rtems-sys/src/*.rs")]
    if "rtems-server" in features:
        made = pathlib.Path(target_dir, target_name(target), "board", "build").glob("rtems-sys-*/out/bindings.rs")
        newest = sorted(made, key=lambda path: path.stat().st_mtime)[-1:]
        if not newest:
            raise BuildError(f"{target}: no bindings under {target_dir}: the gate on their signatures cannot look at them")
        sources += newest
    run_gates(["sources", *sources])


def check_rust_src():
    """core and alloc are built from source: the toolchain must have it."""
    try:
        sysroot = subprocess.run(
            ["rustc", "--print", "sysroot"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(f"rustc does not run ({error}): install rustup, https://rustup.rs") from error
    if not (pathlib.Path(sysroot) / "lib/rustlib/src/rust/library/core").is_dir():
        raise BuildError(
            f"{sysroot} has no rust-src, and the board targets build core from source:\n"
            f"    run: cd {ROOT} && rustup component add rust-src"
        )


def target_path(target):
    """What cargo takes as --target: a built-in name, or the path of the JSON file in bsp-config."""
    return str(CONFIG / target) if target.endswith(".json") else target


def target_name(target):
    """The folder that cargo uses for the target."""
    return target.removesuffix(".json")


def is_hard_float_without_tls(target):
    """The facts of a target JSON that the ABI of the boards depends on (None for a built-in target)."""
    if not target.endswith(".json"):
        return None
    spec = json.loads((CONFIG / target).read_text(encoding="utf-8"))
    return "-altivec" in spec["features"] and spec["has-thread-local"] is False and "soft" not in spec.get("abi", "")


def build(target, features, output, target_dir, environment=None, quiet=True):
    """Builds the static archive with `features` for `target` and copies it to `output`."""
    check_rust_src()
    if is_hard_float_without_tls(target) is False:
        raise BuildError(f"{target}: must be hard float, -altivec and without TLS")
    command = ["cargo", "rustc", "--lib", "--crate-type", "staticlib", "--no-default-features"]
    command += ["--features", ",".join(features), "--profile", "board", "--target", target_path(target)]
    command += ["--target-dir", str(target_dir), "-Zjson-target-spec", "-Zbuild-std=core,alloc"]
    command += ["-q"] if quiet else []
    # The two -Z options make this build, and no other, ask for what is not stable in cargo.
    environment = {**os.environ, **(environment or {}), "RUSTC_BOOTSTRAP": "1"}
    built = pathlib.Path(target_dir) / target_name(target) / "board" / "librtems_ioc.a"
    pathlib.Path(output).parent.mkdir(parents=True, exist_ok=True)
    with CARGO:
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if done.returncode:
            raise BuildError(f"cargo failed for {target} with features {','.join(features)}")
        shutil.copy(built, output)
        check_signatures(target, features, target_dir)


def main(arguments):
    """Builds and checks the archives that need no RTEMS."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target-dir", default=str(ROOT / "target"))
    parser.add_argument("targets", nargs="*", default=TARGETS)
    options = parser.parse_args(arguments)
    try:
        for target in options.targets:
            folder = pathlib.Path(options.target_dir) / "board-archives" / target_name(target)
            for name, features, kind in (
                ("librtems_ioc_pool.a", ["board"], "--pool"),
                ("librtems_ioc.a", ["board", "server"], "--server"),
            ):
                build(target, features, folder / name, options.target_dir)
                run_gates(["archive", folder / name, kind])
    except BuildError as error:
        print(f"boardlib: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
