"""A model from the shapes that a case prints: as a config.json of a known type, or as a spec where a case says all.

What the type does not say has to be said by the case: whether its feed-forward layers are gated, whether attention and
feed-forward run side by side, and whether there is a tower that reads images. A case that does not is refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from measured_cases import Case
from measured_units import Inexpressible, number

from archcalc.importers.hf._helpers.reading import described
from archcalc.spec import paths
from archcalc.spec.yaml_reader import read

Fields = dict[str, Any]

TYPES: Fields = yaml.safe_load(Path(__file__).with_name("measured_types.yaml").read_text("utf-8"))
GATED = {"swiglu": ("silu", True), "geglu": ("gelu", True), "gelu": ("gelu", False), "relu": ("relu", False)}
NEEDED = ("layers", "hidden", "heads")


def shaped(case: Case) -> tuple[str, Fields]:
    """What to call the file, and what is in it."""
    shapes = _shapes(case["arch"])
    known = _known(case)
    if known.get("tower") or shapes.get("vision") or shapes.get("tower"):
        raise Inexpressible("a vision tower whose shapes the case does not give")
    if any(not shapes.get(field) for field in NEEDED):
        raise Inexpressible("the case does not give the model's shapes")
    if known.get("type"):
        return "config.json", _config(str(known["type"]), shapes)
    return "spec.yaml", _spec(case["model"], {**known.get("facts", {}), **shapes})


def _known(case: Case) -> Fields:
    """What is known of the model's type: by llama.cpp's name for its architecture, else by the model's."""
    written = case["arch"].get("arch")
    if written:
        listed = read(paths.presets("gguf")["architectures"].read_bytes(), "architectures").data["architectures"]
        return {"type": listed[written][0]["type"]} if written in listed else {}
    hits = (line for line in TYPES["types"] if re.search(line["says"], case["model"], re.IGNORECASE))
    return next(hits, {})


def _shapes(arch: Fields) -> Fields:
    """Numbers as numbers, whatever printed them."""
    given = {key: _number(value) for key, value in arch.items() if value not in (None, "")}
    return {key: value for key, value in given.items() if value != 0 or isinstance(value, bool)}


def _number(value: Any) -> Any:
    """`"4096"` as some logs have it, and 4096.0."""
    is_one = isinstance(value, (str, float)) and re.fullmatch(r"\d+(\.0*)?", str(value))
    return number(value) if is_one else value


def _config(model_type: str, shapes: Fields) -> Fields:
    """The fields that the type's config class declares; others of its fields have its defaults."""
    about = _described(model_type)
    own = {*about["defaults"], *about["aliases"]}
    declared = {*own, *TYPES["always"]}
    found: Fields = {"model_type": model_type, "dtype": "bfloat16"}  # 16 bits, as everything that is published
    for field, names in TYPES["fields"].items():
        found |= {name: shapes[field] for name in names if name in declared and field in shapes}
    if model_type in TYPES["experts_in"]:
        found["intermediate_size"] = shapes.get("moe_ffn") or shapes.get("expert_ffn") or shapes.get("ffn")
    if shapes.get("experts") and not found.get("moe_intermediate_size") and model_type not in TYPES["experts_in"]:
        raise Inexpressible("the case does not give the experts' width")
    if not any(found.get(name) for name in ("intermediate_size", "ffn_hidden_size", "moe_intermediate_size")):
        raise Inexpressible("the case does not give the width of the feed-forward layers")
    if "head_dim" not in own and found.get("head_dim") == shapes["hidden"] // shapes["heads"]:
        del found["head_dim"]  # what a class without such a field takes unasked
    return found


def _described(model_type: str) -> Fields:
    try:
        return described(model_type)
    except OSError:
        raise Inexpressible(f"shapes of a {model_type}, whose config class is not known here") from None


def _spec(name: str, shapes: Fields) -> Fields:
    """A decoder of which the case says everything."""
    act, gated = _gate(shapes)
    if "parallel" not in shapes:
        raise Inexpressible("the case does not say whether attention and feed-forward run side by side")
    if "vision" not in shapes:
        raise Inexpressible("the case does not say whether there is a vision tower")
    if not shapes.get("ffn") or shapes.get("experts") or not shapes.get("vocab"):
        raise Inexpressible("the case does not give the shapes of a plain decoder")
    bias = bool(shapes.get("bias"))
    return {
        "name": name,
        "vocab": shapes["vocab"],
        "d_model": shapes["hidden"],
        "heads": shapes["heads"],
        "kv_heads": shapes.get("kv_heads") or shapes["heads"],
        **({"head_dim": shapes["head_dim"]} if shapes.get("head_dim") else {}),
        "bias": bias,
        "norm": shapes.get("norm") or ("rms" if gated else "layer"),
        "position": _position(shapes),
        "head": "tied" if shapes.get("tie") else "lm",
        "decoder": shapes["layers"],
        "ffn": {"width": shapes["ffn"], "act": act, "gated": gated},
        **({"parallel": "shared"} if shapes["parallel"] else {}),
        **({"attention": attention} if (attention := _attention(shapes)) else {}),
    }


def _gate(shapes: Fields) -> tuple[str, bool]:
    """The activation of the feed-forward layers, and whether a gate multiplies them."""
    if shapes.get("mlp") in GATED:
        return GATED[shapes["mlp"]]
    if "gated" not in shapes:
        raise Inexpressible("the case does not say whether its feed-forward layers are gated")
    return str(shapes.get("act") or "silu"), bool(shapes["gated"])


def _attention(shapes: Fields) -> Fields:
    norm = {"qk_norm": "head"} if shapes.get("qk_norm") else {}
    return norm | ({"bias": ["q", "k", "v"]} if shapes.get("qkv_bias") else {})


def _position(shapes: Fields) -> Any:
    if shapes.get("pos") == "alibi":
        return "alibi"
    learned = shapes.get("learned_pos") or shapes.get("max_pos")
    return {"kind": "learned", "length": learned} if learned else "rope"
