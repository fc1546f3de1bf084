"""DINOv2's encoder: a ViT with layer scale and an optional gated FFN."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, activation, biased, heads, inert, vit_like

DINO_INERT = {
    inert.STARTING: "layerscale_value",
    inert.NOT_HERE: "reshape_hidden_states",
    inert.FEATURES: "_out_features _out_indices out_features apply_layernorm",
}


def dino_like(c: Config, embedding: Fields) -> Fields:
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
        embedding=embedding,
        head=heads.for_task(c, table),
    )


def _ffn(c: Config) -> Fields:
    """A gated FFN has two thirds of the width, rounded up to a multiple of eight."""
    width, act = int(c.size("hidden_size") * c.get("mlp_ratio")), activation(c)
    if not c.flag("use_swiglu_ffn"):
        return {"width": width, "act": act}
    return {"width": (int(width * 2 / 3) + 7) // 8 * 8, "act": "silu", "gated": True}
