"""How an engine treats the encoders of a model: how many inputs of each kind a request may have, and the step in which
they are tried before its KV cache gets a size.

    limits('{"image": 4, "video": 0}', "--limit-mm-per-prompt"), limits("image=4,video=0", …)     as vLLM reads it
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from archcalc.core.errors import InputError
from archcalc.spec.option_checks import SHOWN, number

KINDS = ("image", "video", "audio")
UNLIMITED = 999  # get_limit_per_prompt, vllm/config/multimodal.py
COUNT = "count"  # of a kind whose largest size is limited as well


def limits(value: Any, name: str) -> tuple[tuple[str, int], ...]:
    """Pairs of a kind and a number, as JSON or as people write it."""
    found = {}
    for kind, most in _pairs(value, name).items():
        if kind not in KINDS:
            raise InputError(
                f"no kind of input is called {kind[:SHOWN]}", f"choose from: {', '.join(KINDS)}", field=name
            )
        if isinstance(most, Mapping) and set(most) != {COUNT}:
            fact = f"the largest size of {kind} is not read here"
            raise InputError(fact, f"write the number alone: {kind}={most.get(COUNT, 1)}", field=name)
        found[kind] = number(most[COUNT] if isinstance(most, Mapping) else most, name)
    return tuple(sorted(found.items()))


def _pairs(value: Any, name: str) -> dict[str, Any]:
    try:
        if isinstance(value, str) and not value.strip().startswith("{"):
            value = [each.split("=", 1) for each in value.split(",")]
        found = dict(json.loads(value) if isinstance(value, str) else value)
    except (TypeError, ValueError):
        raise _refused(value, name) from None
    if not found:
        raise _refused(value, name)
    return {str(kind).strip(): most for kind, most in found.items()}


def _refused(value: Any, name: str) -> InputError:
    fact = f"expected numbers by kind, found {str(value)[:SHOWN] if isinstance(value, str) else type(value).__name__}"
    return InputError(fact, "write it as image=4,video=0", field=name)


@dataclass(frozen=True)
class Step:
    """A step of an engine, of so many tokens and requests; `longest` is what a request may have, `images_of_video` how
    many of the largest images the largest video is."""

    tokens: int
    requests: int
    longest: int
    images_of_video: int = 1
    limits: Mapping[str, int] = field(default_factory=dict)

    def most(self, kind: str) -> int:
        """That one request may have."""
        return self.limits.get(kind, UNLIMITED)

    def items(self, kind: str, positions: int) -> int:
        """How many items of so many positions are tried: as many as a step holds, be it one."""
        of_requests = self.requests * max(1, min(self.most(kind), self.longest // positions))
        return max(1, min(self.tokens // positions, of_requests))


class Tried(NamedTuple):
    """What encoders are tried on: so many items, of which each takes so many positions."""

    kind: str
    number: int
    positions: int

    def __str__(self) -> str:
        several = f"{self.number:,} {self.kind}s" if self.number > 1 else f"1 {self.kind}"
        each = " each" if self.number > 1 else ""
        return f"{several} of the largest size, {self.positions:,} positions{each}"
