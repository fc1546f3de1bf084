"""OPT: learned positions offset by two rows, pre- or post-norm, an embedding that may be narrower than hidden_size."""

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder, when


def translate(c: Config) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    width = c.size_or("word_embed_proj_dim", d_model)
    pre, affine = c.flag("do_layer_norm_before"), c.flag("layer_norm_elementwise_affine")
    last = when(c.flag("_remove_final_layer_norm") and pre, final=False)
    norm = {"place": c.choose("do_layer_norm_before", "pre", "post"), **when(not affine, affine=False), **last}
    return decoder(
        c,
        kv_heads=number,
        head_dim=d_model // number,
        ffn={"width": c.size("ffn_dim"), "act": activation(c, "activation_function"), "gated": False},
        norm=norm,
        bias=c.flag("enable_bias"),
        position={"kind": "learned", "length": c.size("max_position_embeddings"), "offset": 2},
        embedding=when(width != d_model, width=width, project="tokens"),
    )
