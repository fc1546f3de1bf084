"""BEiT: ViT with relative position bias and layer scale, pretrained to predict visual tokens of masked patches."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import beit_like, heads, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.vit_like import backbone

TYPES = ("beit",)
USUAL = "image"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads",
    inert.STARTING: "layer_scale_init_value",
    inert.TRAINING: "auxiliary_loss_weight semantic_loss_ignore_index",
    inert.NOT_HERE: "reshape_hidden_states add_fpn vocab_size use_mean_pooling",
    inert.FEATURES: "stage_names _out_features _out_indices out_features",
    inert.SEGMENTING: ("pool_scales use_auxiliary_head auxiliary_channels auxiliary_num_convs auxiliary_concat_input"),
}


def translate(c: Config, task: str) -> Fields:
    averaged = c.flag("use_mean_pooling")
    table: heads.Table = {
        "base": lambda: beit_like.averaged() if averaged else "none",
        "image": lambda: beit_like.classes(c),
        "backbone": lambda: _backbone(c),
        "masked_image": lambda: _visual_words(c),
    }
    fields = beit_like.beit(c, final_norm=not averaged or task == "masked_image")
    return {**fields, "head": heads.for_task(c, task, table)}


def _visual_words(c: Config) -> Fields:
    """The masked-image head: a visual token of the vocabulary for each patch."""
    normed = {} if c.flag("use_mean_pooling") else {"norm": True}
    return heads.classifier(c.size("vocab_size"), pool="patches", **normed)


def _backbone(c: Config) -> Any:
    """The backbone's patch features; the convolutions after them are not counted."""
    if c.flag("add_fpn"):
        raise c.refused("add_fpn")
    return backbone(c)
