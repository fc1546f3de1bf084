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

    @property
    def bytes(self) -> int:
        return sum(self.parts.values())

    @property
    def depth(self) -> int:
        return self.path.count(".")


class Tally(NamedTuple):
    """By path: bytes of each part, what layers give out and the bytes of each number of it, and their parameters."""

    parts: dict[str, Counter[str]]
    outputs: Counter[str]
    width: int
    parameters: Counter[str]


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
    tally, plan = Tally({part: Counter() for part in OF_LAYERS}, outputs, width, Counter()), parameters.plan
    shared = SHARDED[plan.zero] if plan.zero in FLAT else ()
    for held in parameters.held:
        path = held.param.owner.path or held.param.name  # one of the model itself has a row of its own
        add_to_all(tally.parameters, path, held.copies * held.elements)
        for kind in KINDS:
            shards = plan.shards_of(held.param) if kind in shared else 1
            add_to_all(tally.parts[kind], path, getattr(held, kind) // shards)
    for one in step.saved():
        add_to_all(tally.parts["logits" if one.cell in step.logits else "activations"], one.module.path, one.bytes)
    padding = dict(NOTHING)
    for entry in cache:
        part = "kv_cache" if entry.grows else "state"
        if entry.is_padding:
            padding[part] += entry.bytes
        else:
            add_to_all(tally.parts[part], entry.module.path, entry.bytes)
    found = list(_rows(root, tally))
    if found and plan.zero in FLAT:
        # one flat buffer of everything is cut: what does not come out even belongs to no layer
        rest = {kind: parameters.states[kind] - found[0].parts[kind] for kind in shared}
        found.append(Row("padding", "rounding and padding", 1, 1, NOTHING | rest, kind="padding"))
    if any(padding.values()):  # groups of equally many layers have places that no layer takes
        found.append(Row("padding", "padding layers", 1, 1, padding, kind="padding"))
    return tuple(found)


def _rows(root: Module, tally: Tally) -> Iterator[Row]:
    """Of each module that has something; the model's own parameters, and what enters it, stand behind its row."""
    waiting = [(root, 1)]
    while waiting:
        module, above = waiting.pop()
        if module.is_section:
            continue
        repeat = above * int(module.repeat)
        places = [(module.path, module.words.title, int(module.repeat), repeat, "module")]
        if not module.path:
            places += [(name, name, 1, 1, "module") for name in module.params]
            places += [(INPUT, INPUT, 1, 1, INPUT)] if tally.outputs[INPUT] else []
        for path, title, times, number, kind in places:
            parts, outputs = {part: found[path] for part, found in tally.parts.items()}, tally.outputs[path]
            given_out = outputs, outputs * tally.width, tally.parameters[path]
            if any((*parts.values(), *given_out)):
                yield Row(path or "model", title, times, number, parts, kind, *given_out)
        waiting.extend((child, repeat) for child in reversed(module.children))
