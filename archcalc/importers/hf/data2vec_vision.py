"""Vision encoder of data2vec: the same architecture as BEiT."""

from archcalc.importers.hf._helpers import Config, Fields, beit_like, heads, inert

TYPES = ("data2vec-vision",)
USUAL = "image"
INERT = {
    inert.STARTING: "layer_scale_init_value",
    inert.TRAINING: "semantic_loss_ignore_index",
    inert.NOT_HERE: "use_mean_pooling",
    inert.FEATURES: "out_features out_indices",
    inert.SEGMENTING: "use_auxiliary_head",
}


def translate(c: Config) -> Fields:
    table: heads.Table = {"base": heads.none, "image": lambda: beit_like.classes(c)}
    head_dim = c.size("hidden_size") // c.size("num_attention_heads")
    fields = beit_like.beit(c, final_norm=not c.flag("use_mean_pooling"), head_dim=head_dim)
    return {**fields, "head": heads.for_task(c, table)}
