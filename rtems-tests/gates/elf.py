# SPDX-License-Identifier: BSD-2-Clause
"""Reads what the gates need from 32-bit ELF objects, images and `ar` archives: sections, symbols, relocations.

Pure Python, so that the gates run wherever the archives are built, also where no binutils know PowerPC or ARM.
"""

import struct
from dataclasses import dataclass, field

SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL = 2, 4, 8, 9
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 1, 2, 4, 0x400
STT_FUNC, STT_SECTION, STT_TLS = 2, 3, 6
STB_WEAK = 2
EM_PPC, EM_ARM = 20, 40


@dataclass
class Section:
    """One section with its bytes (none for NOBITS)."""

    index: int
    name: str
    type: int
    flags: int
    address: int
    size: int
    link: int
    info: int
    entry_size: int
    data: bytes

    @property
    def executable(self):
        return bool(self.flags & SHF_EXECINSTR)


@dataclass
class Symbol:
    """One symbol; `section` is 0 when it is undefined."""

    name: str
    value: int
    size: int
    type: int
    binding: int
    section: int

    @property
    def undefined(self):
        return self.section == 0 and self.name != ""


@dataclass
class Object:
    """One ELF file: an object of an archive or a linked image."""

    name: str
    machine: int
    order: str
    sections: list = field(default_factory=list)
    symbols: list = field(default_factory=list)

    def relocations(self, target):
        """The symbols that the code or data of section `target` refers to, with their offsets."""
        for section in self.sections:
            if section.type not in (SHT_REL, SHT_RELA) or section.info != target.index:
                continue
            size = 8 if section.type == SHT_REL else 12
            for at in range(0, len(section.data) - size + 1, size):
                offset, info = struct.unpack_from(self.order + "II", section.data, at)
                yield offset, self.symbols[info >> 8]


class FormatError(Exception):
    """The file is not what the gates can read."""


def _text(table, at):
    return table[at : table.index(b"\0", at)].decode("utf-8", "replace")


def read_object(name, data):
    """Reads one ELF file, or returns None when `data` is something else (an archive's metadata)."""
    if data[:4] != b"\x7fELF":
        return None
    if data[4] != 1:
        raise FormatError(f"{name}: not a 32-bit ELF file")
    order = "<" if data[5] == 1 else ">"
    (machine,) = struct.unpack_from(order + "H", data, 18)
    (section_table,) = struct.unpack_from(order + "I", data, 32)
    entry, count, names_index = struct.unpack_from(order + "HHH", data, 46)
    found = Object(name, machine, order)
    headers = [struct.unpack_from(order + "10I", data, section_table + i * entry) for i in range(count)]
    if not headers:
        raise FormatError(f"{name}: no sections")
    if names_index == 0xFFFF or count == 0:
        raise FormatError(f"{name}: too many sections for this reader")
    names = headers[names_index]
    names = data[names[4] : names[4] + names[5]]
    for index, (at, kind, flags, address, offset, size, link, info, _align, entry_size) in enumerate(headers):
        body = b"" if kind == SHT_NOBITS else data[offset : offset + size]
        found.sections.append(
            Section(index, _text(names, at), kind, flags, address, size, link, info, entry_size, body)
        )
    for section in found.sections:
        if section.type != SHT_SYMTAB:
            continue
        strings = found.sections[section.link].data
        for at in range(0, len(section.data) - 15, 16):
            text, value, size, info, _other, where = struct.unpack_from(order + "IIIBBH", section.data, at)
            found.symbols.append(Symbol(_text(strings, text), value, size, info & 15, info >> 4, where))
    return found


def members(data):
    """The members of an `ar` archive (GNU form, long names) as (name, bytes)."""
    at, long_names = 8, b""
    while at + 60 <= len(data):
        header = data[at : at + 60]
        name, size = header[:16].decode().rstrip(), int(header[48:58])
        body = data[at + 60 : at + 60 + size]
        at += 60 + size + (size & 1)
        if name == "//":
            long_names = body
        elif name in ("/", "/SYM64/"):
            continue
        elif name.startswith("/"):
            start = int(name[1:])
            yield long_names[start : long_names.index(b"/\n", start)].decode(), body
        else:
            yield name.rstrip("/"), body


def read(path):
    """Every ELF object in the file at `path`, which is an archive, an object or an image."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] == b"!<arch>\n":
        objects = [read_object(name, body) for name, body in members(data)]
        return [found for found in objects if found is not None]
    found = read_object(str(path), data)
    if found is None:
        raise FormatError(f"{path}: neither an ELF file nor an archive")
    return [found]
