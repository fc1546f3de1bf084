"""ViT, DeiT (one token more), I-JEPA (none), DINOv2 (scaled branches), BEiT (relative positions), and their heirs."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, biased
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = (
    *("vit", "vit_msn", "vit_mae", "ijepa", "deit", "pixio", "beit", "data2vec-vision"),
    *("dinov2", "dinov2_with_registers", "tipsv2_vision_model"),
)
USUAL = "image"
INERT = (
    "encoder_stride pooler_act num_key_value_heads stage_names _out_features _out_indices out_features"
    " out_indices apply_layernorm reshape_hidden_states pool_scales use_auxiliary_head auxiliary_loss_weight"
    " auxiliary_channels auxiliary_num_convs auxiliary_concat_input semantic_loss_ignore_index add_fpn vocab_size"
    " use_mean_pooling layer_scale_init_value layerscale_value"
)

_LIKE_DINO = ("dinov2", "dinov2_with_registers", "tipsv2_vision_model")
_WITH_REGISTERS = ("dinov2_with_registers", "tipsv2_vision_model")
_LIKE_BEIT = ("beit", "data2vec-vision")


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    width = d_model // number
    if c.type != "data2vec-vision":
        width = c.size_or("head_dim", width)  # a key that no class declares, and all of these read
    biases = biased(qvo=True) if c.type in _LIKE_BEIT else biased(qkv=c.flag("qkv_bias"), o=True)
    if c.type == "vit_mae" and task == "base":
        c.skip(*(key for key in c.defaults if key.startswith("decoder_")), "norm_pix_loss", "mask_ratio")
        c.notes.append("a share of the patches (mask_ratio) is hidden, and not computed: counted as if all were seen")
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": width,
        "attention": {"bias": biases} if biases is not True else None,
        "ffn": _ffn(c, d_model),
        "layer_scale": True if _scaled(c) else None,
        "norm": {"final": False} if _unnormed(c, task) else None,
        "position": _position(c),
        "embedding": _patches(c, task),
        "encoder": c.size("num_hidden_layers"),
        "head": _head(c, task),
        **_spare(c, task, d_model),
    }


def _spare(c: Config, task: str, d_model: int) -> Fields:
    """Pixio's backbone has a norm of its own behind the model's."""
    if c.type != "pixio" or task != "backbone":
        return {}
    return {"spare": {"norm_weight": [d_model], "norm_bias": [d_model]}}


def _ffn(c: Config, d_model: int) -> Fields:
    act = activation(c)
    if c.type not in (*_LIKE_DINO, "pixio"):
        return {"width": c.size("intermediate_size"), "act": act}
    width = int(d_model * c.get("mlp_ratio"))
    if not c.flag("use_swiglu_ffn"):
        return {"width": width, "act": act}
    return {"width": (int(width * 2 / 3) + 7) // 8 * 8, "act": "silu", "gated": True}


def _scaled(c: Config) -> bool:
    return c.type in _LIKE_DINO or (c.type in _LIKE_BEIT and c.get("layer_scale_init_value") > 0)


def _unnormed(c: Config, task: str) -> bool:
    """Of a mean the norm stands behind it, or nowhere."""
    return c.flag("use_mean_pooling") and task in ("backbone", "image", "base")


def _position(c: Config) -> Any:
    if c.type not in _LIKE_BEIT:
        return "learned"
    found: list[Any] = ["learned"] if c.flag("use_absolute_position_embeddings") else []
    found += [{"kind": "relative", "per": "block"}] if c.flag("use_relative_position_bias") else []
    found += [{"kind": "relative", "per": "stack"}] if c.flag("use_shared_relative_position_bias") else []
    return found or None


def patches(c: Config) -> Fields:
    """An image, cut into patches; where it does not divide, the classes leave out the rest."""
    patch = _sides(c, "patch_size")
    image = [side // step * step for side, step in zip(_sides(c, "image_size"), patch, strict=True)]
    if image != _sides(c, "image_size"):
        c.notes.append("the image is no whole number of patches: what is left over at its edges is not read")
    return {
        "kind": "patches",
        "image": image[0] if image[0] == image[1] else image,
        "patch": patch[0] if patch[0] == patch[1] else patch,
        "channels": c.size("num_channels"),
    }


def _patches(c: Config, task: str) -> Fields:
    hides = task == "masked_image" and c.type in ("vit", "deit")
    mask = hides or c.type in _WITH_REGISTERS or c.flag("use_mask_token")
    tokens = c.count("n_cls_tokens") if c.type == "pixio" else {"deit": 2, "ijepa": 0}.get(c.type, 1)
    return {
        **patches(c),
        **({"tokens": tokens} if tokens != 1 else {}),
        **({"registers": c.count("num_register_tokens")} if c.type in _WITH_REGISTERS else {}),
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
    c.skip("pooler_output_size")
    width = c.given("pooler_output_size") or c.size("hidden_size") if pooled else 0
    averaged = {"kind": "none", "pool": "mean", "norm": True} if c.flag("use_mean_pooling") else None
    if task == "base":
        if c.type == "beit" and averaged:
            return averaged
        return {"kind": "none", "pooler": width if width != c.size("hidden_size") else True} if pooled else "none"
    if task == "backbone":
        return _backbone(c)
    if task == "masked_image":
        return _hidden_patches(c)
    if task not in ("image", "teacher"):
        raise heads.refuse(c, task)
    if heads.labels(c) == 0:
        return averaged or "none"
    mean = c.flag("use_mean_pooling") or c.type == "ijepa"
    pool = "both" if c.type in _LIKE_DINO else "mean" if mean else "class"
    behind = {"norm": True} if c.flag("use_mean_pooling") else {}
    one = {"kind": "classifier", "classes": heads.labels(c), "bias": True, "pool": pool, **behind}
    return {**one, "beside": {**one, "pool": "second"}} if task == "teacher" else one


def _hidden_patches(c: Config) -> Fields:
    """Of every patch its pixels, or as BEiT has it, which of so many visual words it is."""
    every: Fields = {"kind": "classifier", "bias": True, "pool": "patches"}
    if c.type != "beit":
        return {**every, "classes": c.size("encoder_stride") ** 2 * c.size("num_channels")}
    return {**every, "classes": c.size("vocab_size"), **({} if c.flag("use_mean_pooling") else {"norm": True})}


def _backbone(c: Config) -> Any:
    """The patches' last features; BEiT may put convolutions behind them, which are not counted."""
    if c.flag("add_fpn"):
        raise c.refused("add_fpn")
    return {"kind": "none", "pool": "patches"} if c.flag("reshape_hidden_states") else "none"
