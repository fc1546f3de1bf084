"""Vision encoders of multimodal models, and DINOv3."""

from archcalc.importers.hf._helpers import Config, Fields, activation, biased, ffn, heads, inert, rope, vit_like, when

USUAL = "base"
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


TYPES = {"dinov3_vit": _dinov3, "internvl_vision": _internvl, "qianfan_ocr_vision": _internvl}
