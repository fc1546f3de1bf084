"""Pixio: ViT with several class tokens, and an FFN width given as a multiple of hidden_size."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import biased
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.vit_like import backbone, image_encoder, patches
from archcalc.importers.hf._helpers.words import activation

USUAL = "image"
INERT = {
    inert.NOT_HERE: "reshape_hidden_states",
    inert.FEATURES: "_out_features _out_indices out_features apply_layernorm",
}


def translate(c: Config, task: str) -> Fields:
    tokens, d_model = c.count("n_cls_tokens"), c.size("hidden_size")
    several = {"tokens": tokens} if tokens != 1 else {}
    return image_encoder(
        c,
        bias=biased(qkv=c.flag("qkv_bias"), o=True),
        ffn={"width": int(d_model * c.get("mlp_ratio")), "act": activation(c)},
        embedding=patches(c, **several),
        head=heads.for_task(c, task, {"base": heads.none, "backbone": lambda: backbone(c)}),
        spare=_second_norm(d_model) if task == "backbone" else None,
    )


def _second_norm(d_model: int) -> Fields:
    """The backbone has another norm after the model's final norm."""
    return {"norm_weight": [d_model], "norm_bias": [d_model]}
