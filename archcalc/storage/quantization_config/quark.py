"""AMD's Quark: a layout for all linear layers, others for layers by their names, and modules that are left out."""

from __future__ import annotations

from typing import Any

from archcalc.storage.checkpoint import Checkpoint, Group
from archcalc.storage.format import Stored
from archcalc.storage.module_names import Names
from archcalc.storage.named_formats import weight_format
from archcalc.storage.quantization_config.layouts import INPUTS, Fields, float8, layout, number, skipped, tiled

_STRATEGIES = {"per_tensor": "tensor", "per_channel": "channel"}
_INTEGERS = {"int4": 4, "uint4": 4, "int8": 8, "uint8": 8}


def quark(config: Fields) -> Checkpoint:
    own = config.get("layer_quant_config") or {}
    asked = [(Names((name,)), scheme) for name, scheme in own.items()] + [
        (None, config.get("global_quant_config") or {})
    ]
    groups, told = [], []
    for targets, scheme in asked:
        name, stores = _weights(scheme.get("weight"))
        if not stores:
            return Checkpoint(f"quark {name}", unknown=f"archcalc does not know how Quark stores {name}")
        inputs = scheme.get("input_tensors")
        is_static = isinstance(inputs, dict) and inputs.get("is_dynamic") is False
        made = layout(*stores, *((INPUTS,) if is_static else ()))
        groups.append(Group(made, targets) if targets else Group(made))
        told.append(name)
    left = skipped(config)
    return Checkpoint(f"quark {' and '.join(dict.fromkeys(told))}", tuple(groups), left, head=bool(left.listed))


def _weights(asked: Any) -> tuple[str, tuple[Stored, ...]]:
    """Its name for users, and the stored layout; None if the layout is unknown."""
    if not isinstance(asked, dict):
        return "several steps" if asked else "no weights", ()
    kind, scheme = str(asked.get("dtype")), str(asked.get("qscheme"))
    group = number(asked, "group_size", 0, least=1)
    if kind.startswith("fp8") and scheme in _STRATEGIES:
        stores, told = float8(_STRATEGIES[scheme], 32)
        return f"fp8, {told}", stores
    if kind == "fp4" and scheme == "per_group" and asked.get("scale_format") == "e8m0" and group == 32:
        return "mxfp4, group 32", weight_format("mxfp4").stores
    if kind in _INTEGERS and scheme == "per_group" and group:
        bits = _INTEGERS[kind]
        return f"int{bits}, group {group}", tiled(bits, group, 16 + (0 if asked.get("symmetric") else bits))
    if kind in _INTEGERS and scheme in _STRATEGIES:
        tile = (0, 0) if scheme == "per_tensor" else (1, 0)
        return f"{kind}, {scheme}", (Stored(_INTEGERS[kind], what="the weight"), Stored(32, what="a scale", tile=tile))
    return f"{kind} {scheme}", ()
