"""A network's forward pass: the input, its layers, its heads, and the loss of a training step."""

from __future__ import annotations

from archcalc.archs.network.layer import SIDES, Trace, parts
from archcalc.archs.network.resolve import Network
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.layers.loss import cross_entropy, squared_error
from archcalc.spec.workload import Workload


def build(net: Network, work: Workload) -> Module:
    if work.decodes:
        hint = "use --mode train or infer"
        raise InputError("a network generates no tokens, so it has no decode step", hint, field="--mode")
    root, trace = Module("model", style=work.style), Trace(work)
    channels, *sides = net.input
    name = "channels" if sides else "features"
    dims = (Dim.of(name, channels), *(Dim.of(*side) for side in zip(SIDES[len(sides)], sides, strict=True)))
    x = root.record("input", to=axes(Dim.of("batch", work.batch), *dims), name="input")
    out = net.body.run_steps(root, x, trace)
    outputs = [head.run(root[name], out, trace) for name, head in net.heads.items()] or [out]
    for index, output in enumerate(outputs if work.trains else ()):  # a loss for each
        place = root if len(outputs) == 1 else root.section(f"loss {index}")
        if net.loss == "cross_entropy":  # one class for each sample, or for each place of a map
            batch, classes, places = parts(output)
            cross_entropy(place, output.seen_as(batch, *places, classes), Tensor(axes(batch, *places), "index"))
        elif net.loss == "squared_error":
            squared_error(place, output, x.seen_as(*output.axes))
    return root
