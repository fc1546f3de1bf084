"""The header of a GGUF file: what the model is, and every tensor's name, shape and format, without reading a weight.

    GGUF | version | how many tensors | how many facts | facts: name, type, value | tensors: name, shape, type, place

Integers are little-endian. Lengths are believed only as far as the file reaches.
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from archcalc import document
from archcalc.archs.weights import Stored
from archcalc.data import data_root
from archcalc.errors import InputError

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_SPLIT = re.compile(r"(.*)-\d{5}-of-(\d{5})\.gguf")
MANY = 1_000_000  # more facts or tensors than any file has


@dataclass(frozen=True)
class Header:
    """Facts by their names (of a list, its length stands in the place of its items), and the tensors."""

    facts: dict[str, Any]
    tensors: dict[str, Stored]


@cache
def types() -> dict[int, dict[str, Any]]:
    """Each GGML type: its name, the numbers in a block of it, and the bytes that the block takes."""
    file = data_root() / "gguf" / "types.yaml"
    found: dict[str, Any] = document.read(file.read_bytes(), "GGML types").data
    return {int(number): kind for number, kind in found["types"].items()}


def read(file: Path) -> Header:
    """The header of a file, or of all parts of one that was split."""
    found = _read(file)
    parts = found.facts.get("split.count", 1)
    return _joined(file, parts) if isinstance(parts, int) and parts > 1 else found


def _read(file: Path) -> Header:
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _Reader(data).header()


def _joined(file: Path, parts: int) -> Header:
    """`model-00001-of-00003.gguf` and its neighbours: the first says what the model is, each lists its own tensors."""
    match = _SPLIT.fullmatch(file.name)
    if not match or int(match[2]) != parts:
        hint = "give the parts their names back"
        raise InputError(f"one of {parts} parts, but not called so: model-00001-of-{parts:05}.gguf", hint)
    files = [file.with_name(f"{match[1]}-{number:05}-of-{parts:05}.gguf") for number in range(1, parts + 1)]
    missing = [part.name for part in files if not part.is_file()]
    if missing:
        raise InputError(f"the part {missing[0]} is missing", f"download all {parts} into one folder")
    headers = [_read(part) for part in files]
    return Header(headers[0].facts, {name: stored for header in headers for name, stored in header.tensors.items()})


class _Reader:
    """Walks over the header; what lies beyond the end of the file raises."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self.place = 4

    def header(self) -> Header:
        version = self.number("I")
        if version not in (2, 3):
            raise InputError(f"GGUF version {version} is not read", "versions 2 and 3 are; convert the file anew")
        tensors, facts = self.number("Q"), self.number("Q")
        if max(tensors, facts) > MANY:
            raise _broken(f"it claims {tensors:,} tensors and {facts:,} facts")
        told = {self.string(): self.value(self.number("I")) for _ in range(facts)}
        listed = [self.tensor() for _ in range(tensors)]
        self.check_end(listed, int(told.get("general.alignment", 32) or 32))
        return Header(told, {name: stored for name, stored, _ in listed})

    def number(self, code: str) -> Any:
        size = struct.calcsize(code)
        if self.place + size > len(self.data):
            raise _broken("it ends within its header")
        (found,) = struct.unpack_from(f"<{code}", self.data, self.place)
        self.place += size
        return found

    def string(self) -> str:
        length = self.number("Q")
        if self.place + length > len(self.data):
            raise _broken(f"a name claims to be {length:,} bytes long")
        raw = self.data[self.place : self.place + length]
        self.place += length
        return str(raw, "utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            return self.array(self.number("I"), self.number("Q"))
        if kind not in _NUMBERS:
            raise _broken(f"a fact has the unknown type {kind}")
        return self.number(_NUMBERS[kind])

    def array(self, kind: int, length: int) -> Any:
        """A short list of numbers as it is; of long ones, and of words, only how many there are."""
        if length > len(self.data) - self.place:
            raise _broken(f"a list claims {length:,} items")
        if kind in _NUMBERS and length <= 4096:
            return [self.number(_NUMBERS[kind]) for _ in range(length)]
        if kind in _NUMBERS:
            self.place += length * struct.calcsize(_NUMBERS[kind])
        elif kind == _STRING:
            self.skip_strings(length)
        else:
            raise _broken("a list holds lists")
        return length

    def skip_strings(self, length: int) -> None:
        """A vocabulary has hundreds of thousands of words: only their lengths are read."""
        data, place, end = self.data, self.place, len(self.data)
        unpack = struct.Struct("<Q").unpack_from
        for _ in range(length):
            if place + 8 > end:
                raise _broken("it ends within its header")
            place += 8 + unpack(data, place)[0]
        if place > end:
            raise _broken("it ends within its header")
        self.place = place

    def tensor(self) -> tuple[str, Stored, int]:
        name, axes = self.string(), self.number("I")
        if axes > 8:
            raise _broken(f"{name} has {axes} axes")
        shape = tuple(reversed([self.number("Q") for _ in range(axes)]))  # the fastest axis stands first in the file
        kind, offset = self.number("I"), self.number("Q")
        if kind not in types():
            raise InputError(f"{name} is stored as GGML type {kind}, which archcalc does not know")
        return name, _stored(name, shape, types()[kind]), offset

    def check_end(self, listed: list[tuple[str, Stored, int]], alignment: int) -> None:
        """The numbers begin at the next multiple of `alignment`; all tensors must lie within the file."""
        start = -(-self.place // alignment) * alignment
        for name, stored, offset in listed:
            if start + offset + stored.bytes > len(self.data):
                raise _broken(f"{name} ends at byte {start + offset + stored.bytes:,}, the file at {len(self.data):,}")


def _stored(name: str, shape: tuple[int, ...], kind: dict[str, Any]) -> Stored:
    elements = 1
    for size in shape:
        elements *= size
    row = shape[-1] if shape else 1
    if row % kind["numbers"]:
        raise _broken(
            f"{name} has rows of {row}, which {kind['name']} cannot hold: its blocks are of {kind['numbers']}"
        )
    return Stored(kind["name"], shape, elements // kind["numbers"] * kind["bytes"])


def _broken(why: str) -> InputError:
    return InputError(f"not a whole GGUF file: {why}", "download it again")
