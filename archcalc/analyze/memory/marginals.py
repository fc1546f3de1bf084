"""What a little more takes: one more sequence, 1,000 more tokens, one more layer on the GPU; and what binds next.

    marginals(work, longest, now, at, layer).line()

Memory is asked for again at the larger size. Bytes are those of tensors, without what an allocator adds; of an engine
that fills its device, those of the KV cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from archcalc.core.errors import InputError
from archcalc.spec.sizes import Sizes
from archcalc.spec.units import binary_bytes
from archcalc.spec.workload import Lengths, Workload

TOKENS = 1000


class Limit(NamedTuple):
    """What ends the growth of a size (`batch` or `context`): `memory`, the model's `positions`, or the `requests` that
    an engine computes at once."""

    size: str
    limit: str
    largest: int  # that is within it

    def words(self) -> str:
        if self.limit == "positions":
            return f"the model's longest context, {self.largest:,}"
        if self.limit == "requests":
            return f"the engine's {self.largest:,} requests at once"
        at = "a context of" if self.size == "context" else self.size
        return f"memory, at {at} {self.largest + 1:,}"


@dataclass(frozen=True)
class Marginals:
    """Bytes of one GPU; None where there is no such size, or no more of it."""

    sequence: int | None
    tokens: int | None
    layer: int | None
    limits: tuple[Limit, ...]
    one: str = "sequence"  # or sample
    are_several: bool = False  # whether tokens are those of several sequences

    def line(self) -> str:
        """`one more sequence: +322.0 MiB · 1,000 more tokens: +128.0 MiB · binds next: memory, at batch 17`."""
        longer = f"{TOKENS:,} more tokens{' each' if self.are_several else ''}"
        grown = {f"one more {self.one}": self.sequence, longer: self.tokens}
        grown["one more layer on the GPU"] = self.layer
        more = {name: f"+{binary_bytes(size)}" if size else "nothing more" for name, size in grown.items()}
        said = [f"{name}: {more[name]}" for name, size in grown.items() if size is not None]
        binds = [f"binds next: {'; '.join(one.words() for one in self.limits)}"] if self.limits else []
        return " · ".join((*said, *binds))

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "sequence_bytes": self.sequence,
            "tokens_1000_bytes": self.tokens,
            "layer_bytes": self.layer,
            "binds_next": [one._asdict() for one in self.limits] or None,
        }


def recorded(found: Marginals | None) -> dict[str, Any] | None:
    return found.record() if found else None


def marginals(
    work: Workload, longest: Lengths, now: int, at: Callable[[Sizes], int], layer: int | None = None
) -> Marginals:
    """`at` has the bytes at any sizes, and `now` is what they are at the sizes of `work`; `layer` is what one more
    layer on the GPU takes, where layers are dealt out."""
    sizes = chosen_sizes(work, longest)
    names = [name for name in longest if not longest[name].fixed]
    grown = ["context"] if work.decodes else names
    longer = replace(sizes, **{name: getattr(sizes, name) + TOKENS for name in grown})
    return Marginals(
        sequence=_added(replace(sizes, batch=work.batch + 1), now, at),
        tokens=_added(longer, now, at) if grown else None,
        layer=layer,
        limits=_positions(work, longest),
        one="sequence" if names else "sample",
        are_several=work.batch > 1,
    )


def chosen_sizes(work: Workload, longest: Lengths) -> Sizes:
    """The sizes of a workload, as far as a user may choose them; of a decode step the context, for the last length."""
    lengths = {name: size for name, size in work.lengths.items() if not longest[name].fixed}
    if work.decodes:
        lengths.popitem()
        lengths["context"] = work.context
    return Sizes(batch=work.batch, **lengths)


def _added(sizes: Sizes, now: int, at: Callable[[Sizes], int]) -> int | None:
    """None where the model or the options do not allow the sizes: a table of positions ends."""
    try:
        return at(sizes) - now
    except InputError:
        return None


def _positions(work: Workload, longest: Lengths) -> tuple[Limit, ...]:
    """What is known without a device to end the growth: the positions that a model has."""
    now = dict(work.lengths)
    if work.decodes:
        now[next(reversed(now))] = work.context
    ends = [
        limit.length - (limit.hard and work.decodes)
        for name, limit in longest.items()
        if limit.length and not limit.fixed and limit.length >= now[name]
    ]
    return (Limit("context", "positions", min(ends)),) if ends else ()
