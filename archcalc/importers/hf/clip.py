"""CLIP's two towers and those built like them: an encoder of images behind a norm, a causal one of texts."""

from __future__ import annotations

from math import isqrt
from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation
from archcalc.importers.hf.vit import patches

TYPES = (
    *("clip_vision_model", "chinese_clip_vision_model", "idefics3_vision", "smolvlm_vision"),
    *("siglip_vision_model", "siglip2_vision_model", "clip_text_model", "siglip_text_model", "tipsv2_text_model"),
)
USUAL = "base"
INERT = "head_dim num_key_value_heads projection_size scale_sqrt_depth initializer_factor"

_LIKE_SIGLIP = ("siglip_vision_model", "siglip2_vision_model", "idefics3_vision", "smolvlm_vision")


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    blocks = c.size("num_hidden_layers")
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c)},
        **(_of_texts(c, blocks) if "num_channels" not in c.defaults else _of_images(c, blocks)),
        "norm": {"final": False} if _norms_class_token(c) else None,
        "head": _head(c, task),
    }


def _of_images(c: Config, blocks: int) -> Fields:
    """CLIP's patches have no bias and a norm; SigLIP's a bias and no class token."""
    own = {"tokens": 0} if c.type in _LIKE_SIGLIP else {"bias": False, "norm": True}
    cut = _of_any_shape(c) if c.type == "siglip2_vision_model" else patches(c)
    return {"embedding": {**cut, **own}, "position": "learned", "encoder": blocks}


def _of_any_shape(c: Config) -> Fields:
    """SigLIP 2 is given patches, and knows how many there may be: a square of them is counted."""
    number, side = c.size("num_patches"), c.size("patch_size")
    rows = isqrt(number)
    if rows * rows != number:
        raise c.refused("num_patches", "positions of so many patches make no square")
    return {"kind": "patches", "image": rows * side, "patch": side, "channels": c.size("num_channels")}


def _of_texts(c: Config, blocks: int) -> Fields:
    """A CLIP text sees only what stands before; others see all, and TIPS adds sinusoids."""
    length, causal = c.size("max_position_embeddings"), c.type == "clip_text_model"
    fixed = c.type == "tipsv2_text_model"
    position = {"kind": "sinusoidal"} if fixed else {"kind": "learned", "length": length}
    return {"vocab": c.size("vocab_size"), "position": position, "decoder" if causal else "encoder": blocks}


def _norms_class_token(c: Config) -> bool:
    """CLIP's eyes have their last norm on the class token alone."""
    return "num_channels" in c.defaults and c.type not in _LIKE_SIGLIP


def _head(c: Config, task: str) -> Any:
    c.skip("projection_dim")
    if c.type == "siglip_text_model":
        width = c.size_or("projection_size", c.size("hidden_size"))
        return {"kind": "classifier", "classes": width, "bias": True, "pool": "last"}
    if c.type in ("siglip_vision_model", "siglip2_vision_model") and c.given("vision_use_head") is not False:
        return {"kind": "none", "pool": "probe"}
    if task == "base":
        return {"kind": "none", "pool": "class", "norm": True} if _norms_class_token(c) else "none"
    if task == "projection":
        pool = {"pool": "class", "norm": True} if _norms_class_token(c) else {"pool": "last"}
        return {"kind": "classifier", "classes": c.size("projection_dim"), **pool}
    raise heads.refuse(c, task)
