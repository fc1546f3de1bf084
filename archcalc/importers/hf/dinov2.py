"""DINOv2, and the vision encoder of TIPS v2: a ViT with layer scale, perhaps a gated FFN, and registers.

Its classifier takes the class token and the mean of the patches; register tokens are dropped from the output.
"""

from archcalc.importers.hf._helpers import Config, Fields, activation, biased, heads, inert, vit_like, when

TYPES: dict[str, Fields] = {
    "dinov2": {},
    "dinov2_with_registers": {"registers": True},
    "tipsv2_vision_model": {"registers": True},
}
USUAL = "image"
INERT = {
    inert.STARTING: "layerscale_value",
    inert.NOT_HERE: "reshape_hidden_states",
    inert.FEATURES: "_out_features _out_indices out_features apply_layernorm",
}


def translate(c: Config, *, registers: bool = False) -> Fields:
    extra = when(c.flag("use_mask_token"), mask=True)
    if registers:
        extra = {"registers": c.count("num_register_tokens"), "mask": True}
    table: heads.Table = {
        "base": heads.none,
        "image": lambda: vit_like.classes_of_image(c, "both"),
        "backbone": lambda: vit_like.backbone(c),
    }
    return vit_like.image_encoder(
        c,
        bias=biased(qkv=c.flag("qkv_bias"), o=True),
        ffn=_ffn(c),
        layer_scale=True,
        embedding=vit_like.patches(c, **extra),
        head=heads.for_task(c, table),
    )


def _ffn(c: Config) -> Fields:
    """A gated FFN has two thirds of the width, rounded up to a multiple of eight."""
    width, act = int(c.size("hidden_size") * c.get("mlp_ratio")), activation(c)
    if not c.flag("use_swiglu_ffn"):
        return {"width": width, "act": act}
    return {"width": (int(width * 2 / 3) + 7) // 8 * 8, "act": "silu", "gated": True}
