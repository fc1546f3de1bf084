"""DINOv3: RoPE on patches, separate switches for each bias, register tokens, layer scale."""

from archcalc.importers.hf._helpers import Config, Fields, activation, biased, heads, inert, vit_like, when

TYPES = ("dinov3_vit",)
USUAL = "base"
INERT = {
    inert.STARTING: "layerscale_value",
    inert.NOT_HERE: "reshape_hidden_states",
    inert.FEATURES: "_out_features _out_indices out_features out_indices apply_layernorm",
}


def translate(c: Config) -> Fields:
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
