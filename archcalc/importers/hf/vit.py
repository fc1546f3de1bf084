"""ViT, DeiT (one token more), DINOv2 (scaled branches) and BEiT (relative positions)."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf import heads
from archcalc.importers.hf.blocks import Fields, biased
from archcalc.importers.hf.reading import Config
from archcalc.importers.hf.words import activation

TYPES = ("vit", "vit_msn", "deit", "dinov2", "dinov2_with_registers", "beit", "data2vec-vision")
USUAL = "image"
INERT = (
    "encoder_stride pooler_act num_key_value_heads stage_names _out_features _out_indices out_features"
    " out_indices apply_layernorm reshape_hidden_states pool_scales use_auxiliary_head auxiliary_loss_weight"
    " auxiliary_channels auxiliary_num_convs auxiliary_concat_input semantic_loss_ignore_index add_fpn vocab_size"
    " use_mean_pooling layer_scale_init_value layerscale_value"
)

_LIKE_DINO = ("dinov2", "dinov2_with_registers")
_LIKE_BEIT = ("beit", "data2vec-vision")


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    width = d_model // number
    if c.type != "data2vec-vision":
        width = c.size_or("head_dim", width)  # a key that no class declares, and all of these read
    biases = biased(qvo=True) if c.type in _LIKE_BEIT else biased(qkv=c.flag("qkv_bias"), o=True)
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": width,
        "attention": {"bias": biases} if biases is not True else None,
        "ffn": _ffn(c, d_model),
        "layer_scale": True if _scaled(c) else None,
        "norm": {"final": False} if _unpooled(c, task) else None,
        "position": _position(c),
        "embedding": _patches(c),
        "encoder": c.size("num_hidden_layers"),
        "head": _head(c, task),
    }


def _ffn(c: Config, d_model: int) -> Fields:
    act = activation(c)
    if c.type not in _LIKE_DINO:
        return {"width": c.size("intermediate_size"), "act": act}
    width = int(d_model * c.get("mlp_ratio"))
    if not c.flag("use_swiglu_ffn"):
        return {"width": width, "act": act}
    return {"width": (int(width * 2 / 3) + 7) // 8 * 8, "act": "silu", "gated": True}


def _scaled(c: Config) -> bool:
    return c.type in _LIKE_DINO or (c.type in _LIKE_BEIT and c.get("layer_scale_init_value") > 0)


def _unpooled(c: Config, task: str) -> bool:
    """Data2Vec's bare model has no pooler, and with it goes the norm that a mean is taken behind."""
    return c.flag("use_mean_pooling") and c.type == "data2vec-vision" and task == "base"


def _position(c: Config) -> Any:
    if c.type not in _LIKE_BEIT:
        return "learned"
    found: list[Any] = ["learned"] if c.flag("use_absolute_position_embeddings") else []
    found += [{"kind": "relative", "per": "block"}] if c.flag("use_relative_position_bias") else []
    found += [{"kind": "relative", "per": "stack"}] if c.flag("use_shared_relative_position_bias") else []
    return found or None


def _patches(c: Config) -> Fields:
    patch = _sides(c, "patch_size")
    image = [side // step * step for side, step in zip(_sides(c, "image_size"), patch, strict=True)]
    if image != _sides(c, "image_size"):
        c.notes.append("the image is no whole number of patches: what is left over at its edges is not read")
    mask = c.type == "dinov2_with_registers" or c.flag("use_mask_token")
    return {
        "kind": "patches",
        "image": image[0] if image[0] == image[1] else image,
        "patch": patch[0] if patch[0] == patch[1] else patch,
        "channels": c.size("num_channels"),
        **({"tokens": 2} if c.type == "deit" else {}),
        **({"registers": c.count("num_register_tokens")} if c.type == "dinov2_with_registers" else {}),
        **({"mask": True} if mask else {}),
    }


def _sides(c: Config, key: str) -> list[int]:
    said = c.get(key)
    sides = said if isinstance(said, list) else [said, said]
    if len(sides) != 2 or not all(isinstance(side, int) and side > 0 for side in sides):
        raise c.wrong(key, "a size, or a height and a width")
    return sides


def _head(c: Config, task: str) -> Any:
    pooled = c.type in ("vit", "deit")
    width = c.given("pooler_output_size") or c.size("hidden_size") if pooled else 0
    if task == "base":
        return {"kind": "none", "pooler": width if width != c.size("hidden_size") else True} if pooled else "none"
    if task != "image":
        raise heads.refuse(c, task)
    if heads.labels(c) == 0:
        return "none"
    pool = "both" if c.type in _LIKE_DINO else "mean" if c.flag("use_mean_pooling") else "class"
    return {"kind": "classifier", "classes": heads.labels(c), "bias": True, "pool": pool}
