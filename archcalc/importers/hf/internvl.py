"""Vision encoder of InternVL and Qianfan-OCR: a ViT with layer scale, with or without a final norm."""

from archcalc.importers.hf._helpers import Config, Fields, biased, heads, inert, vit_like, when

TYPES = ("internvl_vision", "qianfan_ocr_vision")
USUAL = "base"
INERT = {inert.STARTING: "layer_scale_init_value"}


def translate(c: Config) -> Fields:
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
