"""NVIDIA's ModelOpt: `quant_algo` for all linear layers, or for each by its name in `quantized_layers`.

Tensors and names of algorithms are those of `modelopt/torch/export/quant_utils.py`. The exporter lists every module
that it leaves unquantised, the head among them, so that a head that is not in the list is quantised.
"""

from __future__ import annotations

from archcalc.storage.checkpoint import HEAD, Checkpoint, Group
from archcalc.storage.format import Stored
from archcalc.storage.module_names import Names
from archcalc.storage.named_formats import weight_format
from archcalc.storage.quantization_config.layouts import INPUTS, Fields, float8, layout, number, skipped

MIXED = "MIXED_PRECISION"
_SMOOTHING = Stored(16, what="a factor of each input", tile=(0, 1))  # AWQ's pre_quant_scale
_FP8 = {"FP8": "tensor", "FP8_PER_CHANNEL_PER_TOKEN": "channel", "FP8_PB_WO": "block", "FP8_PB_REAL": "block"}
Layout = tuple[str, tuple[Stored, ...]]


def modelopt(config: Fields) -> Checkpoint:
    """As config.json has it, or hf_quant_config.json, whose fields stand under `quantization`."""
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
