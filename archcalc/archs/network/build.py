"""A network's forward pass: the input, its layers, its heads, and the loss of a training step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.archs.network.layer import SIDES, Shape, Trace, laid_out, parts
from archcalc.archs.network.sample import OPEN
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.layers.dims import sequence_of
from archcalc.layers.loss import cross_entropy, squared_error
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from archcalc.archs.network.resolve import Network


def build(net: Network, work: Workload) -> Module:
    if work.decodes:
        hint = "use --mode train or infer"
        raise InputError("a network generates no tokens, so it has no decode step", hint, field="--mode")
    net = net.of_lengths(work.lengths)
    root, trace = Module("model", style=work.style), Trace(work)
    x = _input(root, net.sample, Dim.of("batch", work.batch))
    out = net.body.run_steps(root, x, trace)
    outputs = [head.run(root[name], out, trace) for name, head in net.heads.items()] or [out]
    for index, output in enumerate(outputs if work.trains else ()):  # a loss for each
        place = root if len(outputs) == 1 else root.section(f"loss {index}")
        if net.loss == "cross_entropy":
            cross_entropy(place, scores_of(output), targets_of(output))
        elif net.loss == "squared_error":
            squared_error(place, output, x.seen_as(*output.axes))
    return root


def scores_of(output: Tensor) -> Tensor:
    """Of one class for each sample, or for each place of a map: classes stand last."""
    batch, classes, places = parts(output)
    return output.seen_as(batch, *places, classes)


def targets_of(output: Tensor) -> Tensor:
    batch, _, places = parts(output)
    return Tensor(axes(batch, *places), "index")


def _input(root: Module, sample: Shape, batch: Dim) -> Tensor:
    if sample.is_ids:
        return root.record("ids", to=axes(batch, sequence_of(OPEN, sample.sides[0])), name="ids")
    channels = Dim.of("channels" if sample.sides and not sample.is_sequence else "features", sample.channels)
    named = zip(SIDES[len(sample.sides)], sample.sides, strict=True)
    sides = tuple(sequence_of(OPEN, size) if sample.is_sequence else Dim.of(name, size) for name, size in named)
    return root.record("input", to=laid_out(batch, channels, sides), name="input")
