"""Bamba: Mamba 2 layers with a few attention layers, and an FFN in every block."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder, ffn, head_dim, where_used
from archcalc.importers.hf._helpers.layer_types import FULL, LINEAR, full_where
from archcalc.importers.hf._helpers.mamba_layers import bamba_layer
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import rope

INERT = {
    inert.NO_SUCH_SIZE: "mamba_d_head attn_rotary_emb",
    inert.USUAL_LAYERS: "layers_block_type layer_types",
    inert.NOT_HERE: "partial_rotary_factor",
}
MIXERS = {FULL: "attention", LINEAR: "mamba"}


def translate(c: Config, task: str) -> Fields:
    attends = c.get("attn_layer_indices") or []
    mixers = [MIXERS[layer] for layer in full_where(c, lambda block: block in attends, LINEAR)]
    rotated = where_used(mixers, attention=lambda: rope(c, head_dim(c)))
    fields = decoder(
        c,
        task,
        **where_used(mixers, attention=lambda: {"bias": c.flag("attention_bias")}, mamba=lambda: bamba_layer(c)),
        ffn=ffn(c, bias=c.flag("mlp_bias")),
        position=rotated["attention"],
        decoder=stack([f"{mixer} ffn" for mixer in mixers]),
    )
    c.skip("max_position_embeddings", "rope_parameters", "attention_bias", "rope_theta")
    c.skip(*(key for key in c.said if key.startswith("mamba_")))
    return fields
