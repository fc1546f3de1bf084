"""The memory of each layer: weights, gradients, optimizer states, activations saved for backward, and KV cache.

Every layer is counted in all its copies, on one GPU. Gradients are included, although they may not
exist at the peak of the step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from archcalc.analyze.memory.decode_cache import Cached
from archcalc.analyze.memory.outputs import INPUT, add_to_all
from archcalc.analyze.memory.states import FLAT, KINDS, SHARDED, ParameterMemory
from archcalc.core.ir import Module
from archcalc.simulate.schedule import Schedule

OF_LAYERS = (*KINDS, "activations", "logits", "kv_cache", "state")
NOTHING = dict.fromkeys(OF_LAYERS, 0)


@dataclass(frozen=True)
class Row:
    """A layer in all its copies. `repeat` is how many there are; `parts` has a number for each kind of memory."""

    path: str
    title: str
    times: int
    repeat: int
    parts: dict[str, int]
    kind: str = "module"
    outputs: int = 0  # numbers that its forward pass gives out, freed or not
    output_bytes: int = 0
    parameters: int = 0  # in number, on one GPU before ZeRO

    def __post_init__(self) -> None:
        if tuple(self.parts) != OF_LAYERS:
            raise ValueError(f"{self.path} has {', '.join(self.parts)}: a row has {', '.join(OF_LAYERS)}")

    @property
    def bytes(self) -> int:
        return sum(self.parts.values())

    @property
    def weights(self) -> int:
        return self.parts["weights"]

    @property
    def saved(self) -> int:
        """For the backward pass."""
        return self.parts["activations"] + self.parts["logits"]

    @property
    def states(self) -> int:
        return self.parts["master"] + self.parts["gradients"] + self.parts["optimizer"]

    @property
    def cache(self) -> int:
        return self.parts["kv_cache"] + self.parts["state"]

    @property
    def depth(self) -> int:
        return self.path.count(".")


Tally = dict[str, dict[str, int]]


class Numbers(NamedTuple):
    """By path: what layers give out, the bytes of each number of it, and their parameters."""

    outputs: Counter[str]
    width: int
    parameters: Counter[str]

    def of(self, path: str) -> tuple[int, int, int]:
        return self.outputs[path], self.outputs[path] * self.width, self.parameters[path]


def rows(
    root: Module,
    parameters: ParameterMemory,
    step: Schedule,
    cache: Iterable[Cached],
    outputs: Counter[str],
    width: int,
) -> tuple[Row, ...]:
    """A module before what it holds; last what ZeRO's flat buffers add, or vLLM's groups of layers. `outputs` are the
    numbers that layers give out, by path, of `width` bytes each."""
    tally: Tally = {}
    counts: Counter[str] = Counter()
    _add_states(tally, parameters)
    for held in parameters.held:
        add_to_all(counts, held.param.owner.path or held.param.name, held.copies * held.elements)
    for one in step.saved():
        _add(tally, one.module.path, "logits" if one.cell in step.logits else "activations", one.bytes)
    padding = dict.fromkeys(OF_LAYERS, 0)
    for entry in cache:
        part = "kv_cache" if entry.grows else "state"
        if entry.is_padding:
            padding[part] += entry.bytes
        else:
            _add(tally, entry.module.path, part, entry.bytes)
    found = list(_rows(root, tally, Numbers(outputs, width, counts), 1))
    if found and parameters.plan.zero in FLAT:
        found.append(_rounding(found[0], parameters))
    if any(padding.values()):  # groups of equally many layers have places that no layer takes
        found.append(Row("padding", "padding layers", 1, 1, padding, kind="padding"))
    return tuple(found)


def _add(tally: Tally, path: str, part: str, number: int) -> None:
    """To a layer, and to all that hold it."""
    while True:
        parts = tally.setdefault(path, dict.fromkeys(OF_LAYERS, 0))
        parts[part] += number
        if not path:
            return
        path = path.rpartition(".")[0]


def _add_states(tally: Tally, parameters: ParameterMemory) -> None:
    plan = parameters.plan
    shared = SHARDED[plan.zero] if plan.zero in FLAT else ()
    for one in parameters.held:
        for kind in KINDS:
            number = getattr(one, kind)
            path = one.param.owner.path or one.param.name  # one of the model itself has a row of its own
            _add(tally, path, kind, number // plan.shards_of(one.param) if kind in shared else number)


def _rows(module: Module, tally: Tally, counted: Numbers, above: int) -> Iterator[Row]:
    parts, found = tally.get(module.path, NOTHING), counted.of(module.path)
    if module.is_section or not (any(parts.values()) or any(found)):
        return
    repeat = above * int(module.repeat)
    yield Row(module.path or "model", module.words.title, int(module.repeat), repeat, parts, "module", *found)
    if not module.path:
        named = (name for name in module.params if name in tally)
        yield from (Row(name, name, 1, 1, tally[name], "module", *counted.of(name)) for name in named)
        yield from [Row(INPUT, INPUT, 1, 1, NOTHING, INPUT, *counted.of(INPUT))] if counted.outputs[INPUT] else []
    for child in module.children:
        yield from _rows(child, tally, counted, repeat)


def _rounding(model: Row, parameters: ParameterMemory) -> Row:
    """ZeRO-1 and -2 cut one flat buffer of everything: what does not come out even belongs to no layer."""
    zeros = dict.fromkeys(OF_LAYERS, 0)
    rest = {kind: parameters.states[kind] - model.parts[kind] for kind in SHARDED[parameters.plan.zero]}
    return Row("padding", "rounding and padding", 1, 1, zeros | rest, kind="padding")
