"""The timeline of a deployment's step: what its ops and its tensors are called, and their shapes on one GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from archcalc.analyze.memory.deployment import Deployment
from archcalc.analyze.memory.parts import WHOLE
from archcalc.analyze.memory.peak import played
from archcalc.analyze.memory.timeline import Alive, OpInstant, Timeline
from archcalc.core.ir import Module, Op, Param, Region, Tensor, walk
from archcalc.core.op_pictures import PICTURES
from archcalc.core.precision import BYTES
from archcalc.run.resolved import Run
from archcalc.simulate.events import Block
from archcalc.simulate.schedule import Schedule
from archcalc.simulate.trace import Life, traced_step
from archcalc.spec.sizes import Sizes

DTYPES = {"index": "int64", "int32": "int32", "mask": "bool", "seed": "int64"}  # by a tensor's role
SHAPED = ("", "copy of", "gradient of")  # uses of memory that have the tensor's shape
OF_WEIGHTS, OF_LOGITS = "gradients of the weights", "gradients of the logits"
NO_SHAPE: tuple[tuple[int, ...], str] = ((), "")


def timeline(deployment: Deployment, sizes: Sizes) -> Timeline:
    """Of the step that the peak is that of."""
    step = played(deployment, sizes).step
    trace = traced_step(step.start, step.changes, step.schedule)
    words = _Words(deployment.run, _makers(step.schedule))
    ops = [
        OpInstant(one.phase, _path(one.module, one.phase), _word(one.op), one.layer, one.bytes)
        for one in trace.instants
    ]
    return Timeline(trace.start, tuple(ops), tuple(trace.loops), tuple(map(words.alive, trace.lives)))


def _makers(schedule: Schedule) -> dict[Tensor, str]:
    """What tensors are called: by the layer and the op that make them, or by their own names."""
    found: dict[Tensor, str] = {}
    for module, _ in walk(schedule.root):
        found.update({tensor: f"{_path(module)}.{name}" for name, tensor in module.buffers.items()})
    for step in schedule.steps():
        for tensor, called in ((step.op.output, _word(step.op)), *_beside(step.op)):
            found.setdefault(tensor.storage, f"{_path(step.module)}: {called}")
    return found


def _beside(op: Op) -> list[tuple[Tensor, str]]:
    return [(tensor, name.replace("_", " ")) for name, tensor in op.beside.items()]


def _word(op: Op | None) -> str:
    if op is None:
        return ""
    return (op.title or op.name or PICTURES[op.kind].word or op.kind).replace("_", " ")


def _path(module: Module, phase: str = "") -> str:
    """The layer, or what a whole step does."""
    if module.region == Region.LOSS:
        return "loss"
    return module.path or WHOLE.get(phase, "model")


def _place(module: Module) -> Module:
    """Its block, or the part of the model that it is in."""
    outer = (one for one in module.ancestry if one.region == Region.BLOCK or (one.parent and not one.parent.parent))
    return next(outer, module)


@dataclass(frozen=True)
class _Words:
    """What is said of a tensor."""

    run: Run
    made: Mapping[Tensor, str]  # by which layer and op

    def alive(self, life: Life) -> Alive:
        block, tensor = life.block, life.block.what if isinstance(life.block.what, Tensor) else life.block.of
        shape, dtype = self._shape(tensor, block) if tensor and block.use in SHAPED else NO_SHAPE
        called = self._name(tensor, life) if tensor else ""
        name = f"{block.use} {called}".strip() or f"buffer of {_path(life.module)}"
        kind, place = self._kind(life, tensor)
        return Alive(name, kind, place, block.part, shape, dtype, block.bytes, life.born, life.dies, life.copies)

    def _name(self, tensor: Tensor, life: Life) -> str:
        stored = tensor.storage
        if isinstance(stored, Param):
            return ".".join(filter(None, (stored.owner.path, stored.name)))
        return self.made.get(stored) or f"input of {_path(life.module)}"

    def _shape(self, tensor: Tensor, block: Block) -> tuple[tuple[int, ...], str]:
        """By axes, as PyTorch shows it; nothing where it is stored in another form, as shards are."""
        sizes = iter(self.run.plan.sizes(tensor))
        shape = tuple(prod(next(sizes) for _ in axis) for axis in tensor.axes)
        width, rest = divmod(block.bytes, max(prod(shape), 1))
        usual = {size: name for name, size in reversed(BYTES.items())} | {
            BYTES[self.run.activations]: self.run.activations
        }
        dtype = DTYPES.get(tensor.role) or usual.get(width, "")
        return (shape, dtype) if dtype and not rest else NO_SHAPE

    def _kind(self, life: Life, tensor: Tensor | None) -> tuple[str, str]:
        """What a sentence sums up as one, and where."""
        block, place = life.block, _path(_place(life.module), life.phase)
        is_weight = tensor is not None and isinstance(tensor.storage, Param)
        if block.part == "gradients":
            return OF_WEIGHTS, ""
        if block.part == "logits":
            return OF_LOGITS if block.use == "gradient of" else "logits", ""
        if tensor is None:
            return (block.use, "") if block.use else ("buffers", place)
        if is_weight:
            return OF_WEIGHTS if block.use == "gradient of" else "copies of weights", ""
        if block.use == "gradient of":
            return "gradients of activations", place
        return "activations", place
