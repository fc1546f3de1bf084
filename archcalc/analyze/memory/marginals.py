"""What a little more takes: one more sequence, 1,000 more tokens, one more layer on the GPU; and what binds next.

Growth(memory, work, bytes).marginals

The same memory is asked for again at the larger size. Bytes are those of tensors, without what an allocator adds; of an
engine that fills its device, those of the KV cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from archcalc.analyze.memory.engine_pool import cache_bytes
from archcalc.core.errors import InputError
from archcalc.spec.sizes import Sizes
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory
    from archcalc.spec.workload import Workload

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
        said = [f"{name}: {_more(size)}" for name, size in grown.items() if size is not None]
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


def _more(size: int) -> str:
    return f"+{binary_bytes(size)}" if size else "nothing more"


@dataclass(frozen=True)
class Growth:
    """A memory, and the sequences that it was asked for; worked out if somebody looks."""

    memory: Memory
    work: Workload
    bytes: int  # of all tensors at the peak

    @cached_property
    def marginals(self) -> Marginals:
        return Marginals(
            sequence=self._added(replace(self._now, batch=self.work.batch + 1)),
            tokens=self._added(self._longer),
            layer=self._of_a_layer(),
            limits=tuple(self._limits()),
            one="sequence" if self._lengths else "sample",
            are_several=self.work.batch > 1,
        )

    @property
    def _lengths(self) -> dict[str, int]:
        """Those that a user may choose; of a decode step the context, which is the last of them."""
        longest = self.memory.model.resolved.lengths
        found = {name: size for name, size in self.work.lengths.items() if not longest[name].fixed}
        if self.work.decodes:
            found.popitem()
            found["context"] = self.work.context
        return found

    @cached_property
    def _now(self) -> Sizes:
        return Sizes(batch=self.work.batch, **self._lengths)

    @property
    def _longer(self) -> Sizes | None:
        """Every sequence by so many tokens; of a decode step what is cached."""
        names = ["context"] if self.work.decodes else [*self._lengths]
        return replace(self._now, **{name: self._lengths[name] + TOKENS for name in names}) if names else None

    def _added(self, sizes: Sizes | None) -> int | None:
        """None where the model or the options do not allow the size: a table of positions ends."""
        if sizes is None:
            return None
        try:
            if self._is_pool:
                return cache_bytes(self.memory, sizes) - cache_bytes(self.memory, self._now)
            return self.memory.peak_bytes(sizes) - self.bytes
        except InputError:
            return None

    @cached_property
    def _is_pool(self) -> bool:
        return self.memory.run.engine.fills_device and bool(self.memory.cached(self._now))

    def _of_a_layer(self) -> int | None:
        """Of layers that are dealt out, one of those that are in host RAM."""
        memory, number = self.memory, self.memory.options.ngl
        if number is None or not memory.offloading.residence.first_on_gpu:
            return None
        more = memory.another(memory.model, memory.options.changed(ngl=number + 1), memory.run.stage)
        return more.peak_bytes(self._now) - self.bytes

    def _limits(self) -> Iterator[Limit]:
        """Those that are known without a device: the positions that a model has."""
        free = [one for one in self.memory.model.resolved.lengths.values() if not one.fixed]
        pairs = [(now, one.length, one.hard) for now, one in zip(self._lengths.values(), free, strict=True)]
        ends = [most - (hard and self.work.decodes) for now, most, hard in pairs if most and most >= now]
        if ends:
            yield Limit("context", "positions", min(ends))
