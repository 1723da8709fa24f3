# SPDX-License-Identifier: BSD-2-Clause
"""What is known of a BSP: its file in bsp-config and, when it is installed, its pkg-config file.

| question                        | answered by                                    |
|---------------------------------|------------------------------------------------|
| which BSPs do we know           | `known()`: the TOML files of bsp-config        |
| which are installed             | `installed(prefix)`: the .pc files of RTEMS    |
| may this one be built           | `Bsp.check()`: both, and the ABI fits the Rust target |
| with which flags                | `Bsp.cflags`, `Bsp.ldflags`, `Bsp.clang_args()` |
| what do the sources get to know | `Bsp.c_header()`, `Bsp.rust_constants()`       |
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import tomllib

from boardlib import CONFIG, BuildError

# Console, listeners, name searches, SNTP and a few to spare.
OWN_DESCRIPTORS = 16
# The legacy stack: a window (16 kB unless told otherwise) may be held in twice as many bytes, in clusters of 2 kB with an
# mbuf of 128 bytes.
CLUSTER_BYTES, WINDOW_BYTES = 2048, 16384
# Name searches that wait (a socket buffer of 256 kB), and the reserve of buffers_legacy.c four times.
OWN_CLUSTERS = 262144 // (2048 + 128) + 4 * 32
# libbsd: a window may be held in eight times as many bytes, in clusters with an mbuf of 256 bytes; a send buffer fills its
# clusters. Name searches that wait (a socket buffer of 64 kB, eight times), and the rings of the driver.
LIBBSD_OWN_CLUSTERS = 8 * 65536 // (2048 + 256) + 2 * 512
# What the sources ask for and a BSP's file need not say.
OPTIONAL = {
    "NETWORK_ADDRESS": "",
    "NETWORK_NETMASK": "",
    "NETWORK_GATEWAY": "",
    "CLOCK_SNTP": "",
    "FIRMWARE_VARIABLES": 0,
    "FIRMWARE_VARIABLES_BYTES": 0,
    "FIRMWARE_PORT": "",
    "FIRMWARE_FROM_ENVIRONMENT": 0,
}


def known():
    """{'arch/bsp': path of its TOML file}."""
    found = {}
    for path in sorted(CONFIG.glob("*.toml")):
        arch, _, name = path.stem.partition("-")
        found[f"{arch}/{name}"] = path
    return found


def installed(prefix):
    """{'arch/bsp': (RTEMS version, path of its .pc file)} under an RTEMS prefix."""
    found = {}
    for path in sorted(pathlib.Path(prefix, "lib", "pkgconfig").glob("*-rtems*-*.pc")):
        match = re.match(r"(\w+)-rtems([\d.]+)-(.+)\.pc$", path.name)
        if match:
            found[f"{match[1]}/{match[3]}"] = (match[2], path)
    return found


def read_pc(path):
    """The variables and fields of a pkg-config file, with ${...} replaced."""
    values = {"pcfiledir": str(pathlib.Path(path).parent)}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        match = re.match(r"\s*(\w+)\s*([=:])\s*(.*)", line.split("#")[0])
        if match:
            values[match[1]] = re.sub(r"\$\{(\w+)\}", lambda name: values.get(name[1], ""), match[3]).strip()
    return values


def select(prefix, wanted):
    """The BSPs to build: those named in `wanted` (arch/bsp,...), or every one that is both known and installed."""
    ours, there = known(), installed(prefix)
    listing = (
        f"\n    installed under {prefix}: {', '.join(there) or 'none'}"
        f"\n    known to bsp-config: {', '.join(ours)}"
    )
    if not there:
        raise BuildError(f"no RTEMS BSP is installed under {prefix}: lib/pkgconfig has no *-rtems*-*.pc{listing}")
    names = [name.strip() for name in wanted.split(",") if name.strip()] if wanted else [n for n in there if n in ours]
    if not names:
        raise BuildError(f"none of the installed BSPs is known to bsp-config{listing}")
    for name in names:
        if not re.match(r"^\w+/[\w-]+$", name):
            raise BuildError(f"--rtems-bsps: '{name}' is not of the form arch/bsp{listing}")
        if name not in there:
            raise BuildError(f"--rtems-bsps: {name} is not installed{listing}")
        if name not in ours:
            raise BuildError(f"--rtems-bsps: {name} has no file in bsp-config{listing}")
    return [Bsp(prefix, name, ours[name], *there[name]) for name in dict.fromkeys(names)]


class Bsp:
    """One BSP: known and installed."""

    def __init__(self, prefix, name, config, version, pc):
        self.prefix = str(prefix)
        self.name = name
        self.config_path = config
        self.config = tomllib.loads(config.read_text(encoding="utf-8"))
        self.version = version
        self.pc = read_pc(pc)
        self.arch, self.bsp = name.split("/")
        self.triple = f"{self.arch}-rtems{version}"
        self.variant = f"{self.triple}-{self.bsp}"
        self.lib = pathlib.Path(self.pc.get("libdir", f"{prefix}/{self.triple}/{self.bsp}/lib"))
        self.abi = shlex.split(self.pc.get("ABI_FLAGS", self.pc.get("Cflags", "")))

    def tool(self, name):
        """The path of a tool of this BSP's toolchain, in RTEMS's own bin or on PATH."""
        own = pathlib.Path(self.prefix, "bin", f"{self.triple}-{name}")
        return str(own) if own.exists() else f"{self.triple}-{name}"

    def check(self):
        """Raises when this BSP cannot be built as configured, with what is missing."""
        if int(self.version.split(".")[0]) < 5:
            raise BuildError(
                f"{self.name}: an image needs RTEMS 5 or later: {self.version} has no poll.h, no sys/lock.h and a time_t of "
                "32 bits (the pool alone, feature `rtems`, goes with every RTEMS from 4.7 on)"
            )
        rust = self.config["rust"]
        for flag in rust.get("refuse_abi", []):
            if flag in self.abi:
                raise BuildError(
                    f"{self.name}: compiled with {flag}, which the Rust target {rust['target']} is not; the BSP has ABI_FLAGS="
                    + " ".join(self.abi)
                )
        for flag in rust.get("require_abi", []):
            if flag not in self.abi:
                raise BuildError(
                    f"{self.name}: the Rust target {rust['target']} needs {flag}, but the BSP has ABI_FLAGS="
                    + " ".join(self.abi)
                )
        self.check_numbers()
        try:
            subprocess.run([self.tool("gcc"), "--version"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise BuildError(f"{self.name}: {self.tool('gcc')} does not run: {error}") from error
        for library, symbol in self.needed_symbols():
            path = self.lib / library
            if not path.exists():
                raise BuildError(
                    f"{self.name}: {path} is missing: network stack '{self.stack}' of {self.config_path.name} "
                    "is not installed for this BSP"
                )
            names = subprocess.run([self.tool("nm"), "-g", str(path)], capture_output=True, text=True, check=False)
            if symbol and not re.search(rf"\b[TDBR] {symbol}$", names.stdout, re.M):
                raise BuildError(f"{self.name}: {path} has no {symbol}: that driver was not compiled for this BSP")

    def emulator_lacks(self):
        """Why the emulator of bsp-config cannot start, with the remedy; None when it can, or when there is none."""
        emulator = self.config.get("emulator")
        if emulator is None:
            return None
        program = emulator["command"][0].format(rtems=self.prefix)
        if not shutil.which(program):
            return f"{program} is not installed"
        for path, remedy in emulator.get("needs", {}).items():
            if not pathlib.Path(path.format(rtems=self.prefix)).exists():
                return f"{path.format(rtems=self.prefix)} is missing: {remedy}"
        return None

    def check_numbers(self):
        """Raises when circuits and clients could use up descriptors or network buffers.

        The stacks take a received packet of any size into a cluster of 2 kB, and a client that is not read from fills its
        window: without clusters the driver waits for one, and nobody's packets arrive any more.
        """
        server, network = self.config["server"], self.config["network"]
        clients = server["circuits"] + server["echo_clients"]
        wanted = clients + OWN_DESCRIPTORS
        if network.get("descriptors", wanted) < wanted:
            raise BuildError(
                f"{self.name}: {clients} clients need {wanted} descriptors, {self.config_path.name} has "
                f"{network['descriptors']}"
            )
        if self.stack == "libbsd":
            window = 8 * network["tcp_receive_bytes"] // (CLUSTER_BYTES + 256) + network["tcp_send_bytes"] // CLUSTER_BYTES
            wanted = clients * window + LIBBSD_OWN_CLUSTERS
            if not wanted <= network["clusters"] <= network["domain_bytes"] // 2 // CLUSTER_BYTES:
                raise BuildError(
                    f"{self.name}: the buffers of {clients} clients take {wanted} clusters, and half of domain_bytes holds "
                    f"{network['domain_bytes'] // 2 // CLUSTER_BYTES}; {self.config_path.name} has clusters = {network['clusters']}"
                )
        window = 2 * network.get("tcp_receive_bytes", WINDOW_BYTES) // (CLUSTER_BYTES + 128)
        wanted = (clients * window + OWN_CLUSTERS) * CLUSTER_BYTES
        if self.stack == "legacy" and network["cluster_bytes"] < wanted:
            raise BuildError(
                f"{self.name}: the windows of {clients} clients take {wanted} bytes of clusters, "
                f"{self.config_path.name} has cluster_bytes = {network['cluster_bytes']}"
            )

    @property
    def stack(self):
        """The network stack: none, libbsd or legacy."""
        return self.config["network"]["stack"]

    def needed_symbols(self):
        """(library, symbol) that the image needs; symbol None when the library's presence is enough."""
        network = self.config["network"]
        if self.stack == "libbsd":
            return [("libbsd.a", "rtems_bsd_initialize")]
        if self.stack == "legacy":
            return [("libnetworking.a", None), (network.get("driver_library", "libnetworking.a"), network["driver"])]
        return []

    @property
    def cflags(self):
        """Flags of every C file: the BSP's own and ours."""
        own = ["-O2", "-g", "-Wall", "-Wextra", "-ffunction-sections", "-fdata-sections", "-fno-builtin-malloc"]
        return shlex.split(self.pc.get("Cflags", "")) + own + self.old_specs()

    @property
    def ldflags(self):
        """Flags of the final link; from RTEMS 6 on pkg-config gives them, before that the specs file does."""
        flags = shlex.split(self.pc.get("Libs", "")) or [f"-B{self.lib}", "-qrtems", *self.abi]
        return flags + self.old_specs() + ([] if "-Wl,--gc-sections" in flags else ["-Wl,--gc-sections"])

    def runtime_symbols(self):
        """What this BSP's libgcc and C library define."""
        found = set()
        for library in ("libgcc.a", "libc.a"):
            query = [self.tool("gcc"), *self.abi, f"-print-file-name={library}"]
            path = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
            listing = [self.tool("nm"), "-g", "--defined-only", "-P", path]
            shown = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
            found |= {line.split()[0] for line in shown.splitlines() if len(line.split()) > 1}
        return found

    def old_specs(self):
        """RTEMS 5 and older keep the start file and libraries in a specs file."""
        specs = self.lib / "bsp_specs"
        return [f"-B{self.lib}", "-specs", "bsp_specs"] if specs.exists() else []

    @property
    def libs(self):
        """Libraries of the network stack, in link order."""
        return {"none": [], "libbsd": ["-ltftpfs", "-lbsd", "-lm", "-lz"], "legacy": self.legacy_libs()}[self.stack]

    def legacy_libs(self):
        """The legacy stack, with the library that the board's driver is in."""
        return [f"-l{name}" for name in self.config["network"].get("libs", ["networking"])]

    def clang_args(self):
        """How libclang sees the headers as this BSP's GCC does."""
        query = [self.tool("gcc"), *self.abi, "-dM", "-E", "-x", "c", "/dev/null"]
        macros = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        wanted = r"#define (__rtems__|__CHAR_UNSIGNED__|ppc\w+|mpc\w+|__ppc_generic|_CALL_SYSV)\b ?(.*)"
        defines = [f"-D{name}={value}" for name, value in re.findall(wanted, macros)]
        target = {"powerpc": "powerpc-unknown-none-elf", "arm": "armv7-none-eabihf"}[self.arch]
        places = [self.pc.get("includedir", str(self.lib / "include"))]
        builtin = subprocess.run(
            [self.tool("gcc"), "-print-file-name=include"], capture_output=True, text=True, check=True
        ).stdout.strip()
        places += [builtin, str(pathlib.Path(builtin).parent / "include-fixed")]
        places.append(str(pathlib.Path(self.prefix, self.triple, "include")))
        return [f"--target={target}", "-nostdinc", *defines, *(f"-isystem{place}" for place in places)]

    def settings(self):
        """Every number and string of the TOML file that the sources may use, as {NAME: value}."""
        found = {"BSP_NAME": self.name, "BSP_TITLE": self.config["bsp"]["title"], **OPTIONAL}
        for section in ("network", "firmware", "clock", "server", "pool"):
            for key, value in self.config.get(section, {}).items():
                if isinstance(value, (int, str)):
                    found[f"{section}_{key}".upper()] = int(value) if isinstance(value, bool) else value
        for task, values in self.config["tasks"].items():
            for key, value in values.items():
                found[f"task_{task}_{key}".upper()] = value
        return found

    def c_header(self):
        """The settings for C: RTEMS_IOC_<NAME>."""
        lines = [f"/* Made from {self.config_path.name}: change it there. */", "#pragma once"]
        for name, value in self.settings().items():
            lines.append(f'#define RTEMS_IOC_{name} {value if isinstance(value, int) else chr(34) + value + chr(34)}')
        lines.append(f"#define RTEMS_IOC_STACK_{self.stack.upper()} 1")
        start = self.config["clock"].get("start")
        if start:
            lines.append(f"#define RTEMS_IOC_CLOCK_START_CALL {start}")
        driver = self.config["network"].get("driver")
        if driver:
            lines.append(f"#define RTEMS_IOC_NETWORK_DRIVER_ATTACH {driver}")
        return "\n".join(lines) + "\n"

    def rust_constants(self):
        """The settings for Rust: constants of os::rtems::config."""
        lines = [f"// Made from {self.config_path.name}: change it there."]
        for name, value in self.settings().items():
            kind, text = ("usize", str(value)) if isinstance(value, int) else ("&str", f'"{value}"')
            lines.append(f"/// `{name}` of the BSP's file in bsp-config.\npub const {name}: {kind} = {text};")
        pairs = ", ".join(f'("{name}", "{value}")' for name, value in self.config.get("epics", {}).items())
        lines.append(f"/// `[epics]` of the BSP's file in bsp-config.\npub const EPICS: &[(&str, &str)] = &[{pairs}];")
        return "\n".join(lines) + "\n"
