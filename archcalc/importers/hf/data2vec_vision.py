"""Vision encoder of data2vec: the same architecture as BEiT."""

from __future__ import annotations

from archcalc.importers.hf._helpers import beit_like, heads, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("data2vec-vision",)
USUAL = "image"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads",
    inert.STARTING: "layer_scale_init_value",
    inert.TRAINING: "auxiliary_loss_weight semantic_loss_ignore_index",
    inert.NOT_HERE: "use_mean_pooling",
    inert.FEATURES: "stage_names out_features out_indices",
    inert.SEGMENTING: ("pool_scales use_auxiliary_head auxiliary_channels auxiliary_num_convs auxiliary_concat_input"),
}


def translate(c: Config, task: str) -> Fields:
    table: heads.Table = {"base": heads.none, "image": lambda: beit_like.classes(c)}
    head_dim = c.size("hidden_size") // c.size("num_attention_heads")
    fields = beit_like.beit(c, final_norm=not c.flag("use_mean_pooling"), head_dim=head_dim)
    return {**fields, "head": heads.for_task(c, task, table)}
