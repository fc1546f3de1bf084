"""MLX's `quantization`: every linear layer, the router, the tables and the head, in groups along the inputs.

As `mlx_lm.utils.quantize_model` and `mlx.nn.quantize` do it: a matrix whose inputs are no whole groups stays as it is,
and a module may have settings of its own, or `false`, under its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.storage.checkpoint import Checkpoint, Group
from archcalc.storage.format import Format, Stored
from archcalc.storage.module_names import Names
from archcalc.storage.quantization_config.layouts import Fields, grouped, number, told

SETTINGS = ("bits", "group_size", "mode", "quant_method", "linear_class", "quantize_input")
EVERY = "linear and tables"
_SCALES = {"affine": 32, "mxfp4": 8, "mxfp8": 8, "nvfp4": 8}  # bits beside each group; affine: a scale and a bias
_WIDTHS = {"mxfp4": (4, 32), "mxfp8": (8, 32), "nvfp4": (4, 16)}  # bits and group where the mode fixes them


def is_mlx(config: Mapping[str, Any]) -> bool:
    """Bits and a group for all, and beside them nothing but modules by their names."""
    own = {name: asked for name, asked in config.items() if name not in SETTINGS}
    return {"bits", "group_size"} <= config.keys() and all(
        isinstance(asked, dict) or (isinstance(asked, bool) and "." in name) for name, asked in own.items()
    )


def mlx(config: Fields) -> Checkpoint:
    usual = _group(config, config)
    if usual is None:
        mode = str(config.get("mode"))
        return Checkpoint(f"mlx {mode}", unknown=f"archcalc does not know how MLX stores {mode}")
    own = {name: asked for name, asked in config.items() if name not in SETTINGS}
    rules = [_group(config, asked, name) for name, asked in own.items() if isinstance(asked, dict)]
    kept = Names(tuple(name for name, asked in own.items() if asked is False))
    groups = (*(rule for rule in rules if rule), usual)
    return Checkpoint(f"mlx {told(*groups)}", groups, kept, quantises=EVERY, head=True)


def _group(config: Fields, asked: Fields, name: str = "") -> Group | None:
    """A module's own settings, else everybody's."""
    mode = str(asked.get("mode") or config.get("mode") or "affine")
    if mode not in _SCALES:
        return None
    bits, size = _WIDTHS.get(mode, (number(config, "bits", 4), number(config, "group_size", 64, least=1)))
    bits, size = number(asked, "bits", bits), number(asked, "group_size", size, least=1)
    targets: dict[str, Any] = {"targets": Names((name,))} if name else {}
    return Group(_format(mode, bits, size), **targets, whole=size)


def _format(mode: str, bits: int, size: int) -> Format:
    label = f"int{bits}, {grouped(size)}" if mode == "affine" else f"{mode}, {grouped(size)}"
    scales = Stored(_SCALES[mode], what="scale and bias", tile=(1, size))
    return Format(label, (Stored(bits, what="the weight"), scales), "linear")
