"""Vision towers of GLM-4.1V and its successors: gated blocks, RoPE by row and column, a convolution that makes one of
2 × 2 patches, and a merger behind it."""

from math import isqrt
from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, activation, biased, divided, heads, vision

USUAL = "base"


def glm4v_vision(c: Config) -> Fields:
    """The width of the FFN is that of the vectors that come out, and intermediate_size is that of the merger.

    The norm of the patch embedding stands before the positions that are added, which changes no count."""
    patch = c.size("patch_size")
    rows = (c.size("image_size") // patch) ** 2
    found = _blocks(c, ffn=c.size("out_hidden_size"), attention=biased(qkv=c.flag("attention_bias")), bias=False)
    found["embedding"]["norm"] = True
    found["position"] = [{"kind": "learned", "interpolated": isqrt(rows)}, found["position"]]
    return _merged(c, found, c.size("intermediate_size"))


def glm_ocr_vision(c: Config) -> Fields:
    """Norms on queries and keys, and no table of positions."""
    bias = c.flag("attention_bias")
    found = _blocks(c, ffn=c.size("intermediate_size"), attention=bias, bias=bias)
    found["attention"]["qk_norm"] = "head"
    c.skip("image_size")
    return _merged(c, found, c.size("out_hidden_size") * c.size("in_channels"))


def _blocks(c: Config, *, ffn: int, attention: Any, bias: bool) -> dict[str, Any]:
    heads.only(c, "base")
    width, number = c.size("hidden_size"), c.size("num_heads")
    return {
        "d_model": width,
        "heads": number,
        "attention": {"bias": attention},
        "ffn": {"width": ffn, "act": activation(c), "gated": True, "bias": bias},
        "norm": "rms",
        "position": vision.axial_rope(c, divided(c, width, number)),
        "embedding": {"kind": "patches", "patch": c.size("patch_size"), "tokens": 0},
        "softmax": c.softmax,
        "encoder": c.size("depth"),
    }


def _merged(c: Config, found: Fields, inner: int) -> Fields:
    """The convolution is a matrix on merged patches. Behind it: a matrix, a norm, and a gated FFN."""
    side, out = c.size("spatial_merge_size"), c.size("out_hidden_size")
    plain = {"bias": False}
    gated = [[{"linear": inner, "act": activation(c), **plain}], [{"linear": inner, **plain}]]
    merger = [{"linear": out, **plain}, {"norm": "layer"}, "gelu", {"multiply": gated}, {"linear": out, **plain}]
    length = vision.usual_image(c, c.size("patch_size") * side)
    image = [c.size("in_channels"), *vision.frames(c.size("temporal_patch_size")), length, length]
    return vision.tower(found, image, downsample=[{"merge": side**2}, {"linear": out}], merger=merger)


TYPES = {"glm4v_moe_vision": glm4v_vision}
