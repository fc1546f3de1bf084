"""What a little more takes: one more sequence, 1,000 more tokens, one more layer on the GPU; and the next limit.

marginals(…).line()      of archcalc.analyze.memory.growth, which asks for the larger sizes
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from archcalc.spec.units import binary_bytes

TOKENS = 1000  # by which every sequence grows


class Limit(NamedTuple):
    """What ends the growth of a size (`batch` or `context`): `memory`, the model's `positions`, or the `requests` that
    an engine computes at once."""

    size: str
    limit: str
    largest: int  # that is within it


class OneImage(NamedTuple):
    """More in every sequence: positions, and bytes of one GPU."""

    positions: int
    bytes: int

    def of_pool(self) -> str:
        """`108.0 MiB for an image of 768 positions`: keys and values alone, where an engine has a pool of them."""
        return f"{binary_bytes(self.bytes)} for an image of {self.positions:,} positions"


@dataclass(frozen=True)
class Marginals:
    """Bytes of one GPU; None where there is no such size, or no more of it."""

    sequence: int | None
    tokens: int | None
    layer: int | None
    limits: tuple[Limit, ...]
    one: str = "sequence"  # or sample
    are_several: bool = False  # whether tokens are those of several sequences
    image: OneImage | None = None

    def line(self) -> str:
        """`one more sequence: +322.0 MiB · 1,000 more tokens: +128.0 MiB · next limit: memory, at batch 17`."""
        longer = f"{TOKENS:,} more tokens{' each' if self.are_several else ''}"
        grown = {f"one more {self.one}": self.sequence, longer: self.tokens}
        if self.image:
            grown[f"one more image of {self.image.positions:,} positions"] = self.image.bytes
        grown["one more layer on the GPU"] = self.layer
        more = {name: f"+{binary_bytes(size)}" if size else "nothing more" for name, size in grown.items()}
        said = [f"{name}: {more[name]}" for name, size in grown.items() if size is not None]
        ends: list[str] = []
        for size, limit, largest in self.limits:
            at = {"context": "a context of"}.get(size, size)
            words = {
                "positions": f"the model's longest context, {largest:,}",
                "requests": f"the engine's {largest:,} requests at once",
                "memory": f"memory, at {at} {largest + 1:,}",
            }
            ends.append(words[limit])
        binds = [f"next limit: {'; '.join(ends)}"] if ends else []
        return " · ".join((*said, *binds))

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "sequence_bytes": self.sequence,
            "tokens_1000_bytes": self.tokens,
            "layer_bytes": self.layer,
            "image_positions": self.image and self.image.positions,
            "image_bytes": self.image and self.image.bytes,
            "binds_next": [one._asdict() for one in self.limits] or None,
        }
