"""Vision encoders of multimodal models, and DINOv3."""

from math import lcm
from typing import Any

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Weights,
    activation,
    biased,
    divided,
    ffn,
    heads,
    inert,
    rope,
    vision,
    vit_like,
    when,
)
from archcalc.importers.hf._helpers.weights import Shape, Shapes

USUAL = "base"


def _flat(name: str, shape: Shape, named: Shapes) -> list[Shape] | None:
    """A table of positions by row and column, which archcalc has as rows behind each other."""
    if not name.endswith("pos_emb.position_embeddings"):
        return None
    return [(shape[0] * shape[1], shape[2])]


WEIGHTS = {"kimi_k25_vision": Weights(split=_flat)}
INERT = {
    "_dinov3": {
        inert.STARTING: "layerscale_value",
        inert.NOT_HERE: "reshape_hidden_states",
        inert.FEATURES: "_out_features _out_indices out_features out_indices apply_layernorm",
    },
    "_internvl": {inert.STARTING: "layer_scale_init_value"},
}


def _dinov3(c: Config) -> Fields:
    """DINOv3: RoPE on patches, separate switches for each bias, register tokens, layer scale."""
    heads.only(c, "base", "backbone")
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    bias = biased(q=c.flag("query_bias"), k=c.flag("key_bias"), v=c.flag("value_bias"), o=c.flag("proj_bias"))
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "attention": {"bias": bias},
        "ffn": {
            "width": c.size("intermediate_size"),
            "act": activation(c),
            "gated": c.flag("use_gated_mlp"),
            "bias": c.flag("mlp_bias"),
        },
        "layer_scale": True,
        **when(d_model // number % 2 == 0, position={"kind": "rope", "theta": float(c.get("rope_theta"))}),
        "embedding": vit_like.patches(c, registers=c.count("num_register_tokens"), mask=True),
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


def _internvl(c: Config) -> Fields:
    """Vision encoder of InternVL and Qianfan-OCR: a ViT with layer scale, with or without a final norm."""
    heads.only(c, "base")
    kind = {"layer_norm": "layer", "rms_norm": "rms"}.get(c.text("norm_type"))
    if kind is None or (kind == "rms" and not c.flag("use_mean_pooling")):
        raise c.refused("norm_type", "a final norm of another kind than the norm of the blocks is not supported")
    normed = when(c.flag("use_qk_norm"), qk_norm={"over": "all", "kind": "rms"})
    last = when(c.flag("use_mean_pooling"), final=False)
    return {
        "d_model": c.size("hidden_size"),
        "heads": c.size("num_attention_heads"),
        "attention": {"bias": biased(qkv=c.flag("attention_bias"), o=True), **normed},
        "ffn": vit_like.plain_ffn(c),
        "layer_scale": True,
        "norm": {"kind": kind, **last},
        **when(c.flag("use_absolute_position_embeddings"), position="learned"),
        "embedding": vit_like.patches(c, **when(c.flag("use_mask_token"), mask=True)),
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


def pixtral(c: Config) -> Fields:
    """Vision encoder of Pixtral: Llama blocks with 2-D RoPE over patches of images of any shape, without a
    final norm."""
    heads.only(c, "base")
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    c.skip("head_dim")
    c.notes.append("the class concatenates all images of a batch into one sequence; each image is counted separately")
    return {
        "d_model": d_model,
        "heads": number,
        "ffn": ffn(c),
        "norm": {"kind": "rms", "final": False},
        "bias": False,
        "position": rope(c, d_model // number),
        "embedding": vit_like.patches(c, tokens=0, bias=False, norm=True),
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


_OLDER = {
    "hidden_size": "vt_hidden_size",
    "intermediate_size": "vt_intermediate_size",
    "num_attention_heads": "vt_num_attention_heads",
    "num_hidden_layers": "vt_num_hidden_layers",
    "pos_emb_height": "init_pos_emb_height",
    "pos_emb_width": "init_pos_emb_width",
    "pos_emb_time": "init_pos_emb_time",
}


def kimi_k25_vision(c: Config) -> Fields:
    """MoonViT: pre-norm blocks, and positions by RoPE and by a table that is interpolated to the image."""
    heads.only(c, "base")
    for key, older in _OLDER.items():
        if c.given(older) not in (None, c.get(key)):
            raise c.refused(older, f"transformers reads {key}, and not this field of files for other code")
    d_model, number, sides = c.size("hidden_size"), c.size("num_attention_heads"), c.get("merge_kernel_size")
    patch, table = c.size("patch_size"), [c.size("pos_emb_height"), c.size("pos_emb_width")]
    side = vision.usual_image(c, patch * lcm(*sides))
    return {
        "d_model": d_model,
        "heads": number,
        "ffn": vit_like.plain_ffn(c),
        "position": [
            {"kind": "learned", "interpolated": table},
            vision.axial_rope(c, divided(c, d_model, number)),
        ],
        "embedding": {"kind": "patches", "image": side, "patch": patch, "tokens": 0},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


def llama4_vision_model(c: Config) -> Fields:
    """Vision tower of Llama 4: a norm before the blocks, RoPE by row and column beside a learned table, and an adapter
    behind them: pixel shuffle and two matrices. The class token, which stands behind the patches, stands in front."""
    heads.only(c, "base")
    d_model, number, ratio = c.size("hidden_size"), c.size("num_attention_heads"), c.get("pixel_shuffle_ratio")
    side, wide, out = round(1 / ratio), c.size("projector_input_dim"), c.size("projector_output_dim")
    widths = {"intermediate_size": d_model * side**2, "projector_input_dim": out, "vision_output_dim": out}
    for key, width in widths.items():
        if c.get(key) != width:
            raise c.refused(key, f"what comes in is {width} wide, so that this model can be built but not run")
    if c.size("image_size") // c.size("patch_size") % side:
        raise c.refused("pixel_shuffle_ratio", f"patches of an image cannot be merged {side} by {side}")
    c.skip("hidden_act", "multi_modal_projector_bias", "vision_feature_select_strategy", "projector_dropout")
    seen = {
        "d_model": d_model,
        "heads": number,
        "ffn": {"width": c.size("intermediate_size"), "act": "gelu"},
        "position": ["learned", vision.axial_rope(c, divided(c, d_model, number))],
        "embedding": vit_like.patches(c, bias=False, norm=True),
        "softmax": c.softmax,
        "encoder": c.size("num_hidden_layers"),
        "head": {"kind": "none", "pool": "patches"},
    }
    adapter: list[Any] = [{"merge": side**2}, {"linear": wide, "act": "gelu", "bias": False}]
    return vision.tower(*vision.image_of(seen), adapter=[*adapter, {"linear": out, "act": "gelu", "bias": False}])


def paddleocr_vl_vision(c: Config) -> Fields:
    """Vision tower of PaddleOCR-VL: SigLIP's blocks, RoPE by row and column, and a table that is interpolated."""
    heads.only(c, "base")
    c.skip("spatial_merge_size")  # of the projector behind it
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    table = {"kind": "learned", "interpolated": c.size("image_size") // c.size("patch_size")}
    return {
        "d_model": d_model,
        "heads": number,
        "ffn": vit_like.plain_ffn(c),
        "position": [table, vision.axial_rope(c, divided(c, d_model, number))],
        "embedding": vit_like.patches(c, tokens=0),
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


TYPES = {"dinov3_vit": _dinov3, "internvl_vision": _internvl, "qianfan_ocr_vision": _internvl}
