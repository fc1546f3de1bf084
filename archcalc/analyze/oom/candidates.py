"""Which tensors of a run are as large as an allocation that failed.

A size cannot tell what it was: several tensors may have it. The likeliest are first: those of the phase that a
traceback names, then those before which about as much is allocated as the log says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from archcalc.analyze.fit.startup import COMPUTED
from archcalc.analyze.memory.peak import Peak, played
from archcalc.analyze.memory.states import Held
from archcalc.analyze.oom.reading import Log
from archcalc.core.ir import Param, Tensor
from archcalc.core.precision import BYTES
from archcalc.core.roles import Role
from archcalc.simulate.allocator import WHOLE_STEP, segment
from archcalc.simulate.events import Change, Event
from archcalc.simulate.nodes import Step

WORDS = {"contract": "matrix product", "append": "key cache", "append_values": "value cache"}
BUFFERS = {
    "the weights": ("weights",),
    "the KV cache": ("kv_cache",),
    "the recurrent state": ("state",),
    "the compute buffer": COMPUTED,
}
JOINED = (  # matrices that serving engines load as one: QKVParallelLinear, MergedColumnParallelLinear, w13 of fused_moe
    (Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V),
    (Role.FFN_GATE, Role.FFN_UP),
    (Role.SHARED_GATE, Role.SHARED_UP),
    (Role.EXPERT_GATE, Role.EXPERT_UP),
)
WIDTHS = (2, 4)  # bytes of an element, of activations and their gradients
ROUND, CHANCE = 128, 8  # tokens of which batch × length is a multiple, and how much rarer these are than chance has it
NEAR = 0.05  # of a compute buffer, which is an estimate


@dataclass(frozen=True)
class Candidate:
    """A tensor, or all of a kind that one allocation holds; `low` and `high` are the least and the most that is
    allocated before it, of all its times."""

    what: str
    path: str
    phase: str
    bytes: int
    tensor: Tensor | None = field(default=None, repr=False, compare=False)
    elements: int = 0  # on one GPU
    times: int = field(default=1, compare=False)
    low: int = field(default=0, compare=False)
    high: int = field(default=0, compare=False)
    is_logits: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape if self.tensor else ()

    @property
    def sizes(self) -> str:
        """`batch 4 × seq 2,048 × vocab 128,256`."""
        if not self.tensor:
            return ""
        names = ("·".join(dim.name for dim in axis) for axis in self.tensor.axes)
        return " × ".join(f"{name} {size:,}" for name, size in zip(names, self.shape, strict=True))

    @property
    def dtype(self) -> str:
        """By the bytes of an element; nothing where it is packed."""
        each = self.bytes / max(self.elements, 1)
        return next((name for name, size in BYTES.items() if size == round(each, 2)), "")

    def before(self, allocated: int) -> int:
        """What is allocated before it, at the time that is nearest to so many bytes."""
        return min(max(allocated, self.low), self.high)

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        own = {"what": self.what, "path": self.path or "model", "phase": self.phase, "bytes": self.bytes}
        beside = {"shape": list(self.shape), "dims": self.sizes, "dtype": self.dtype, "times": self.times}
        return {**own, **beside, "allocated_before": [self.low, self.high]}


def candidates(peak: Peak, log: Log) -> list[Candidate]:
    """The likeliest first; none where the log names no allocation."""
    tried = log.figures.get("tried")
    if tried is None:
        return []
    if log.buffers:
        return [one for one in _buffers(peak) if abs(one.bytes - tried.value) <= max(tried.half, NEAR * one.bytes)]
    alike: dict[Candidate, list[Candidate]] = {}
    for one in (*_events(peak), *_states(peak)):
        sizes = (one.bytes, segment(one.bytes))  # as it is, or as PyTorch's allocator asks a device for it
        if any(abs(size - tried.value) <= tried.half for size in sizes):
            alike.setdefault(one, []).append(one)
    found, allocated = map(_joined, alike.values()), log.get("allocated")
    return sorted(found, key=lambda one: (one.phase != log.phase, abs(one.before(allocated) - allocated), -one.bytes))


def as_many_tokens(peak: Peak, log: Log) -> list[str]:
    """With how many tokens the logits would be as large (`8,192 tokens in fp32`): round numbers, of which the size that
    was tried could not have any by chance."""
    tried = log.figures.get("tried")
    if tried is None or log.buffers or log.phase == "step":
        return []
    found, logits = dict[str, None](), [one for one in _events(peak) if one.is_logits and one.tensor]
    most = max((one.elements for one in logits), default=0)
    for one in logits:
        each, step = one.bytes / prod(one.shape[:-1]), ROUND
        least, largest = (tried.value - tried.half - WHOLE_STEP) / each, (tried.value + tried.half) / each
        while step < CHANCE * (largest - least):
            step *= 2
        number = int(largest) // step * step
        if one.elements == most and number > least:
            found[f"{number:,} tokens in {one.dtype}"] = None
    return list(found)


def _joined(alike: list[Candidate]) -> Candidate:
    """One for all that differ in nothing but their times."""
    low, high = min(one.low for one in alike), max(one.high for one in alike)
    return replace(alike[0], times=sum(one.times for one in alike), low=low, high=high)


def _events(peak: Peak) -> Iterator[Candidate]:
    """Every allocation of a step."""
    step, size = played(peak.deployment, peak.sizes).step, peak.deployment.run.plan.size
    ops = {one.number: one for one in step.schedule.steps()}
    start = sum(each for part, each in step.start.items() if part != "overhead")
    for change, times, low, high in _levels(step.changes, start)[0]:
        op = ops.get(change.number)
        tensor = _tensor(change, op, size)
        where, elements = (change.module.path, change.phase, change.bytes), size(tensor) if tensor else 0
        yield Candidate(_what(change, op), *where, tensor, elements, times, low, high, change.part == "logits")


def _tensor(change: Change, step: Step | None, size: Callable[[Tensor], int]) -> Tensor | None:
    """What is allocated, or a tensor of the op that is as large."""
    if isinstance(change.block.what, Tensor):
        return change.block.what
    if step is None:
        return None
    known = (*step.op.inputs, step.op.output, *step.op.beside.values())
    return next((one for one in known if change.bytes in [size(one) * width for width in WIDTHS]), None)


def _what(change: Change, step: Step | None) -> str:
    """The output of an op, a gradient, or what the op needs besides."""
    op = step.op.kind if step else "buffer"
    kind = WORDS.get(op, op.replace("_", " "))
    if isinstance(change.block.what, Param):
        return "gradient of the weight"
    if change.phase == "backward" and not isinstance(change.block.what, Tensor):
        kind = f"gradient at {kind}"
    if change.part == "logits":
        kind = f"logits, {kind}"
    return kind


Allocated = tuple[Change, int, int, int]  # how many times, and what is allocated before the first and the last


def _levels(events: Iterable[Event], level: int) -> tuple[list[Allocated], int]:
    """All allocations, and what is allocated behind them: a loop grows evenly."""
    found: list[Allocated] = []
    for event in events:
        if isinstance(event, Change):
            if event.bytes > 0:
                found.append((event, 1, level, level))
            level += event.bytes
            continue
        inside, behind = _levels(event.changes, level)
        grown, more = behind - level, event.times - 1
        found += [(one, times * event.times, low, high + grown * more) for one, times, low, high in inside]
        level += grown * event.times
    return [(one, times, min(low, high), max(low, high)) for one, times, low, high in found], level


def _states(peak: Peak) -> Iterator[Candidate]:
    """Weights as they are loaded, optimizer states as the first step makes them: most optimizers keep two."""
    joins, joined = peak.deployment.run.engine.fills_device, dict[tuple[str, int], list[Held]]()
    for held in peak.deployment.parameters.held:
        path, states = held.param.owner.path, held.optimizer // held.copies // 2
        sizes = (("weight", "loading", held.weights // held.copies, 1), ("optimizer state", "step", states, 2))
        for what, phase, size, each in (*sizes, ("master weight", "loading", held.master // held.copies, 1)):
            if size:
                yield Candidate(what, path, phase, size, held.param, held.elements, each * held.copies)
        group = next((place for place, roles in enumerate(JOINED) if held.param.weight_role in roles), None)
        if joins and group is not None:
            joined.setdefault((path.rpartition(".")[0], group), []).append(held)
    for (path, _), parts in joined.items():
        names, copies = ", ".join(one.param.owner.name for one in parts), parts[0].copies
        weights, elements = (sum(getattr(one, name) for one in parts) for name in ("weights", "elements"))
        yield Candidate(f"weights of {names}", path, "loading", weights // copies, None, elements, copies)


def _buffers(peak: Peak) -> Iterator[Candidate]:
    """Of a program that allocates all tensors of a kind at once."""
    for what, parts in BUFFERS.items():
        size = sum(peak.parts[part] for part in parts)
        if size:
            yield Candidate(what, "", "loading", size)
