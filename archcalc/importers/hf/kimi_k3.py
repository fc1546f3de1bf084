"""Kimi K3: MoonViT with RMS norms and without biases, a merger whose norm comes last, Kimi Linear with wider gates."""

from math import lcm
from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, activation, divided, heads, inert, vision, whole

USUAL = {"kimi_k3_vision": "base", "kimi_k3": "multimodal"}
INERT = {
    "kimi_k3_vision": {
        inert.RUNNING: "pos_emb_interpolation_mode pos_emb_type init_pos_emb_time "
        "projector_ln_eps projector_hidden_act",
        inert.NOT_HERE: "mm_projector_type text_hidden_size mm_hidden_size merge_type",
    },
    "kimi_k3": {inert.TOKENS: "ignore_index image_placeholder media_placeholder_token_id"},
}
_NORMS = {"rmsnorm": "rms", "layernorm": "layer"}


def kimi_k3_vision(c: Config) -> Fields:
    """Heads may be wider than their share of the model. Source: vLLM, model_executor/models/kimi_k25_vit.py."""
    heads.only(c, "base")
    if c.text("mlp_type") != "mlp2" or c.text("norm_type") not in _NORMS:
        raise c.refused("norm_type", "archcalc reads rmsnorm or layernorm, and blocks of mlp_type mlp2")
    d_model, number = c.size("vt_hidden_size"), c.size("vt_num_attention_heads")
    width = divided(c, c.size_or("qkv_hidden_size", d_model), number, "vt_num_attention_heads")
    patch, sides = c.size("patch_size"), c.get("merge_kernel_size")
    table = [c.size("init_pos_emb_height"), c.size("init_pos_emb_width")]
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": width,
        "attention": {"bias": c.flag("attn_bias")},
        "ffn": {
            "width": c.size("vt_intermediate_size"),
            "act": activation(c, "activation_func"),
            "bias": c.flag("linear_bias"),
        },
        "norm": _NORMS[c.text("norm_type")],
        "position": [{"kind": "learned", "interpolated": table}, vision.axial_rope(c, width)],
        "embedding": {
            "kind": "patches",
            "image": vision.usual_image(c, patch * lcm(*sides)),
            "patch": patch,
            "tokens": 0,
            "bias": c.flag("patch_embed_proj_bias"),
        },
        "encoder": c.size("vt_num_hidden_layers"),
        "head": "none",
    }


def kimi_k3(c: Config) -> Fields:
    """The merger by its name: its norm is the last of it, or the first."""
    heads.only(c, "multimodal", "base")
    said: dict[str, Any] = c.given("text_config") or {}
    text = whole.text_alone(c, {**said, "model_type": "kimi_linear"})
    seen = whole.inner(c, "vision_config")
    sides = whole.said_inside(c, "vision_config", "merge_kernel_size")
    merged, wide = sides[0] * sides[1], seen["d_model"]
    if whole.said_inside(c, "vision_config", "mm_projector_type") != "patchmergerv2":
        return whole.reading_images(seen, vision.merger(wide, merged, text["d_model"]), text)
    two: list[Any] = [
        {"linear": merged * wide, "act": "gelu", "bias": False},
        {"linear": text["d_model"], "bias": False, "norm": "rms"},
    ]
    return whole.reading_images(seen, [{"merge": merged}, *two], text)
