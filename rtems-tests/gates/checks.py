# SPDX-License-Identifier: BSD-2-Clause
"""The gates: each takes objects or text and returns the list of what is wrong, empty when nothing is.

| gate      | keeps out                                                                                          |
|-----------|----------------------------------------------------------------------------------------------------|
| altivec   | vector instructions: RTEMS 4.9 saves no vector registers, an MPC750 has none                       |
| tls       | thread-local storage: the link scripts up to 4.9 have no .tdata; in an image only the C library's  |
| undefined | references that an image without this package's knowledge cannot satisfy                           |
| returns   | structs returned by value over the C boundary: rustc and GCC disagree below 9 bytes on PowerPC     |
| hooks     | malloc, lock, print or panic within reach of a wrapped heap function: deadlock or endless recursion |
| marker    | an archive or image in which the hooks are absent                                                  |
| bypass    | an image with a call that goes round a hook: linked without one of the --wrap flags                |
| exports   | a division, memcpy or fmod of Rust's in place of the image's own, or any other name that is not ours |
| limits    | an image that the board's firmware or link map cannot take                                         |
"""

import fnmatch
import re
import struct

import elf

# --- AltiVec ---------------------------------------------------------------------------------------------------------

# Extended opcodes under primary opcode 31: lvsl lvebx lvsr lvehx lvewx lvx lvxl stvebx stvehx stvewx stvx stvxl dst dstst dss.
_VECTOR_31 = {6, 7, 38, 39, 71, 103, 359, 135, 167, 199, 231, 487, 342, 374, 822}
# Those among them that touch no vector register: a kernel stops streams (dss) on CPUs that have them.
_STREAMS_31 = {342, 374, 822}
_VRSAVE = 256


def is_vector(word, streams=True):
    """Is this 32-bit PowerPC instruction one of AltiVec (or a move from or to VRSAVE)?"""
    primary = word >> 26
    if primary == 4:
        return True
    if primary != 31:
        return False
    extended = (word >> 1) & 0x3FF
    if extended in (339, 467):  # mfspr, mtspr: the register number is written in two halves
        return ((word >> 16) & 0x1F) | ((word >> 11) & 0x1F) << 5 == _VRSAVE
    return extended in _VECTOR_31 and (streams or extended not in _STREAMS_31)


def altivec(objects, streams=True):
    """AltiVec instructions in PowerPC code; without `streams` only those that need vector registers."""
    wrong = []
    for found in objects:
        if found.machine != elf.EM_PPC:
            continue
        for section in found.sections:
            if not section.executable:
                continue
            words = struct.unpack(f"{found.order}{len(section.data) // 4}I", section.data[: len(section.data) & ~3])
            for at, word in enumerate(words):
                if is_vector(word, streams):
                    wrong.append(f"{found.name}({section.name}+{4 * at:#x}): AltiVec instruction {word:#010x}")
    return wrong


# --- TLS -------------------------------------------------------------------------------------------------------------


def tls(objects):
    """Thread-local storage of our own, and any use of it by Rust (a C object may use the C library's of its BSP)."""
    wrong = []
    for found in objects:
        for section in found.sections:
            if section.flags & elf.SHF_TLS and section.size:
                wrong.append(f"{found.name}: thread-local section {section.name} of {section.size} bytes")
        for symbol in found.symbols:
            ours = symbol.section != 0 or found.name.endswith(".rcgu.o")
            if symbol.type == elf.STT_TLS and symbol.name and ours:
                wrong.append(f"{found.name}: thread-local symbol {symbol.name}")
    return wrong


def tls_of_image(objects, allowed):
    """Thread-local storage in a linked image, other than what the C library and the kernel of its RTEMS have (`allowed`).

    What no name accounts for is somebody's, too: a section may be longer than its variables by their alignment only.
    """
    wrong = []
    for found in objects:
        variables = [s for s in found.symbols if s.type == elf.STT_TLS and s.section and s.name]
        wrong += [
            f"{found.name}: thread-local variable {symbol.name} of {symbol.size} bytes is not in the allowed list"
            for symbol in variables
            if not any(fnmatch.fnmatchcase(symbol.name, pattern) for pattern in allowed)
        ]
        size = sum(section.size for section in found.sections if section.flags & elf.SHF_TLS)
        named = sum(symbol.size for symbol in variables)
        if size > named + 8 * sum(symbol.size > 0 for symbol in variables):
            wrong.append(f"{found.name}: {size} bytes of thread-local storage, its variables have {named}")
    return wrong


# --- undefined symbols -----------------------------------------------------------------------------------------------


def read_allowed(path):
    """The names of an allowed list: one a line, `*` stands for any text, `#` starts a comment."""
    with open(path, encoding="utf-8") as file:
        lines = (line.split("#")[0].strip() for line in file)
        return {line for line in lines if line}


def undefined(objects, allowed):
    """References that neither the archive itself nor the allowed list answers."""
    defined, wanted = set(), {}
    for found in objects:
        for symbol in found.symbols:
            if symbol.undefined and symbol.binding != elf.STB_WEAK:
                wanted.setdefault(symbol.name, found.name)
            elif symbol.section and symbol.binding != 0:
                defined.add(symbol.name)
    return [
        f"{wanted[name]}: undefined {name} is not in the allowed list"
        for name in sorted(set(wanted) - defined)
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed)
    ]


# --- struct returns --------------------------------------------------------------------------------------------------

# A pointer is thin unless what it leads to has no size of its own: then it is a pair, and returned like a struct.
_UNSIZED = re.compile(r"^(?:mut\s+|'\w+\s+)*(?:str|(?:core::ffi::|std::ffi::)?CStr|dyn\b.*|\[[^;]*\])$", re.S)
_SCALAR = re.compile(
    r"^(?:(?:::)?(?:core::ffi::|cty::|libc::|std::os::raw::)?"
    r"(?:[iu](?:8|16|32|64|size)|f32|f64|bool|c_(?:[us]?char|short|ushort|int|uint|long|ulong|longlong|ulonglong|float|double)|size_t|ssize_t|void|c_void)"
    r"|!|\(\))$"
)
_RAW = re.compile(r"^\*\s*(?:const|mut)\s+(.*)$", re.S)
# What is never null, so that Option of it is a pointer as well.
_POINTERS = re.compile(r"^(?:&(.*)|(?:(?:::)?(?:core::ptr::|std::ptr::|alloc::boxed::|std::boxed::)?(?:NonNull|Box))<(.*)>)$", re.S)
_FUNCTION_POINTER = re.compile(r"^(?:unsafe\s+)?extern\s+(?:\"C(?:-unwind)?\"\s+)?fn\b", re.S)
_OPTION = re.compile(r"^(?:(?:::)?(?:core|std)::option::)?Option<(.*)>$", re.S)

_ABI = r"extern\s+(?:\"(?:C|system)(?:-unwind)?\"\s+)?fn"
_ARGUMENTS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_RESULT = r"(?:[^{;\[]|\[[^\]]*\])+?"
# A type up to the end of the declaration: what stands in <> and () belongs to it.
_TYPE = r"(?:[^,;={}<>()\[]|\[[^\]]*\]|->|<(?:[^<>]|->|<(?:[^<>]|->|<[^<>]*>)*>)*>|\((?:[^()]|\([^()]*\))*\))+"
_SIGNATURE = re.compile(rf"{_ABI}\s+(\w+)\s*(?:<[^>]*>)?\s*({_ARGUMENTS})\s*(?:->\s*({_RESULT}))?\s*(?:where[^{{]*)?[{{;]", re.S)
_DECLARED = re.compile(rf"\bfn\s+(\w+)\s*({_ARGUMENTS})\s*(?:->\s*({_RESULT}))?\s*;", re.S)
_POINTER = re.compile(rf"{_ABI}\s*{_ARGUMENTS}\s*->\s*({_TYPE})", re.S)
# On one line as well: nobody has to have formatted what bindgen writes.
_EXTERN_BLOCK = re.compile(r"extern\s+(?:\"(?:C|system)(?:-unwind)?\"\s*)?\{([^{}]*|.*?\n\s*)\}", re.S)
_ALIAS = re.compile(r"\btype\s+(\w+)\s*=\s*([^;]+);")


def in_one_register(meaning, aliases):
    """Is this Rust type returned as a scalar or a thin pointer? Only Option of what is never null is a pointer, too."""

    def resolved(text):
        text = text.strip()
        for _ in range(8):
            text = aliases.get(text.split("::")[-1], text) if text else text
        return text

    def thin(text):
        return not _UNSIZED.match(resolved(text.strip()))

    def never_null(text):
        found = _POINTERS.match(text)
        return bool(_FUNCTION_POINTER.match(text)) or found is not None and thin(found[1] or found[2])

    meaning = resolved(meaning)
    option, raw = _OPTION.match(meaning), _RAW.match(meaning)
    if option:
        return never_null(resolved(option[1]))
    return bool(_SCALAR.match(meaning)) or never_null(meaning) or raw is not None and thin(raw[1])


def returns(sources):
    """C-boundary functions in Rust text ({name: text}) that return something else than a scalar or a pointer."""
    aliases = {}
    for text in sources.values():
        aliases.update({name: meaning.strip() for name, meaning in _ALIAS.findall(text)})
    wrong = []
    for where, text in sources.items():
        text = re.sub(r"//[^\n]*", "", text)
        functions = _SIGNATURE.findall(text)
        for block in _EXTERN_BLOCK.findall(text):
            functions += _DECLARED.findall(block)
        functions += [("a function pointer", "", result) for result in _POINTER.findall(text)]
        for name, _arguments, result in functions:
            if result.strip() and not in_one_register(result, aliases):
                wrong.append(f"{where}: {name} returns {result.strip()} by value: use an out pointer")
    return wrong


# --- what the hooks can reach ----------------------------------------------------------------------------------------

# Each takes memory, waits for somebody, prints, or ends the program.
FORBIDDEN = re.compile(
    r"^(?:malloc|calloc|realloc|reallocf|free|posix_memalign|memalign|rtems_memalign|aligned_alloc|strn?dup|v?asprintf|_Zn[wa].*|_Zd[la].*"
    r"|rtems_heap_.*|malloc_(?:free_space|info|walk|get_statistics)"
    r"|.*__rust_(?:no_)?(?:alloc|dealloc|realloc).*|.*handle_alloc_error.*"
    r"|_RTEMS_(?:Lock|Unlock)_.*|_API_Mutex_.*|_Mutex_.*|_CORE_(?:recursive_)?mutex_.*|_Semaphore_.*|_Condition_.*|_Thread_queue_.*"
    r"|_ISR_lock_.*|_Thread_(?:Do_)?[Dd]ispatch.*|rtems_(?:recursive_)?mutex_.*|rtems_(?:counting_|binary_)?semaphore_.*"
    r"|rtems_(?:event|message_queue|task|bsdnet_semaphore|interrupt_lock)_.*|pthread_.*|sem_.*|rtems_ioc_heap_(?:un)?lock"
    r"|v?s?n?printk|f?printk|v?f?printf|v?sn?printf|f?puts|f?putc|putchar|putk|fwrite|write|rtems_(?:v?printf|put_char).*|.*4core3fmt.*"
    r"|abort|exit|_exit|__assert.*|rtems_fatal.*|rtems_panic|_Terminate|_Internal_error"
    r"|.*4core9panicking.*|.*rust_begin_unwind.*)$"
)


def call_graph(objects):
    """{(object, section): set of symbol names it refers to} and {symbol: [(object, section)]} for everything in code."""
    refers, defined = {}, {}
    for number, found in enumerate(objects):
        for section in found.sections:
            if section.flags & elf.SHF_ALLOC:
                refers[number, section.index] = [symbol for _, symbol in found.relocations(section)]
        for symbol in found.symbols:
            if symbol.section and symbol.section < len(found.sections) and symbol.name:
                defined.setdefault(symbol.name, []).append((number, symbol.section, symbol.binding))
    return refers, defined


def reachable(objects, roots):
    """{symbol name: the path of names by which it is reached} from the functions named in `roots`.

    Every relocation counts as a call, so a function whose address is only taken is reached as well. It looks at whole
    sections: compile with one function per section.
    """
    refers, defined = call_graph(objects)
    paths, queue = {}, []
    for root in roots:
        for number, section, _binding in defined.get(root, []):
            paths[root] = [root]
            queue.append(((number, section), root))
    seen = set()
    while queue:
        place, name = queue.pop(0)
        if place in seen:
            continue
        seen.add(place)
        for symbol in refers.get(place, []):
            number = place[0]
            if symbol.section and symbol.type == elf.STT_SECTION:
                label = objects[number].sections[symbol.section].name
                targets = [(number, symbol.section)]
            elif symbol.section and symbol.binding == 0:
                label, targets = symbol.name, [(number, symbol.section)]
            else:
                label = symbol.name
                targets = [(n, s) for n, s, binding in defined.get(symbol.name, []) if binding != 0]
            if label and label not in paths:
                paths[label] = paths[name] + [label]
            queue += [(target, label) for target in targets if target not in seen]
    return paths


def hooks(objects, roots, allowed=None):
    """Forbidden functions within reach of the wrapped heap entry points `roots`, and what they ask of an image that is not
    in the `allowed` list, if there is one."""
    paths = reachable(objects, roots)
    here = {symbol.name for found in objects for symbol in found.symbols if symbol.section}
    wrong = [f"{root}: not in the archive" for root in roots if root not in paths]
    for name, path in sorted(paths.items()):
        outside = name not in here and not name.startswith(".")
        unknown = allowed is not None and outside and not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed)
        if FORBIDDEN.match(name.removeprefix(".text.")) or unknown:
            wrong.append("heap hook reaches " + name + ": " + " -> ".join(path))
    return wrong


# --- markers and limits ----------------------------------------------------------------------------------------------


def marker(objects, names):
    """Names that must be defined, so that the hooks are known to be there."""
    defined = {symbol.name for found in objects for symbol in found.symbols if symbol.section}
    return [f"{name} is not defined: the heap hooks are not in this file" for name in names if name not in defined]


def branches(found):
    """(address, target) of every direct branch in an image's code: PowerPC, and Thumb as RTEMS is compiled for ARM."""
    for section in found.sections:
        if not section.executable:
            continue
        data, address = section.data, section.address
        if found.machine == elf.EM_PPC:
            for at, word in enumerate(struct.unpack(f"{found.order}{len(data) // 4}I", data[: len(data) & ~3])):
                if word >> 26 == 18:
                    here = address + 4 * at
                    distance = ((word & 0x03FFFFFC) ^ 0x02000000) - 0x02000000
                    yield here, distance if word & 2 else here + distance
        elif found.machine == elf.EM_ARM:
            halves = struct.unpack(f"{found.order}{len(data) // 2}H", data[: len(data) & ~1])
            for at, (first, second) in enumerate(zip(halves, halves[1:])):
                if first & 0xF800 == 0xF000 and second & 0x9000 == 0x9000:
                    sign = first >> 10 & 1
                    high = ~((second >> 13 & 1) ^ sign) & 1, ~((second >> 11 & 1) ^ sign) & 1
                    distance = high[0] << 23 | high[1] << 22 | (first & 0x3FF) << 12 | (second & 0x7FF) << 1
                    yield address + 2 * at, address + 2 * at + 4 + distance - (sign << 24)


def bypass(objects, names, on_purpose=()):
    """Calls in an image that reach a heap function other than through its wrapper, or `on_purpose` from these callers."""
    wrong = []
    for found in objects:
        functions = [s for s in found.symbols if s.type == elf.STT_FUNC and s.section]
        real = {s.value & ~1: s.name for s in functions if s.name in names}
        wrappers = [(s.value & ~1, s.size) for s in functions if s.name.removeprefix("__wrap_") in names and s.name not in names]
        for place, target in branches(found):
            if target in real and not any(start <= place < start + size for start, size in wrappers):
                callers = [s.name for s in functions if s.value & ~1 <= place < (s.value & ~1) + s.size] or [hex(place)]
                if callers[0] in on_purpose:
                    continue
                wrong.append(
                    f"{found.name}: {callers[0]} calls {real[target]} past its hook: "
                    f"linked without --wrap={real[target]}"
                )
    return wrong


_OURS = re.compile(r"^(?:rtems_ioc_\w+|osiSuffici?entSpaceInPool|__wrap_\w+|tcpecho)$")


def exports(objects):
    """Global names that this archive offers to everybody and that are not its interface: an image could take them for its own."""
    return [
        f"{found.name}: {symbol.name} is global, and no name of this package's: it is to be local"
        for found in objects
        for symbol in found.symbols
        if symbol.section and symbol.binding != 0 and symbol.name and not _OURS.match(symbol.name)
    ]


def limits(objects, maximum):
    """An image whose code, data and bss are more than `maximum` bytes; the BSP's heap (.work) is what remains."""
    wrong = []
    for found in objects:
        size = sum(s.size for s in found.sections if s.flags & elf.SHF_ALLOC and s.name not in (".work", ".noinit"))
        if size > maximum:
            wrong.append(f"{found.name}: {size} bytes, the board takes {maximum}")
    return wrong
