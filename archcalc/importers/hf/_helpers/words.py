"""Config values that have several spellings: activations, number formats, RoPE."""

from __future__ import annotations

import json
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.hf._helpers.reading import Config, Fields, Value, when
from archcalc.styles.activations import UNKNOWN

_ACTIVATIONS = {
    **dict.fromkeys(("gelu", "gelu_python", "gelu_10"), "gelu"),
    **dict.fromkeys(("gelu_new", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_fast", "gelu_accurate"), "gelu_tanh"),
    **dict.fromkeys(("silu", "swish"), "silu"),
    **{word: word for word in ("relu", "relu2", "tanh", "sigmoid", "leaky_relu", "identity")},
    "linear": "identity",
}
_NEAREST = {  # other formulas, which have no parameters either
    **dict.fromkeys(("quick_gelu", "hardswish", "mish", "sqrtsoftplus"), "silu"),
    "relu6": "relu",
    "laplace": "gelu",
}
_LEARNED = ("prelu", "xielu")
_PRECISIONS = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8"}


def activation(c: Config, key: str = "hidden_act", word: str = "") -> str:
    """The activation's name in a spec, `unknown` for one that archcalc has not heard of. Activations with parameters
    (prelu, xielu) are not accepted here."""
    found = word or c.text(key)
    if found in _NEAREST:
        c.notes.append(f"{found} is counted as {_NEAREST[found]}: the same parameters")
        return _NEAREST[found]
    if found in _LEARNED:
        raise c.refused(key, "it has parameters of its own, which the class of this type does not have")
    if found not in _ACTIVATIONS:
        c.doubts.append(
            f"archcalc does not know the activation {key}: {found[:60]}, and takes it to have no parameters"
        )
    return _ACTIVATIONS.get(found, UNKNOWN)


def sides(c: Config, key: str, said: Value) -> list[int]:
    """Height and width; one number is both."""
    if not isinstance(said, list):
        said = [said, said]
    if len(said) != 2 or not all(is_size(side) for side in said):
        raise c.wrong(key, "a size, or a height and a width")
    height, width = said
    return [height, width]


def is_size(value: Value, least: int = 1) -> bool:
    """A whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def precision(c: Config) -> str | None:
    """Of `dtype`, which older files call `torch_dtype`."""
    said = c.given("dtype") or c.given("torch_dtype")
    found = _PRECISIONS.get(str(said).removeprefix("torch."))
    if said and said != "auto" and not found:
        c.notes.append(f"dtype {said!s:.40} is unknown and ignored: archcalc knows {', '.join(_PRECISIONS)}")
    return found


def rope(c: Config, width: int, *, layer: str = "", fraction: float | None = None, theta: float = 0) -> Fields:
    """Rotary positions of heads `width` wide; `layer` names one of several sets of parameters, `fraction` and `theta`
    are what older files call the rotated share of a head and the base."""
    said, usual = _rope_parameters(c, layer), c.usual_rope(layer)
    base = _first(said.get("rope_theta"), c.given("rope_theta"), theta or usual.get("rope_theta", c.theta))
    shares = (said.get("partial_rotary_factor"), c.given("partial_rotary_factor"), fraction)
    share = _first(*shares, usual.get("partial_rotary_factor", 1.0))
    scaling = said.get("rope_type", said.get("type", usual.get("rope_type", "default")))
    if scaling == "proportional":  # whole heads, the rest of them by an angle of zero
        share = 1.0
    if scaling not in ("default", None):
        c.notes.append(f"RoPE is scaled ({scaling}): this changes the angles, but no parameters or costs")
    plain = isinstance(base, int | float) and not isinstance(base, bool)
    if not (plain and 0 < base < float("inf")):
        raise InputError(f"expected a number above 0, found {json.dumps(base)[:60]}", field="rope_theta")
    position: Fields = {"kind": "rope", "theta": float(base)}
    if longest := c.size_or("max_position_embeddings", 0):
        position["length"] = longest
    rotated = int(width * float(share))
    if width == 1:
        position = _not_even(c, width)
    elif rotated != width:
        position["fraction"] = _even(c, rotated, width) / width
    elif width % 2:
        position = _not_even(c, width)
    return position


def local_theta(c: Config, older: str = "rope_local_base_freq") -> float:
    """Sliding-window blocks may have their own RoPE base, which older files give under another key."""
    said = c.given("rope_parameters") or {}
    if not isinstance(said, dict):
        raise c.wrong("rope_parameters", "fields such as rope_theta")
    local = said.get("sliding_attention") or {}
    return float(local.get("rope_theta") or c.given(older) or c.usual_rope("sliding_attention")["rope_theta"])


def local_rope(c: Config, width: int) -> Fields:
    """Positions of sliding-window blocks whose base is their own; None where heads are too odd to be rotated."""
    return when(width % 2 == 0, position={"kind": "rope", "theta": local_theta(c)})


def rope_of(c: Config, rotated: int, width: int, length: int) -> Fields:
    """RoPE on the first `rotated` numbers of each head, for classes without RoPE parameters."""
    if rotated < width:
        return {"kind": "rope", "length": length, "fraction": _even(c, rotated, width) / width}
    if width % 2:
        return _not_even(c, width)
    return {"kind": "rope", "length": length}


def _rope_parameters(c: Config, layer: str) -> Fields:
    """New files have `rope_parameters`, perhaps by layer type; older ones `rope_scaling` beside `rope_theta`."""
    older, newer = c.given("rope_scaling"), c.given("rope_parameters")
    said = older or newer or {}
    if not isinstance(said, dict):
        raise c.wrong({True: "rope_scaling", False: "rope_parameters"}[bool(older)], "fields such as rope_theta")
    nested = [key for key, value in said.items() if isinstance(value, dict)]
    if not nested:
        return said
    return said.get(layer) or {}


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def _even(c: Config, rotated: int, width: int) -> int:
    if rotated % 2 or not rotated:
        c.notes.append(
            f"RoPE would rotate {rotated} of {width} numbers, which is not an even number: this model cannot run"
        )
    return min(rotated + rotated % 2 or 2, width - width % 2)


def _not_even(c: Config, width: int) -> Fields:
    cannot = {1: "counted without it"}.get(width, "this model can be built but not run")
    c.notes.append(f"RoPE rotates pairs of numbers, and head_dim {width} is odd: {cannot}")
    return {"kind": "none"}
