# SPDX-License-Identifier: BSD-2-Clause
"""The waf tasks of one BSP variant: settings, archives, C objects, image, gates, and the form the firmware loads."""

import pathlib
import shlex
import subprocess
import sys

import archives
import boardlib
import embedded

# C files of both archives, of the server's archive, and of the image; network_<stack>.c comes with the BSP.
ARCHIVE_SOURCES = ["src/os/rtems/wrap.c", "src/os/rtems/heap_access.c"]
SERVER_PARTS = ("bell", "console", "embedded", "errno", "files", "kernel", "measure")
SERVER_SOURCES = [f"src/os/rtems/{name}.c" for name in SERVER_PARTS]
IMAGE_SOURCES = ["src/init.c", "src/os/rtems/clock.c"]
# Keeps the hooks' object in, so that the link fails when the archive lacks it.
MARKER = "-Wl,-u,rtems_ioc_pool_hooks_present"
# What the server asks of the network: with a stack its interfaces, without one the BSD calls that say so.
STACK_SOURCES = {
    "none": ["src/os/rtems/network_none.c"],
    "libbsd": ["src/os/rtems/interfaces.c", "src/os/rtems/media.c"],
    "legacy": ["src/os/rtems/interfaces.c", "src/os/rtems/media.c", "src/os/rtems/buffers_legacy.c"],
}
# How the image starts the network and keeps the time.
START_SOURCES = {
    "none": [],
    "libbsd": ["src/os/rtems/network_libbsd.c", "src/os/rtems/sntp.c", "examples/mount.c"],
    "legacy": ["src/os/rtems/network_legacy.c", "src/os/rtems/sntp.c"],
}


def step(bld, text, **arguments):
    """A task that shows as one short line."""
    bld(cls_keyword=lambda task: "", cls_str=lambda task: text, name=text, **arguments)


def guarded(work):
    """Runs part of a task; its exit status, with the reason printed when it failed."""
    try:
        work()
    except (boardlib.BuildError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def build(bld, bsp, hooks):
    """Declares every task of `bsp`; with `hooks` the linker is told to wrap the heap functions."""
    wrapped = boardlib.WRAPPED if hooks else []
    variant = bsp.variant
    rust_sources = bld.path.ant_glob("src/**/*.rs rtems-sys/** Cargo.toml Cargo.lock rust-toolchain.toml", excl="**/target")
    settings = [bld.path.make_node(str(bsp.config_path.relative_to(boardlib.ROOT)))]
    # What the archives depend on; a change of this file compiles nothing in Rust again.
    tools = bld.path.ant_glob("bsp-config/tools/archives.py bsp-config/tools/boardlib.py bsp-config/tools/bsps.py bsp-config/*.json")

    header = f"{variant}/rtems_ioc_bsp.h"
    constants = f"{variant}/rtems_ioc_bsp.rs"

    def write_settings(task):
        task.outputs[0].write(bsp.c_header())
        task.outputs[1].write(bsp.rust_constants())

    step(bld, f"{bsp.name}: settings", rule=write_settings, source=settings + tools, target=[header, constants])

    def objects(sources):
        """Compiles C files of ours; returns the objects' names."""
        made = []
        for source in sources:
            target = f"{variant}/{pathlib.Path(source).stem}.o"
            folder = bld.bldnode.make_node(variant).abspath()
            flags = [bsp.tool("gcc"), *bsp.cflags, "-I", folder, "-I", "include", "-I", "src", "-I", "src/os/rtems"]
            command = shlex.join(flags) + " -c ${SRC[0].abspath()} -o ${TGT[0].abspath()}"
            headers = bld.path.ant_glob("include/*.h src/**/*.h rtems-tests/target/*.h")
            text = f"{bsp.name}: compile {source}"
            step(bld, text, rule=command, source=[source, header, *headers], target=target, cwd=bld.path)
            made.append(target)
        return made

    common = objects([s for s in ARCHIVE_SOURCES if bld.path.find_node(s)])
    server = objects(SERVER_SOURCES + STACK_SOURCES[bsp.stack])
    rest = objects(IMAGE_SOURCES + START_SOURCES[bsp.stack] + ["examples/device.c"] + test_sources(bld))

    def write_configuration(task):
        return guarded(lambda: task.outputs[0].write(embedded.source(bsp)))

    configuration = f"{variant}/configuration.c"
    inputs = settings + tools + [bld.root.find_node(str(path)) for _, path in embedded.paths(bsp)]
    inputs += bld.path.ant_glob("bsp-config/tools/embedded.py")
    step(bld, f"{bsp.name}: configuration", rule=write_configuration, source=inputs, target=configuration)
    rest += objects([configuration])

    legacy = ["legacy-network"] if bsp.stack == "legacy" else []
    made = {}
    for name, features, own, kind in (
        ("librtems_ioc_pool.a", ["rtems"], common, "--pool"),
        ("librtems_ioc.a", ["rtems-server", *legacy], common + server, "--server"),
    ):
        made[name] = archive(bld, bsp, name, features, own, kind, rust_sources + tools, constants)

    image = f"{variant}/rtems-ioc.exe"
    link = [bsp.tool("gcc"), *bsp.ldflags, *(f"-Wl,--wrap={symbol}" for symbol in wrapped)]
    link += [MARKER] if hooks else []
    link += [f"-Wl,-Map={bld.bldnode.make_node(variant).abspath()}/rtems-ioc.map"]
    command = shlex.join(link) + " ${SRC} -o ${TGT} " + shlex.join(bsp.libs)
    inputs = [*rest, made["librtems_ioc.a"]]
    step(bld, f"{bsp.name}: link", rule=command, source=inputs, target=image, cwd=bld.bldnode)

    gates = bld.path.ant_glob("rtems-tests/gates/*")

    def check(name, symbols, target):
        """The gates on a linked image."""

        def check_image(task):
            arguments = ["image", task.inputs[0].abspath(), "--limit", str(bsp.config["image"]["limit"])]
            arguments += ["--hooks"] if symbols else []
            arguments += ["--no-altivec"] if bsp.arch == "powerpc" and not bsp.config["image"]["altivec"] else []
            return guarded(lambda: (boardlib.run_gates(arguments), task.outputs[0].write("passed\n")))

        step(bld, f"{bsp.name}: gates {name}", rule=check_image, source=[f"{variant}/{name}", *gates], target=f"{variant}/{target}")

    check("rtems-ioc.exe", wrapped, "gates.ok")

    # The pool archive alone, with the flags and without: what an EPICS image does with it.
    pool = objects(["rtems-tests/pool-image/pool_image.c"])
    for name, symbols in (("pool-tracker.exe", boardlib.WRAPPED), ("pool-search.exe", [])):
        flags = [bsp.tool("gcc"), *bsp.ldflags, *(f"-Wl,--wrap={symbol}" for symbol in symbols)]
        flags += [MARKER] if symbols else []
        command = shlex.join(flags) + " ${SRC} -o ${TGT}"
        inputs = [*pool, made["librtems_ioc_pool.a"]]
        step(bld, f"{bsp.name}: link {name}", rule=command, source=inputs, target=f"{variant}/{name}", cwd=bld.bldnode)
        check(name, symbols, f"{name}.gates.ok")
        if "emulator" in bsp.config:
            form(bld, bsp, f"{variant}/{name}")

    form(bld, bsp, image)
    install(bld, bsp, image, made.values())


def install(bld, bsp, image, archives):
    """What `waf install` puts where RTEMS has the files of the BSP, with the flags that a program needs to link them."""
    place = f"${{PREFIX}}/{bsp.triple}/{bsp.bsp}"
    texts = pkg_config(bsp)

    def write(task):
        for output in task.outputs:
            output.write(texts[output.name])

    made = [f"{bsp.variant}/{name}" for name in texts]
    tools = bld.path.ant_glob("bsp-config/tools/*.py")
    step(bld, f"{bsp.name}: pkg-config", rule=write, source=tools, target=made)
    bld.install_files(f"{place}/lib", list(archives))
    bld.install_files(f"{place}/lib/include", bld.path.ant_glob("include/*.h"))
    bld.install_files(f"{place}/lib/pkgconfig", made)
    bld.install_files(f"{place}/bin", image, chmod=0o755)


def pkg_config(bsp):
    """{file: text}: how to compile with and link each archive. The paths follow the files when they are moved."""
    wraps = [f"-Wl,--wrap={symbol}" for symbol in boardlib.WRAPPED]
    kinds = {
        "rtems-ioc-pool.pc": (
            "constant-time pool status for EPICS and others",
            ["-Wl,-u,osiSufficentSpaceInPool", MARKER, "${libdir}/librtems_ioc_pool.a", *wraps],
        ),
        "rtems-ioc.pc": (
            "pool status, Channel Access server and tcpecho",
            [MARKER, "${libdir}/librtems_ioc.a", *wraps, *bsp.libs],
        ),
    }
    return {
        name: "libdir=${pcfiledir}/..\n\n"
        f"Name: {name.removesuffix('.pc')}\nDescription: {text}\nVersion: {boardlib.version()}\n"
        f"Cflags: -I${{libdir}}/include\nLibs: {' '.join(libs)}\n"
        for name, (text, libs) in kinds.items()
    }


def install_for_epics(bld):
    """What an EPICS application includes and compiles, once for all BSPs."""
    here = bld.path.find_dir("epics")
    bld.install_files("${PREFIX}/share/rtems-ioc/epics", here.ant_glob("*", excl="check-image"))
    bld.install_files("${PREFIX}/share/rtems-ioc/epics", here.find_node("check-image"), chmod=0o755)


def test_sources(bld):
    """The on-target tests that are in C."""
    return [str(node.path_from(bld.path)) for node in bld.path.ant_glob("rtems-tests/target/*.c")]


def archive(bld, bsp, name, features, own, kind, inputs, constants):
    """The task that has cargo build an archive, adds our C objects to it and runs the gates; returns its name."""
    target = f"{bsp.variant}/{name}"

    def make(task):
        result = pathlib.Path(task.outputs[0].abspath())
        environment = {
            "RTEMS_SYS_CLANG_ARGS": "\n".join(bsp.clang_args()),
            "RTEMS_IOC_CONFIG": bld.bldnode.make_node(constants).abspath(),
        }
        folder = bld.bldnode.make_node("cargo").abspath()
        boardlib.build(bsp.config["rust"]["target"], features, result, folder, environment)
        archives.close(bsp, result)
        extra = [bld.bldnode.make_node(each).abspath() for each in own]
        if extra:
            subprocess.run([bsp.tool("ar"), "rs", str(result), *extra], check=True, capture_output=True)
        gates = ["archive", result, kind] + (["--hooks"] if any("wrap" in each for each in own) else [])
        boardlib.run_gates(gates)

    def task(task):
        return guarded(lambda: make(task))

    step(bld, f"{bsp.name}: cargo {name}", rule=task, source=[*inputs, constants, *own], target=target)
    return target


def form(bld, bsp, image):
    """The image as the board's firmware takes it."""
    kind = bsp.config["image"]["form"]
    if kind == "elf":
        return
    objcopy = bsp.tool("objcopy")

    def binary(task):
        return subprocess.call([objcopy, "-O", "binary", task.inputs[0].abspath(), task.outputs[0].abspath()])

    def bootloader(task):
        """The PReP boot loader of motorola_powerpc: the image gzipped and linked behind bootloader.o."""
        output = pathlib.Path(task.outputs[0].abspath())
        # ppcboot.lds names the compressed image, so each has a folder of its own.
        folder = output.with_suffix(".parts")
        folder.mkdir(exist_ok=True)
        subprocess.run([objcopy, "-O", "binary", "-R", ".comment", "-S", task.inputs[0].abspath(), folder / "rtems"], check=True)
        subprocess.run(["gzip", "-9nf", folder / "rtems"], check=True)
        linked = folder / "bootloader.elf"
        command = [bsp.tool("ld"), "-o", linked, bsp.lib / "bootloader.o"]
        command += [f"--just-symbols={task.inputs[0].abspath()}", "-b", "binary", "rtems.gz"]
        command += ["-T", bsp.lib / "ppcboot.lds", f"-Map={folder}/bootloader.map"]
        subprocess.run([str(each) for each in command], cwd=folder, check=True)
        return subprocess.call([objcopy, "-O", "binary", str(linked), str(output)])

    rule = {"binary": binary, "bootloader": bootloader}[kind]
    suffix = {"binary": "bin", "bootloader": "boot"}[kind]
    target = str(pathlib.PurePath(image).with_suffix(f".{suffix}"))
    step(bld, f"{bsp.name}: {kind} {pathlib.PurePath(target).name}", rule=rule, source=image, target=target)
