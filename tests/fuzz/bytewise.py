"""Mutations of bytes: flipped, cut, doubled, or with something put in that no format expects there."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

from fuzz.values import WORDS

SNIPPETS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", b"\n---\n", b"\t", b"\r\n", b"{", b"}", b"[" * 2000, b"{'a':" * 500,
    b"NaN", b"-Infinity", b"1e999", b"&a [*a]", b"*b", b"!!int ", b"<<: ", b": ", b"GGUF", b'"', b"9" * 400, b"\x1b[2J",
    *(word.encode("utf-8", "surrogatepass") for word in WORDS),
)  # fmt: skip
SIZES = (0, 1, 7, 8, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**63 - 1, 2**63, 2**64 - 1)


def mutated(data: bytes, random: Random) -> bytes:
    """The data with one to four mutations."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(CHANGES)(data, random, random.randrange(len(data) + 1))
    return data


def _flip(data: bytes, random: Random, at: int) -> bytes:
    return data[:at] + bytes(byte ^ 1 << random.randrange(8) for byte in data[at : at + 1]) + data[at + 1 :]


def _set(data: bytes, random: Random, at: int) -> bytes:
    return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, random: Random, at: int) -> bytes:
    return data[:at]


def _lose(data: bytes, random: Random, at: int) -> bytes:
    return data[:at] + data[at + random.choice((1, 1, 4, 8, 64)) :]


def _insert(data: bytes, random: Random, at: int) -> bytes:
    return data[:at] + random.choice(SNIPPETS) + data[at:]


def _number(data: bytes, random: Random, at: int) -> bytes:
    """Where a size may stand, another."""
    at -= at % 4
    written = struct.pack("<Q", random.choice(SIZES)) if random.random() < 0.6 else struct.pack("<I", SIZES[5])
    return data[:at] + written + data[at + len(written) :]


def _double(data: bytes, random: Random, at: int) -> bytes:
    again = data[at : at + random.choice((1, 8, 40, 400))]
    return data[:at] + again + data[at:]


def _line_twice(data: bytes, random: Random, at: int) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    lines.insert(random.randrange(len(lines)), random.choice(lines))
    return b"".join(lines)


CHANGES: tuple[Callable[[bytes, Random, int], bytes], ...] = (
    _flip, _flip, _set, _cut, _lose, _insert, _insert, _number, _double, _line_twice,
)  # fmt: skip
