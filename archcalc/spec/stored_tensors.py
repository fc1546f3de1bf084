"""A tensor in a weights file: its number format, and its notation in a spec. No name may stand in a header twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from archcalc.core.errors import InputError


@dataclass(frozen=True)
class Stored:
    """One tensor: its number format, shape and size in bytes."""

    format: str
    shape: tuple[int, ...]
    bytes: int
    weights: int | None = None  # how many a packed tensor stands for, where its file says so

    @property
    def elements(self) -> int:
        return prod(self.shape)

    def written(self) -> str:
        """As the spec has it."""
        usual = BITS.get(self.format)
        text = f"{self.format} [{', '.join(map(str, self.shape))}]"
        text = text if usual and self.bytes == bytes_of(self.shape, usual) else f"{text} {self.bytes} bytes"
        return text if self.weights is None else f"{text} of {self.weights} weights"


LARGEST = 2**63  # numbers or bytes of a tensor: offsets in files are 64 bits wide
BITS = {
    **dict.fromkeys(("fp8", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz", "fp8_e8m0", "bool"), 8),
    **dict.fromkeys(("bf16", "fp16"), 16),
    **{f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "fp4": 4,
    **dict.fromkeys(("fp6_e2m3", "fp6_e3m2"), 6),
    "fp32": 32,
    "fp64": 64,
    "complex64": 64,
}


def bytes_of(shape: tuple[int, ...], bits: int) -> int:
    return -(-prod(shape) * bits // 8)


_WRITTEN = re.compile(
    r"([A-Za-z0-9_]+) \[((?:[0-9]{1,18}(?:, ?[0-9]{1,18}){0,63})?)\]"
    r"(?: ([0-9]{1,18}) bytes)?(?: of ([0-9]{1,18}) weights)?"
)


@lru_cache(4096)  # most tensors of a file are written alike
def read(text: str) -> Stored | None:
    """Parse a tensor's notation; None if the text is no tensor."""
    match = _WRITTEN.fullmatch(text)
    if not match or not (match[3] or match[1] in BITS):
        return None
    shape = tuple(int(size) for size in match[2].replace(" ", "").split(",") if size)
    held = int(match[3]) if match[3] else bytes_of(shape, BITS[match[1]])
    return Stored(match[1], shape, held, int(match[4]) if match[4] else None)


def each_once(pairs: list[tuple[str, Any]], broken: Callable[[str], InputError]) -> dict[str, Any]:
    """The pairs by name. A name that stands twice would hide one of the two."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise broken(f"{twice} stands in its header twice")
    return found
