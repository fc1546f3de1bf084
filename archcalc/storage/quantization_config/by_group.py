"""Methods that store groups of modules, each in its own layout: compressed-tensors, AMD's Quark, NVIDIA's ModelOpt.

The tensors of ModelOpt and its names of algorithms are those of `modelopt/torch/export/quant_utils.py`. The exporter
lists every module that it leaves unquantised, the head among them, so that a head that is not in the list is quantised.
"""

from __future__ import annotations

from typing import Any

from archcalc.storage.checkpoint import HEAD, Checkpoint, Group
from archcalc.storage.format import Stored
from archcalc.storage.module_names import Names
from archcalc.storage.named_formats import weight_format
from archcalc.storage.quantization_config.layouts import INPUTS, Fields, float8, layout, number, skipped, tiled, words


def compressed(config: Fields) -> Checkpoint:
    """Groups have a width, a strategy for their scales and a way to pack. Their targets are `Linear`, names, or
    expressions; the head is quantised unless it is ignored."""
    groups, told = [], []
    for group in (config.get("config_groups") or {}).values():
        asked = group.get("weights")
        if not asked:
            continue
        name, stores = _compressed_weights(asked, str(group.get("format") or config.get("format") or ""))
        told.append(name)
        if not stores:
            return Checkpoint(f"compressed-tensors {name}", unknown=f"archcalc does not know how it stores {name}")
        inputs = group.get("input_activations")
        is_static = isinstance(inputs, dict) and inputs.get("dynamic") is not True
        made = layout(*stores, *((INPUTS,) if is_static else ()))
        groups.append(Group(made, Names(words(group.get("targets")) or ("Linear",))))
    name = f"compressed-tensors {' and '.join(dict.fromkeys(told)) or 'without quantised weights'}"
    return Checkpoint(name, tuple(groups), Names(words(config.get("ignore"))), head=True)


def _compressed_weights(asked: Fields, packing: str) -> tuple[str, tuple[Stored, ...]]:
    """Its name for users, and the stored layout; None if the layout is unknown."""
    bits, kind = number(asked, "num_bits", 8), str(asked.get("type", "int"))
    strategy, group = str(asked.get("strategy") or "tensor"), number(asked, "group_size", 0)
    if kind == "float" and bits == 4:
        for name, size in (("nvfp4", 16), ("mxfp4", 32)):
            if packing.startswith(name):
                return f"{name}, group {size}", weight_format(name).stores
        return "fp4", ()
    if kind == "float" and bits == 8 and strategy in ("tensor", "channel", "block"):
        stores, told = float8(strategy, 16, asked.get("block_structure"))
        return f"fp8, {told}", stores
    if kind == "int" and strategy in ("tensor", "channel", "group"):
        # packed into words below 8 bits, with the shape beside them; a zero for each scale unless symmetric
        tile = {"tensor": (0, 0), "channel": (1, 0), "group": (1, group)}[strategy]
        beside = 16 + (0 if asked.get("symmetric", True) else bits)
        shape = (Stored(128, what="the shape", tile=(0, 0)),) if bits < 8 else ()
        index = (Stored(32, what="the group of an input", tile=(0, 1)),) if asked.get("actorder") == "group" else ()
        told = {"tensor": "one scale per matrix", "channel": "one scale per row", "group": f"group {group}"}[strategy]
        stores = (Stored(bits, what="the weight"), Stored(beside, what="scale and zero", tile=tile), *shape, *index)
        return f"int{bits}, {told}", stores
    return f"{kind}{bits} by {strategy}", ()


_STRATEGIES = {"per_tensor": "tensor", "per_channel": "channel"}
_INTEGERS = {"int4": 4, "uint4": 4, "int8": 8, "uint8": 8}


def quark(config: Fields) -> Checkpoint:
    """A layout for all linear layers, others for layers by their names, and modules that are left out."""
    own = config.get("layer_quant_config") or {}
    asked = [(Names((name,)), scheme) for name, scheme in own.items()] + [
        (None, config.get("global_quant_config") or {})
    ]
    groups, told = [], []
    for targets, scheme in asked:
        name, stores = _quark_weights(scheme.get("weight"))
        if not stores:
            return Checkpoint(f"quark {name}", unknown=f"archcalc does not know how Quark stores {name}")
        inputs = scheme.get("input_tensors")
        is_static = isinstance(inputs, dict) and inputs.get("is_dynamic") is False
        made = layout(*stores, *((INPUTS,) if is_static else ()))
        groups.append(Group(made, targets) if targets else Group(made))
        told.append(name)
    left = skipped(config)
    return Checkpoint(f"quark {' and '.join(dict.fromkeys(told))}", tuple(groups), left, head=bool(left.listed))


def _quark_weights(asked: Any) -> tuple[str, tuple[Stored, ...]]:
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


_SMOOTHING = Stored(16, what="a factor of each input", tile=(0, 1))  # AWQ's pre_quant_scale
_FP8 = {"FP8": "tensor", "FP8_PER_CHANNEL_PER_TOKEN": "channel", "FP8_PB_WO": "block", "FP8_PB_REAL": "block"}
Layout = tuple[str, tuple[Stored, ...]]


def modelopt(config: Fields) -> Checkpoint:
    """`quant_algo` for all linear layers, or for each by its name in `quantized_layers`: as config.json has it, or
    hf_quant_config.json, whose fields stand under `quantization`."""
    inner = config.get("quantization")
    asked: Fields = {**config, **inner} if isinstance(inner, dict) else config
    algorithm = str(asked.get("quant_algo") or "").upper()
    if asked.get("quantized_layers"):
        return _by_layer(asked, algorithm)
    name, stores = _layout(asked, algorithm)
    if not stores:
        return _unknown(algorithm)
    left = skipped(asked)
    return Checkpoint(f"modelopt {name}", (Group(layout(*stores)),), left, head=bool(left.listed))


def _by_layer(asked: Fields, algorithm: str) -> Checkpoint:
    """Layers of one algorithm are one group; what is not listed stays unquantised."""
    listed: dict[Layout, list[str]] = {}
    known: dict[str, tuple[str, Layout]] = {}  # tens of thousands of layers are listed, most of which say the same
    for module, own in asked["quantized_layers"].items():
        said = str(own)
        if said not in known:
            named = str(own.get("quant_algo") or "").upper()
            known[said] = named, _layout({**asked, **own}, named or algorithm)
        named, (name, stores) = known[said]
        if not stores:
            return _unknown(named)
        listed.setdefault((name, stores), []).append(module)
    groups = tuple(Group(layout(*stores), Names(tuple(modules))) for (_, stores), modules in listed.items())
    head = any(group.targets.hold_outside(HEAD) for group in groups)
    return Checkpoint(f"modelopt {' and '.join(name for name, _ in listed)}", groups, skipped(asked), head=head)


def _unknown(algorithm: str) -> Checkpoint:
    """A method that exists, in a layout that is not known here."""
    what = algorithm or "without quant_algo"
    return Checkpoint(f"modelopt {what}", unknown=f"archcalc does not know how modelopt stores {what}")


def _layout(asked: Fields, algorithm: str) -> Layout:
    """Its name for users, and the layout of a matrix; none if the layout is unknown."""
    if "NVFP4" in algorithm:  # without a scale of inputs that are not quantised; with AWQ's factors of smoothed ones
        inputs = () if "A16" in algorithm else (INPUTS,)
        smoothing = (_SMOOTHING,) if "AWQ" in algorithm else ()
        return "nvfp4, group 16", (*weight_format("nvfp4").stores, *inputs, *smoothing)
    if "MXFP4" in algorithm:
        return "mxfp4, group 32", weight_format("mxfp4").stores
    if algorithm == "MXFP8":
        return "mxfp8, group 32", (Stored(8, what="the weight"), Stored(8, what="a shared exponent", tile=(1, 32)))
    if algorithm in _FP8:
        block = number(asked, "group_size", 128, least=1)
        stores, told = float8(_FP8[algorithm], 32, [block, block] if _FP8[algorithm] == "block" else None)
        return f"fp8, {told}", (*stores, INPUTS) if algorithm == "FP8" else stores
    if algorithm in ("W4A16_AWQ", "W4A8_AWQ"):
        group = number(asked, "group_size", 128, least=1)
        packed = (Stored(4, what="the weight"), Stored(16, what="a scale", tile=(1, group)), _SMOOTHING)
        more = (INPUTS, Stored(32, what="a scale of the scales", tile=(0, 0))) if algorithm == "W4A8_AWQ" else ()
        return f"int4, group {group}", (*packed, *more)
    if algorithm in ("W8A16", "W8A8_SQ_PER_CHANNEL"):
        by_row = (Stored(8, what="the weight"), Stored(32, what="a scale of the row", tile=(1, 0)))
        return "int8, one scale per row", (*by_row, *((_SMOOTHING, INPUTS) if "SQ" in algorithm else ()))
    return algorithm, ()
