# SPDX-License-Identifier: BSD-2-Clause
"""The configuration that goes into an image: the files named in the [application] section of a BSP's file, as C tables.

    [application]
    databases = ["examples/crate.db"]       # .db files, by their paths in this package or absolute
    access = "examples/crate.acf"           # access security file
    settings = "examples/crate.settings"    # lines NAME=VALUE, which count when nobody else says anything

On the board the files are in /etc/ioc, and the settings `db` and `acf` name them.
"""

import pathlib

from boardlib import ROOT, BuildError

FOLDER = "/etc/ioc"


def paths(bsp):
    """[(key, path)] of the files, in the order of their keys; raises when one is not there."""
    section = bsp.config.get("application", {})
    unknown = set(section) - {"databases", "access", "settings"}
    if unknown:
        raise BuildError(f"{bsp.config_path.name}: [application] has no {', '.join(sorted(unknown))}")
    named = [("databases", name) for name in section.get("databases", [])]
    named += [(key, section[key]) for key in ("access", "settings") if key in section]
    found = [(key, pathlib.Path(ROOT, name)) for key, name in named]
    for key, path in found:
        if not path.is_file():
            raise BuildError(f"{bsp.config_path.name}: [application] {key}: there is no file {path}")
    names = [path.name for key, path in found if key != "settings"]
    if len(set(names)) < len(names):
        raise BuildError(f"{bsp.config_path.name}: [application]: two files of one name")
    return found


def quoted(text):
    """A C string."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\?' and c.isascii() else escaped(c) for c in text) + '"'


def escaped(character):
    """A character of a C string that cannot stand for itself."""
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def settings(found):
    """{name: value} of the settings file, and what the other files imply."""
    values = {}
    for key, path in found:
        if key == "settings":
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                line = line.partition("#")[0].strip()
                name, equals, value = line.partition("=")
                if line and not (equals and name.strip()):
                    raise BuildError(f"{path}:{number}: give NAME=VALUE")
                if line:
                    values[name.strip()] = value.strip()
    databases = [f"{FOLDER}/{path.name}" for key, path in found if key == "databases"]
    if databases:
        values.setdefault("db", ",".join(databases))
    for key, path in found:
        if key == "access":
            values.setdefault("acf", f"{FOLDER}/{path.name}")
    return values


def source(bsp):
    """The C file with the tables; empty ones when there is nothing to embed."""
    found = paths(bsp)
    lines = [f"/* Made from {bsp.config_path.name}: change it there. */", '#include "os/rtems/files.h"', ""]
    files = []
    for key, path in found:
        if key == "settings":
            continue
        data = path.read_bytes()
        name = f"file_{len(files)}"
        lines.append(f"static const unsigned char {name}[] = {{")
        # A byte more than the file has, so that an empty one is an array, too.
        numbers = [str(byte) for byte in data] + ["0"]
        lines += [f"  {', '.join(numbers[at : at + 24])}," for at in range(0, len(numbers), 24)]
        lines.append("};")
        files.append(f"  {{ {quoted(f'{FOLDER}/{path.name}')}, {name}, {len(data)} }},")
    lines += ["", "const struct rtems_ioc_file rtems_ioc_files[] = {", *files, "  { NULL, NULL, 0 }", "};", ""]
    lines.append("const struct rtems_ioc_default rtems_ioc_defaults[] = {")
    lines += [f"  {{ {quoted(name)}, {quoted(value)} }}," for name, value in settings(found).items()]
    lines += ["  { NULL, NULL }", "};", ""]
    return "\n".join(lines)
