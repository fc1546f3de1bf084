"""Pixio: ViT with several class tokens, and an FFN width given as a multiple of hidden_size."""

from archcalc.importers.hf._helpers import Config, Fields, activation, biased, heads, inert, vit_like, when

USUAL = "image"
INERT = {
    inert.NOT_HERE: "reshape_hidden_states",
    inert.FEATURES: "_out_features _out_indices out_features apply_layernorm",
}


def translate(c: Config) -> Fields:
    tokens, d_model = c.count("n_cls_tokens"), c.size("hidden_size")
    return vit_like.image_encoder(
        c,
        bias=biased(qkv=c.flag("qkv_bias"), o=True),
        ffn={"width": int(d_model * c.get("mlp_ratio")), "act": activation(c)},
        embedding=vit_like.patches(c, **when(tokens != 1, tokens=tokens)),
        head=heads.for_task(c, {"base": heads.none, "backbone": lambda: vit_like.backbone(c)}),
        spare=when(c.task == "backbone", norm_weight=[d_model], norm_bias=[d_model]),  # behind the model's final norm
    )
