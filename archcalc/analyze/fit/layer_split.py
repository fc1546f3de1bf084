"""Layers of a model among devices, as many on each as its memory holds: inference one device after the other.

    LayerSplit(capacities).memory(Memory(model)).required_bytes(sizes)

Each device holds the weights and the KV cache of its layers, the first the embedding, the last the head; a table that
both share is on both. Activations and overhead are on each as on one device alone. llama.cpp calls this `--split-mode
layer`, vLLM does it by pipeline parallelism. Bytes are those of the device that is fullest, in proportion to the first
device's memory, so that they can be compared with that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.report import MemoryReport
from archcalc.analyze.memory.simulated import Simulated
from archcalc.archs import family_module
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.run.pipeline import Stage
from archcalc.spec.sizes import Sizes

MOVES = 64  # of a layer from one device to the next, until no device is relieved by it


@dataclass(frozen=True)
class Share:
    """What one device holds."""

    capacity: int
    first: int  # layer
    last: int  # layer, not included
    required: int


@dataclass(frozen=True)
class LayerSplit:
    """Devices by what they hold, in their order."""

    capacities: tuple[int, ...]

    def memory(self, whole: Memory) -> SplitMemory:
        return SplitMemory(whole, self.capacities)

    def note(self, number: int) -> Assumption:
        text = (
            "layers are split by memory, one device after the other: each holds the weights and the KV cache of its"
            " own; activations and overhead are counted on each as on a single device"
        )
        return Assumption(Topic.PARALLELISM, text, number)


class SplitMemory:
    """The memory of a model whose layers are split. The bounds are those that relieve the fullest device."""

    def __init__(self, whole: Memory, capacities: Sequence[int]) -> None:
        self.whole, self.capacities = whole, tuple(capacities)
        self.run = whole.run
        self._stages: dict[tuple[int, int], Memory] = {}
        self._known: dict[tuple[int, int, Sizes], int] = {}
        self._on_each: dict[Sizes, int] = {}

    @cached_property
    def _module(self) -> Any:
        module = family_module(self.whole.model.spec.family)
        if not hasattr(module, "between"):
            fact = f"archcalc does not split the layers of a {self.whole.model.spec.family} model"
            raise InputError(fact, "name one device", field="--gpu")
        return module

    @property
    def layers(self) -> int:
        return int(self._module.layers(self.whole.model.resolved))

    def peak_bytes(self, sizes: Sizes) -> int:
        """Of the fullest device, as if it were as large as the first."""
        shares = self.shares(sizes)
        return max(ceil(one.required * self.capacities[0] / one.capacity) for one in shares)

    required_bytes = peak_bytes

    def check(self, sizes: Sizes) -> None:
        """Refuse what cannot be split so."""
        self.whole.check(sizes)
        self._bounds(sizes)

    @property
    def least_bytes(self) -> int:
        """Nothing is known before layers are dealt out."""
        return 0

    def report(self, sizes: Sizes) -> MemoryReport:
        """Of the model in one piece: what all devices hold together."""
        return self.whole.report(sizes)

    def simulated(self, sizes: Sizes) -> Simulated:
        return self.whole.simulated(sizes)

    def shares(self, sizes: Sizes) -> list[Share]:
        """What each device holds."""
        bounds = self._bounds(sizes)
        ends = zip(self.capacities, bounds, bounds[1:], strict=False)
        return [Share(capacity, first, last, self._needed(first, last, sizes)) for capacity, first, last in ends]

    def _bounds(self, sizes: Sizes) -> list[int]:
        """By memory, then moved layer by layer while that relieves the fullest device."""
        if self.layers < len(self.capacities):
            fact = f"the model has {self.layers} layers, fewer than the {len(self.capacities)} devices"
            raise InputError(fact, "name fewer devices", field="--gpu")
        total, so_far, bounds = sum(self.capacities), 0, [0]
        for place, capacity in enumerate(self.capacities):
            so_far += capacity
            left = len(self.capacities) - place - 1  # devices that must have a layer each
            bounds.append(min(max(round(self.layers * so_far / total), bounds[-1] + 1), self.layers - left))
        for _ in range(MOVES):
            better = min(self._relieving(bounds, sizes), key=lambda one: self._fullest(one, sizes), default=bounds)
            if self._fullest(better, sizes) >= self._fullest(bounds, sizes):
                break
            bounds = better
        return bounds

    def _relieving(self, bounds: list[int], sizes: Sizes) -> Iterator[list[int]]:
        """The fullest device's first layer on the one before it, or its last on the one behind."""
        filled = self._filled(bounds, sizes)
        fullest = filled.index(max(filled))
        for place, step in ((fullest, 1), (fullest + 1, -1)):
            found = [*bounds[:place], bounds[place] + step, *bounds[place + 1 :]]
            if 0 < place < len(bounds) - 1 and found[place - 1] < found[place] < found[place + 1]:
                yield found

    def _fullest(self, bounds: list[int], sizes: Sizes) -> float:
        return max(self._filled(bounds, sizes))

    def _filled(self, bounds: list[int], sizes: Sizes) -> list[float]:
        """The share of each device that is needed."""
        ends = zip(self.capacities, bounds, bounds[1:], strict=False)
        return [self._needed(first, last, sizes) / capacity for capacity, first, last in ends]

    def _needed(self, first: int, last: int, sizes: Sizes) -> int:
        if (first, last, sizes) not in self._known:
            stage = self._stage(first, last)
            held = stage.parameters.weights + _cache(stage, sizes)
            self._known[first, last, sizes] = held + self._kept(sizes)
        return self._known[first, last, sizes]

    def _kept(self, sizes: Sizes) -> int:
        """Activations and overhead."""
        if sizes not in self._on_each:
            whole = self.whole
            held = whole.parameters.weights + _cache(whole, sizes)
            self._on_each[sizes] = whole.peak_bytes(sizes) - held
        return self._on_each[sizes]

    def _stage(self, first: int, last: int) -> Memory:
        if (first, last) not in self._stages:
            whole, number = self.whole, 0 if first == 0 else 1 + (last == self.layers)
            resolved = self._module.between(whole.model.resolved, first, last)
            stage = Stage(number, 3, first, last, resolved)
            self._stages[first, last] = Memory(replace(whole.model, resolved=resolved), whole.options, stage)
        return self._stages[first, last]


def _cache(memory: Memory, sizes: Sizes) -> int:
    """The KV cache and recurrent states alone."""
    return sum(one.bytes for one in memory.cached(sizes))
