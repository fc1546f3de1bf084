"""Reads a GGUF header: metadata, and every tensor's name, shape and format, without the weights.

    GGUF | version | how many tensors | how many facts | facts: name, type, value | tensors: name, shape, type, place

Integers are little-endian. Whatever the header claims is believed only as far as the file reaches, and is read with
ordinary reads: a file that is cut meanwhile ends early, where a mapped one would end the process.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from archcalc.core.errors import InputError
from archcalc.importers.gguf_folder import SPLIT
from archcalc.spec.stored_tensors import Stored, each_once
from archcalc.storage.ggml_types import types

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_MISSING = 8  # names of parts in a message
_FACT, _TENSOR, _WORD = 8, 8, 8  # bytes that each takes at the least, for the length of its name
MANY = 200_000  # more facts or tensors than any file has
MANY_WORDS = 4_000_000  # of all lists together; the largest vocabularies have some 300,000, and as many merges
LONGEST = 65_535  # bytes of a name; a longer text, such as a tokenizer in JSON, is passed over
_ENDS = "the file ends within its header"
SHORT = 4_096  # a list that is kept, with a number for each layer


@dataclass(frozen=True)
class Header:
    """Facts by their names (of a list, its length stands in the place of its items), and the tensors."""

    facts: dict[str, Any]
    tensors: dict[str, Stored]


def read(file: Path) -> Header:
    """The header of a file, or of all parts of one that was split."""
    found = _read(file)
    parts = found.facts.get("split.count", 1)
    return _joined(file, parts) if isinstance(parts, int) and parts > 1 else found


def _read(file: Path) -> Header:
    with file.open("rb", buffering=1 << 20) as stream:
        return _Reader(stream, os.fstat(stream.fileno()).st_size).header()


def of_start(raw: bytes, size: int) -> Header:
    """The header of a file of `size` bytes of which only the start is at hand; raises `Cut` where that is too short."""
    found = _Reader(BytesIO(raw), size).header()
    parts = found.facts.get("split.count", 1)
    if isinstance(parts, int) and parts > 1:
        hint = "`archcalc memory FILE` reads all of them, where they lie in one folder"
        raise InputError(f"this is one shard of {parts}, and the others are not at hand", hint)
    return found


def _joined(file: Path, parts: int) -> Header:
    """`model-00001-of-00003.gguf` and its neighbours: the first says what the model is, each lists its own tensors."""
    match = SPLIT.fullmatch(file.name)
    if not match or int(match[3]) != parts:
        hint = "rename the shards, or download them again"
        raise InputError(f"this is one shard of {parts}; shards must be named model-00001-of-{parts:05}.gguf", hint)
    files = [file.with_name(f"{match[1]}-{number:05}-of-{parts:05}.gguf") for number in range(1, parts + 1)]
    missing = [part.name for part in files if not part.is_file()]
    if missing:
        names = ", ".join(missing[:_MOST_MISSING]) + (" …" if len(missing) > _MOST_MISSING else "")
        fact = f"of {parts} parts {names} {'is' if len(missing) == 1 else 'are'} missing"
        raise InputError(fact, f"download all {parts} into one folder")
    headers = [_read(part) for part in files]
    tensors = [item for header in headers for item in header.tensors.items()]
    return Header(headers[0].facts, each_once(tensors, _broken))


class _Reader:
    """Walks over the header; what lies beyond the end of the file raises."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream = stream
        self.size = size
        self.place = 0
        self.words = 0

    def header(self) -> Header:
        self.bytes(4)
        version = self.number("I")
        if version and version % 65_536 == 0:  # what 3 is, read from the wrong end
            hint = "convert it with llama.cpp's gguf_convert_endian.py, or take the usual little-endian file"
            raise InputError("this GGUF file is big-endian: it was made for machines such as s390x", hint)
        if version not in (2, 3):
            raise InputError(f"GGUF version {version} is not read", "versions 2 and 3 are; convert the file anew")
        tensors, facts = self.number("Q"), self.number("Q")
        if max(tensors, facts) > MANY or tensors * _TENSOR + facts * _FACT > self.left:
            raise _broken(f"it claims {tensors:,} tensors and {facts:,} facts")
        told = each_once([(self.name(), self.value(self.number("I"))) for _ in range(facts)], _broken)
        listed = [self.tensor() for _ in range(tensors)]
        found = each_once([(name, stored) for name, stored, _ in listed], _broken)
        alignment = told.get("general.alignment", 32)
        if (
            isinstance(alignment, bool)
            or not isinstance(alignment, int)
            or alignment < 1
            or alignment & (alignment - 1)
        ):
            raise _broken("general.alignment is not a power of two")
        self.check_places(listed, alignment)
        return Header(told, found)

    @property
    def left(self) -> int:
        return self.size - self.place

    def bytes(self, count: int) -> bytes:
        if count > self.left:
            raise _broken(_ENDS)
        raw = self.stream.read(count)
        if len(raw) < count:
            raise Cut(_ENDS)
        self.place += count
        return raw

    def skip(self, count: int) -> None:
        if count > self.left:
            raise _broken(_ENDS)
        self.place = self.stream.seek(count, os.SEEK_CUR)

    def number(self, code: str) -> Any:
        (found,) = struct.unpack(f"<{code}", self.bytes(struct.calcsize(f"<{code}")))
        return found

    def name(self) -> str:
        length = self.number("Q")
        if length > min(LONGEST, self.left):
            raise _broken(f"a name claims to be {length:,} bytes long")
        return str(self.bytes(length), "utf-8", "replace")

    def text(self) -> str:
        """A value in words; one that is too long to be any that is asked for is passed over."""
        length = self.number("Q")
        if length <= LONGEST:
            return str(self.bytes(length), "utf-8", "replace")
        if length > self.left:
            raise _broken(f"a text claims to be {length:,} bytes long")
        self.skip(length)
        return ""

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self.array(self.number("I"), self.number("Q"))
        if kind not in _NUMBERS:
            raise _broken(f"a fact has the unknown type {kind}")
        return self.number(_NUMBERS[kind])

    def array(self, kind: int, length: int) -> Any:
        """A short list of numbers as it is; of long ones, and of words, only how many there are."""
        if kind not in _NUMBERS and kind != _STRING:
            raise _broken("a list holds lists" if kind == _ARRAY else f"a list holds the unknown type {kind}")
        least = _WORD if kind == _STRING else struct.calcsize(f"<{_NUMBERS[kind]}")
        if length * least > self.left:
            raise _broken(f"a list claims {length:,} items")
        if kind == _STRING:
            self.skip_words(length)
        elif length <= SHORT:
            return list(struct.unpack(f"<{length}{_NUMBERS[kind]}", self.bytes(length * least)))
        else:
            self.skip(length * least)
        return length

    def skip_words(self, length: int) -> None:
        """A vocabulary has hundreds of thousands of words: only their lengths are read."""
        self.words += length
        if self.words > MANY_WORDS:
            raise _broken(f"its lists claim {self.words:,} words")
        read, unpack = self.stream.read, struct.Struct("<Q").unpack
        for _ in range(length):
            raw = read(_WORD)
            if len(raw) < _WORD:
                raise Cut(_ENDS)
            self.place += _WORD
            self.skip(unpack(raw)[0])

    def tensor(self) -> tuple[str, Stored, int]:
        name, axes = self.name(), self.number("I")
        if axes > 8:
            raise _broken(f"{name} has {axes} axes")
        shape = tuple(reversed([self.number("Q") for _ in range(axes)]))  # the fastest axis stands first in the file
        kind, offset = self.number("I"), self.number("Q")
        if kind not in types():
            hint = "it may come from a newer llama.cpp or a fork of it: take a file in another format"
            raise InputError(f"{name} is stored as GGML type {kind}, which archcalc does not know", hint)
        about = types()[kind]
        block, row = about["numbers"], shape[-1] if shape else 1
        if row % block:
            raise _broken(f"{name} has rows of {row}, which {about['name']} cannot hold: its blocks are of {block}")
        taken = prod(shape) // block * about["bytes"] + prod(shape[:-1]) * about.get("row", 0)
        if taken > self.size:
            raise _broken(f"{name} claims more bytes than the file has")
        return name, Stored(about["name"], shape, taken), offset

    def check_places(self, listed: list[tuple[str, Stored, int]], alignment: int) -> None:
        """The numbers begin at the next multiple of `alignment`; tensors lie within the file, none over another."""
        start, reached, before = -(-self.place // alignment) * alignment, 0, ""
        for name, stored, offset in sorted(listed, key=lambda one: (one[2], one[1].bytes)):
            end = start + offset + stored.bytes
            if end > self.size:
                raise _broken(f"{name} ends at byte {end:,}, the file at {self.size:,}")
            if offset < reached and stored.bytes:
                raise _broken(f"{name} begins within {before}")
            if stored.bytes:
                reached, before = offset + stored.bytes, name


class Cut(InputError):
    """What is at hand ends within the header: a file that is cut meanwhile, or too short a start of one."""

    def __init__(self, why: str) -> None:
        super().__init__(f"not a whole GGUF file: {why}", "download it again")


def _broken(why: str) -> InputError:
    return InputError(f"not a whole GGUF file: {why}", "download it again")
