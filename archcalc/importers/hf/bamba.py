"""Bamba: Mamba 2 layers with a few attention layers, and an FFN in every block."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, head_dim, inert, mamba_layers, rope, where_used
from archcalc.importers.hf._helpers.patterns import stack

INERT = {
    inert.NO_SUCH_SIZE: "mamba_d_head attn_rotary_emb",
    inert.USUAL_LAYERS: "layers_block_type layer_types",
    inert.NOT_HERE: "partial_rotary_factor",
}


def translate(c: Config) -> Fields:
    attends = c.get("attn_layer_indices") or []
    words = {True: "attention", False: "mamba"}
    mixers = [words[block in attends] for block in range(c.size("num_hidden_layers"))]
    rotated = where_used(mixers, attention=lambda: rope(c, head_dim(c)))
    fields = decoder(
        c,
        **where_used(
            mixers, attention=lambda: {"bias": c.flag("attention_bias")}, mamba=lambda: mamba_layers.bamba_layer(c)
        ),
        ffn=ffn(c, bias=c.flag("mlp_bias")),
        position=rotated["attention"],
        decoder=stack([f"{mixer} ffn" for mixer in mixers]),
    )
    c.skip("max_position_embeddings", "rope_parameters", "attention_bias", "rope_theta")
    c.skip(*(key for key in c.said if key.startswith("mamba_")))
    return fields
