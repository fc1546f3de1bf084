"""A list of layers as a part, or a single layer. It reads the first of its flows; layers may name all of them."""

from __future__ import annotations

from typing import Any

from archcalc.archs.network.kinds import kinds
from archcalc.archs.network.layer import Shape, Trace
from archcalc.archs.network.resolve import Network
from archcalc.archs.network.resolve import read as read_layers
from archcalc.archs.network.spec import Spec
from archcalc.archs.parts.flow import Flow, Given, Made, Signal
from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.spec.reading import read_node
from archcalc.spec.workload import Workload


def read(written: dict[str, Any], given: Given[Flow], is_output: bool) -> Network:
    for field in ("memory", "start", "context"):
        if getattr(given, field):
            hint = "a layer reads it by its name, such as `{concat: [input, encoder]}`"
            raise InputError(f"a list of layers has no {field}", hint, fields=[(field,)])
    alone = "layers" not in written or not isinstance(written["layers"], list)
    fields = {"layers": [written]} if alone and not kinds().keys().isdisjoint(written) else written
    loss = {} if is_output else {"loss": "none"}
    return read_layers(read_node(Spec, {**fields, "family": "network", **loss}), *_shapes(given))
