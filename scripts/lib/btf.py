# SPDX-License-Identifier: GPL-2.0
"""Reads BTF, the type information of Linux kernels, and compares layouts.

The format is the one that the kernel documents (Documentation/bpf/btf.rst).
"""

import struct


class Trouble(Exception):
    """The check cannot be made; the message says what to do about it."""


KINDS = ("void", "int", "ptr", "array", "struct", "union", "enum", "fwd",
         "typedef", "volatile", "const", "restrict", "func", "func_proto",
         "var", "datasec", "float", "decl_tag", "type_tag", "enum64")
# Bytes behind the 12 of a type: fixed, and for each of its vlen elements.
FIXED = {"int": 4, "array": 12, "var": 4, "decl_tag": 4}
EACH = {"struct": 12, "union": 12, "enum": 8, "func_proto": 8,
        "datasec": 12, "enum64": 12}
# Qualifiers that change nothing about a call or a layout, and that debug
# information sometimes keeps and sometimes drops.
TRANSPARENT = ("typedef", "volatile", "restrict", "type_tag")


def btf_section(data, origin):
    """The BTF bytes in `data`: BTF itself or an ELF file with a .BTF."""
    if data[:2] == b"\x9f\xeb":
        return data
    if data[:4] != b"\x7fELF":
        raise Trouble(f"{origin} is neither BTF nor an ELF file")
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    def header(index):
        return struct.unpack_from("<IIQQQQ", data, table + index * size)
    text = header(names)[4] if count else 0
    for index in range(count):
        name, _, _, _, offset, length = header(index)
        if data[text + name:text + name + 5] == b".BTF\0":
            return data[offset:offset + length]
    return b""


class Btf:
    """Types of one BTF blob."""

    def __init__(self, data, origin):
        self.origin = origin
        blob = btf_section(data, origin)
        if not blob:
            raise Trouble(f"{origin} has no BTF section")
        magic, _, _, head, toff, tlen, soff, slen = \
            struct.unpack_from("<HBBIIIII", blob)
        if magic != 0xeb9f:
            raise Trouble(f"{origin}: BTF of another byte order")
        # Newer encoders say how long each kind's data is, so that kinds
        # unknown to a reader can be passed over.
        self.sizes = {}
        if head >= 32:
            loff, llen = struct.unpack_from("<II", blob, 24)
            self.sizes = {number: (info, each) for number, (info, each, _) in
                          enumerate(struct.iter_unpack("<BBH", blob[
                              head + loff:head + loff + llen // 4 * 4]))}
        self.data = blob[head + toff:head + toff + tlen]
        self.text = blob[head + soff:head + soff + slen]
        self.types = [("void", 0, 0, 0, 0, 0)]
        self.index = {}
        self._scan()

    def _scan(self):
        position, end = 0, len(self.data)
        unpack, data = struct.Struct("<III").unpack_from, self.data
        while position < end:
            name, info, size = unpack(data, position)
            number, count = info >> 24 & 0x7f, info & 0xffffff
            position += 12
            if number >= len(KINDS):
                position += self._unknown(number, count)
                self.types.append((f"kind {number}", name, size, info >> 31,
                                   count, position))
                continue
            kind = KINDS[number]
            if name and kind in ("struct", "union", "enum", "func"):
                self.index.setdefault((kind, name), []).append(len(self.types))
            self.types.append((kind, name, size, info >> 31, count, position))
            position += FIXED.get(kind, 0) + EACH.get(kind, 0) * count
        self.index = {(kind, self.string(name)): ids
                      for (kind, name), ids in self.index.items()}

    def _unknown(self, number, count):
        """Bytes behind a type of a kind that is newer than this check.

        A compared type that refers to one differs: its description equals nothing
        in compat.h.
        """
        if number not in self.sizes:
            raise Trouble(f"{self.origin}: BTF kind {number} is newer "
                          "than this check")
        info, each = self.sizes[number]
        return info + each * count

    def string(self, offset):
        """The string at `offset`."""
        return self.text[offset:self.text.index(b"\0", offset)].decode()

    def find(self, kind, name):
        """Numbers of all types of this kind and name."""
        return self.index.get((kind, name), [])

    def members(self, number):
        """(name, bit offset, bit field width, type) of a struct's members."""
        _, _, _, flag, count, position = self.types[number]
        for _ in range(count):
            name, kind, offset = struct.unpack_from("<III", self.data,
                                                    position)
            position += 12
            width = offset >> 24 if flag else 0
            yield (self.string(name), offset & 0xffffff if flag else offset,
                   width, kind)

    def values(self, number):
        """(name, value) of an enum."""
        _, _, _, _, count, position = self.types[number]
        for _ in range(count):
            name, value = struct.unpack_from("<Ii", self.data, position)
            position += 8
            yield self.string(name), value

    def size(self, number):
        """Size of a value of this type, bytes (0: it has none)."""
        kind, _, size, _, _, position = self.types[number]
        if kind in ("int", "struct", "union", "enum", "float", "enum64"):
            return size
        if kind == "ptr":
            return 8
        if kind == "array":
            element, _, count = struct.unpack_from("<III", self.data, position)
            return count * self.size(element)
        if kind in TRANSPARENT + ("const",):
            return self.size(size)
        return 0

    def align(self, number):
        """The alignment of a value of this type, without attributes."""
        kind, _, size, _, _, position = self.types[number]
        if kind in ("struct", "union"):
            return max((self.align(member) for _, _, _, member
                        in self.members(number)), default=1)
        if kind == "array":
            return self.align(struct.unpack_from("<I", self.data, position)[0])
        if kind in TRANSPARENT + ("const",):
            return self.align(size)
        return self.size(number) or 1

    def arguments(self, number):
        """The parameters of a func_proto as texts, without their names."""
        _, _, _, _, count, position = self.types[number]
        found = []
        for _ in range(count):
            name, kind = struct.unpack_from("<II", self.data, position)
            position += 8
            found.append("..." if not name and not kind
                         else self.describe(kind, parameter=True))
        return found

    def prototype(self, number):
        """A func_proto as text, names of parameters left out."""
        result = self.describe(self.types[number][2])
        return f"{result} ({', '.join(self.arguments(number)) or 'void'})"

    def pointed_at(self, number):
        """The func_proto behind a pointer, or None."""
        while self.types[number][0] in TRANSPARENT + ("const", "ptr"):
            number = self.types[number][2]
        return number if self.types[number][0] == "func_proto" else None

    def describe(self, number, parameter=False):
        """A type as text that is equal exactly when the types are.

        Typedefs are followed: compat.h has other names for types that differ
        between kernels.
        """
        kind, name, target, flag, count, position = self.types[number]
        if kind in TRANSPARENT:
            return self.describe(target, parameter)
        if kind == "const":
            # A parameter that is itself const is the callee's business.
            inner = self.describe(target, parameter)
            if parameter or inner.startswith("const "):
                return inner
            return inner + " const" if inner.endswith("*") else "const " + inner
        if kind == "ptr":
            return self.describe(target) + " *"
        if kind == "array":
            element, _, length = struct.unpack_from("<III", self.data,
                                                    position)
            return f"{self.describe(element)} [{length}]"
        if kind == "func_proto":
            return self.prototype(number)
        if kind == "fwd":
            return f"{'union' if flag else 'struct'} {self.string(name)}"
        if kind in ("struct", "union", "enum", "enum64"):
            word = "enum" if kind == "enum64" else kind
            if name:
                return f"{word} {self.string(name)}"
            if word == "enum":
                return f"enum {{ {dict(self.values(number))} }}"
            return f"{word} {{ {self.layout(number)} }}"
        if kind == "void":
            return "void"
        if kind not in KINDS:
            return f"{kind} {self.string(name)}"
        # Compilers spell integers in more than one way. Whether plain char
        # has a sign is a compiler option, equal for all of one kernel.
        words = [w for w in self.string(name).split() if w != "int"]
        words.sort(key=lambda w: (w not in ("signed", "unsigned"), w))
        return " ".join(words) if words and words != ["unsigned"] \
            else " ".join(words + ["int"])

    def layout(self, number):
        """{member: {aspect: value}}: what has to be equal, in this order."""
        found = {}
        for name, offset, width, kind in self.members(number):
            found[name or f"(anonymous {len(found)})"] = {
                "type": self.describe(kind),
                "offset": f"{offset // 8}" +
                          (f" bit {offset % 8}" if width else ""),
                "size": f"{width} bits" if width else f"{self.size(kind)}",
            }
        return found

    def shape(self, kind, number):
        """All that has to be equal of one struct, enum or function."""
        if kind == "struct":
            return self.layout(number) | {
                "(whole)": {"size": f"{self.size(number)}"}}
        if kind == "enum":
            return {name: {"value": f"{value}"}
                    for name, value in self.values(number)} | {
                "(whole)": {"size": f"{self.size(number)}"}}
        return {"(prototype)": {
            "type": self.describe(self.types[number][2])}}


class Relaid:
    """Structs of one BTF, laid out with the sizes that another one has.

    `ours` was compiled with the headers of some kernel. Types of public headers that
    a struct of `restated` embeds (struct mutex) have other sizes in other kernels, so
    they are those of `kernel`. Each member is at the next offset that its alignment
    allows, as the C ABI demands for a struct without attributes.
    """

    def __init__(self, ours, kernel, restated):
        self.ours, self.kernel, self.restated = ours, kernel, restated

    def measure(self, number):
        """(size, alignment) of a type of `ours`."""
        kind, name, target, _, _, position = self.ours.types[number]
        if kind in TRANSPARENT + ("const",):
            return self.measure(target)
        if kind == "array":
            element, _, count = struct.unpack_from("<III", self.ours.data,
                                                   position)
            size, align = self.measure(element)
            return size * count, align
        if kind in ("struct", "union") and name:
            name = self.ours.string(name)
            if name in self.restated:
                _, size, align = self.place(number)
                return size, align
            found = self.kernel.find(kind, name)
            if found:
                return self.kernel.size(found[0]), self.kernel.align(found[0])
        return self.ours.size(number), self.ours.align(number)

    def place(self, number):
        """({member: {aspect: value}}, size, alignment) of a struct."""
        def up(value, to):
            return -(-value // to) * to
        found, bits, most = {}, 0, 1
        for name, _, width, kind in self.ours.members(number):
            size, align = self.measure(kind)
            most = max(most, align)
            if not width or bits % (8 * size) + width > 8 * size:
                bits = up(bits, 8 * align)
            found[name] = {
                "type": self.ours.describe(kind),
                "offset": f"{bits // 8}" + (f" bit {bits % 8}" if width else ""),
                "size": f"{width} bits" if width else f"{size}",
            }
            bits += width or 8 * size
        return found, up(bits, 8 * most) // 8, most

    def shape(self, kind, number):
        """Like Btf.shape()."""
        if kind != "struct":
            return self.ours.shape(kind, number)
        found, size, _ = self.place(number)
        return found | {"(whole)": {"size": f"{size}"}}
