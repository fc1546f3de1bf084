"""Gemma 4 with its eyes: a tower whose patches are pooled into tokens; or, unified, a projection of pixels."""

from __future__ import annotations

from math import isqrt

from archcalc.importers.hf._helpers import Config, Fields, ffn, heads, inert, kv_heads, whole
from archcalc.importers.hf._helpers.vision import axial_rope
from archcalc.importers.hf._helpers.words import is_size

USUAL = {"gemma4_vision": "base", "gemma4": "multimodal"}
INERT = {
    "gemma4_vision": {inert.RUNNING: "attention_bias use_clipped_linears standardize"},
    "gemma4": {inert.TOKENS: "boi_token_id eoi_token_id video_token_id boa_token_id eoa_token_index"},
}
TOKENS = 280  # of an image, where the file does not say (Gemma4ImageProcessor.max_soft_tokens)
AUDIO = {"part": "audio encoder and projector", "needed": "audio"}


def gemma4_vision(c: Config) -> Fields:
    """A vector for the row and the column of a patch beside RoPE; norms before and after each part, none at the end."""
    heads.only(c, "base")
    pooled, patch = c.size("pooling_kernel_size"), c.size("patch_size")
    side = isqrt(c.size_or("default_output_length", TOKENS)) * pooled * patch
    if not c.inside:
        c.notes.append(f"the class takes images of any size: counted for {side} × {side} pixels")
    width = c.size("head_dim")
    return {
        "d_model": c.size("hidden_size"),
        "heads": c.size("num_attention_heads"),
        "kv_heads": kv_heads(c),
        "head_dim": width,
        "attention": {"qk_norm": "head", "v_norm": {"over": "head", "affine": False}},
        "ffn": ffn(c, act="hidden_activation"),
        "norm": {"kind": "rms", "place": "sandwich", "final": False},
        "bias": False,
        "position": [axial_rope(c, width), {"kind": "learned", "per_side": c.size("position_embedding_size")}],
        "embedding": {"kind": "patches", "image": side, "patch": patch, "tokens": 0, "bias": False},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


def gemma4(c: Config) -> Fields:
    """The mean of a square of patches is a token: RMS norm without weights, then a projection without bias."""
    heads.only(c, "multimodal")
    text = whole.language(c)
    if c.given("audio_config"):
        c.left_out.append(AUDIO)
    if c.given("vision_config") is None:
        return text
    pooled = whole.said_inside(c, "vision_config", "pooling_kernel_size")
    if not is_size(pooled):
        raise c.wrong("vision_config", "a pooling_kernel_size above 0")
    vision = whole.inner(c, "vision_config")
    projector = [
        "map",
        {"pool": "average", "kernel": pooled**2},
        "sequence",
        {"norm": "rms", "affine": False},
        {"linear": text["d_model"], "bias": False},
    ]
    return whole.reading_images(vision, projector, text)
