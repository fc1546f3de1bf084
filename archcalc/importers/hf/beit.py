"""BEiT: ViT with relative position bias and layer scale, pretrained to predict visual tokens of masked patches."""

from archcalc.importers.hf._helpers import Config, Fields, Value, beit_like, heads, inert, vit_like, when

USUAL = "image"
INERT = {
    inert.STARTING: "layer_scale_init_value",
    inert.TRAINING: "semantic_loss_ignore_index",
    inert.NOT_HERE: "reshape_hidden_states add_fpn vocab_size use_mean_pooling",
    inert.FEATURES: "_out_features _out_indices out_features",
    inert.SEGMENTING: "use_auxiliary_head",
}


def translate(c: Config) -> Fields:
    averaged = c.flag("use_mean_pooling")
    table: heads.Table = {
        "base": c.choose("use_mean_pooling", beit_like.averaged, heads.none),
        "image": lambda: beit_like.classes(c),
        "backbone": lambda: _backbone(c),
        "masked_image": lambda: heads.classifier(c.size("vocab_size"), pool="patches", **when(not averaged, norm=True)),
    }
    fields = beit_like.beit(c, final_norm=not averaged or c.task == "masked_image")
    return {**fields, "head": heads.for_task(c, table)}


def _backbone(c: Config) -> Value:
    """The backbone's patch features; the convolutions after them are not counted."""
    if c.flag("add_fpn"):
        raise c.refused("add_fpn")
    return vit_like.backbone(c)
