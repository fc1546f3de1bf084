"""Pixio: ViT with several class tokens, and an FFN width given as a multiple of hidden_size."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import biased
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.vit_like import backbone, image_encoder, patches
from archcalc.importers.hf._helpers.words import activation

USUAL = "image"
INERT = {
    inert.NOT_HERE: "reshape_hidden_states",
    inert.FEATURES: "_out_features _out_indices out_features apply_layernorm",
}


def translate(c: Config, task: str) -> Fields:
    tokens, d_model = c.count("n_cls_tokens"), c.size("hidden_size")
    return image_encoder(
        c,
        bias=biased(qkv=c.flag("qkv_bias"), o=True),
        ffn={"width": int(d_model * c.get("mlp_ratio")), "act": activation(c)},
        embedding=patches(c, **when(tokens != 1, tokens=tokens)),
        head=heads.for_task(c, task, {"base": heads.none, "backbone": lambda: backbone(c)}),
        spare=when(task == "backbone", norm_weight=[d_model], norm_bias=[d_model]),  # behind the model's final norm
    )
