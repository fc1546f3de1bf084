"""Norms of a map, a vector or a sequence: batch, layer, RMS, group and instance norm.

`{norm: batch}`, `{norm: group, groups: 32}`, `{norm: layer, over: channels}`; or in a convolution's own `norm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace, parts
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Dim, Module, Param, Tensor, axes
from archcalc.core.roles import Role
from archcalc.spec.node import Node, Size, field

WORDS = ("norm",)
READS = (SEQUENCES,)
ONE_NUMBER = Assumption(
    Topic.BATCH,
    "PyTorch refuses to train a batch norm on a single number per channel; use a batch of 2 or more",
    option="--batch",
)


class NormFields(Node):
    main: ClassVar[str] = "kind"
    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "batch": frozenset({"affine", "running"}),
        "instance": frozenset({"affine"}),
        "group": frozenset({"affine", "groups"}),
        "layer": frozenset({"affine", "bias", "over"}),
        "rms": frozenset({"affine", "over"}),
        "none": frozenset(),
    }
    kind: Literal["batch", "layer", "rms", "group", "instance", "none"] = field(
        ...,
        "What has mean 0 and variance 1: a channel over the batch (`batch`), all channels of a sample"
        " (`layer`), groups of them (`group`) or each of them (`instance`). With `rms` all channels of a sample have"
        " mean square 1, and there is no bias.",
        example="batch",
    )
    groups: Size | None = field(
        None,
        "Group norm: how many groups of channels are normalised separately.",
        example=32,
        unset="needed by a group norm",
    )
    affine: bool | None = field(
        None,
        "It has learned weights and biases.",
        example=False,
        unset="true, but false for an instance norm, as in PyTorch",
    )
    bias: bool = field(True, "Layer norm: it has learned biases beside its weights.", example=False)
    over: Literal["channels", "all"] = field(
        "channels",
        "Layer and RMS norm: what is normalised together, the channels of each position or the whole map.",
        example="all",
    )
    running: bool | None = field(None, "Batch norm: it keeps running statistics.", example=False, unset="true")


@dataclass(frozen=True)
class Norm:
    spec_kind: ClassVar[str] = "norm"
    kind: str
    channels: int
    groups: int
    affine: bool
    bias: bool
    running: bool
    over_all: bool
    sides: tuple[int, ...]
    is_sequence: bool

    @property
    def of_each_position(self) -> bool:
        return self.kind == "layer" and not self.over_all

    @property
    def needs_two(self) -> bool:
        """A batch of one sample has one number for each channel, which PyTorch refuses to normalise."""
        return self.kind == "batch" and prod(self.sides) == 1

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        batch, channels, sides = parts(x)
        if self.kind in ("layer", "rms"):
            return self._over_channels(m, x)
        if self.is_sequence and x.dims[1] in sides:  # PyTorch's other norms have the channels first
            to = axes(batch, channels, *sides)
            if self.kind == "batch":
                return trace.like(x, m.record("view", self.run(m, x.seen_as(*to), trace), to=x.axes))
            return trace.turned(m.record("view", self.run(m, trace.channels_first(m, x, to), trace), to=x.axes))
        weights = self._weights(m, channels)
        if self.kind == "batch":
            return self._batch_norm(m, x, weights, trace)
        return self._grouped(m, x, weights)

    def _batch_norm(self, m: Module, x: Tensor, weights: tuple[Param, ...], trace: Trace) -> Tensor:
        """By the statistics of the batch while training, else by the running ones."""
        if self.needs_two and trace.work.trains and trace.work.batch == 1:
            m.words.work_notes.append(ONE_NUMBER)
        statistics: tuple[Tensor, ...] = ()
        if self.running:  # buffers that training updates and inference reads; beside them, the number of batches
            statistics = tuple(m.buffer(name, parts(x)[1]) for name in ("running_mean", "running_var"))
            m.buffer("num_batches_tracked", role="index")
        if trace.work.trains or not statistics:
            return m.record("batch_norm", x, *weights)
        return m.record("running_norm", x, *statistics, *weights)

    def _weights(self, m: Module, *dims: Dim) -> tuple[Param, ...]:
        names = ("weight", "bias") if self.bias else ("weight",)
        return tuple(m.param(name, *dims, role=Role.NORM) for name in names if self.affine)

    def _over_channels(self, m: Module, x: Tensor) -> Tensor:
        """Over the channels of each place, or over the whole map as one row."""
        batch, channels, sides = parts(x)
        dims = x.dims[1:] if self.over_all else (channels,)
        rows = x.seen_as(batch, dims) if self.over_all else x.seen_as(batch, *sides, channels)
        if self.kind == "rms":
            return m.record("view", m.style.rms_norm(m, rows, *self._weights(m, *dims)), to=x.axes)
        return m.record("view", m.record("layer_norm", rows, *self._weights(m, *dims)), to=x.axes)

    def _grouped(self, m: Module, x: Tensor, weights: tuple[Param, ...]) -> Tensor:
        """Statistics for each sample and each group; in an instance norm every channel is a group."""
        batch, _, sides = parts(x)
        if self.kind == "instance":
            return m.record("scaled_instance_norm" if self.affine else "instance_norm", x, *weights)
        group = Dim.of("norm_groups", self.groups)
        inside = Dim.of("in_group", self.channels // self.groups)
        rows = m.record("view", x, to=axes(batch, group, inside, *sides))
        return m.record("view", m.record("group_norm", rows, *weights), to=x.axes)


FIELDS = NormFields


def read(word: str, fields: NormFields, shape: Shape, place: Place) -> tuple[Norm, Shape]:
    found = norm_behind(fields, shape, place)
    if found is None:
        raise place.wrong("a layer without effect", "take it out", word)
    return found, shape


def norm_behind(fields: NormFields | None, shape: Shape, place: Place) -> Norm | None:
    """The norm of that shape, or none."""
    if fields is None or fields.kind == "none":
        return None
    fields.check_kind(fields.kind, place.path)
    affine = fields.kind != "instance" if fields.affine is None else fields.affine
    running = fields.kind == "batch" and fields.running is not False
    if fields.kind == "instance" and prod(shape.sides) == 1:
        fact = f"an instance norm of {shape} has one number for each channel, which it makes zero"
        raise place.wrong(fact, "use batch or layer", "norm")
    if fields.kind == "group" and fields.groups is None:
        raise place.wrong("a group norm needs groups", "such as `groups: 32`", "groups")
    groups = (fields.groups or 1) if fields.kind == "group" else 1
    if shape.channels % groups:
        fact = f"{shape.channels} channels cannot be divided into {groups} groups"
        raise place.wrong(fact, "use a divisor of the channels", "groups")
    bias = fields.bias and fields.kind != "rms"
    over_all = fields.over == "all"
    return Norm(fields.kind, shape.channels, groups, affine, bias, running, over_all, shape.sides, shape.is_sequence)
