"""InternVL's eye, and Qianfan-OCR's: a ViT with scaled branches, without a last norm where patches are averaged."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, biased
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation
from archcalc.importers.hf.vit import patches

TYPES = ("internvl_vision", "qianfan_ocr_vision")
USUAL = "base"
INERT = "head_dim num_key_value_heads layer_scale_init_value"


def translate(c: Config, task: str) -> Fields:
    if task != "base":
        raise heads.refuse(c, task)
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    kind = {"layer_norm": "layer", "rms_norm": "rms"}.get(c.text("norm_type"))
    if kind is None or (kind == "rms" and not c.flag("use_mean_pooling")):
        raise c.refused("norm_type", "a last norm of another kind than the blocks' is not counted")
    normed = {"qk_norm": {"over": "all", "kind": "rms"}} if c.flag("use_qk_norm") else {}
    return {
        "d_model": d_model,
        "heads": number,
        "attention": {"bias": biased(qkv=c.flag("attention_bias"), o=True), **normed},
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c)},
        "layer_scale": True,
        "norm": {"kind": kind, **({"final": False} if c.flag("use_mean_pooling") else {})},
        "position": "learned" if c.flag("use_absolute_position_embeddings") else None,
        "embedding": {**patches(c), **({"mask": True} if c.flag("use_mask_token") else {})},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }
