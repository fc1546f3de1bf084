"""BEiT and Data2Vec: ViT with relative position bias, and perhaps a norm on the mean-pooled patches."""

from archcalc.importers.hf._helpers import Config, Fields, Value, biased, heads, inert, vit_like, when

_POSITIONS: Fields = {
    "use_absolute_position_embeddings": "learned",
    "use_relative_position_bias": {"kind": "relative", "per": "block"},
    "use_shared_relative_position_bias": {"kind": "relative", "per": "stack"},
}
USUAL = "image"
_IN_BOTH = {
    inert.STARTING: "layer_scale_init_value",
    inert.TRAINING: "semantic_loss_ignore_index",
    inert.SEGMENTING: "use_auxiliary_head",
}
INERT = {
    "beit": {
        **_IN_BOTH,
        inert.NOT_HERE: "reshape_hidden_states add_fpn vocab_size use_mean_pooling",
        inert.FEATURES: "_out_features _out_indices out_features",
    },
    "_data2vec_vision": {**_IN_BOTH, inert.NOT_HERE: "use_mean_pooling", inert.FEATURES: "out_features out_indices"},
}


def _beit(c: Config, *, final_norm: bool, **more: Value) -> Fields:
    mask = when(c.flag("use_mask_token"), mask=True)
    return vit_like.image_encoder(
        c,
        bias=biased(qvo=True),
        ffn=vit_like.plain_ffn(c),
        layer_scale=c.get("layer_scale_init_value") > 0 or None,
        norm=when(not final_norm, final=False),
        position=[position for key, position in _POSITIONS.items() if c.flag(key)] or None,
        embedding=vit_like.patches(c, **mask),
        **more,
    )


def _averaged() -> Fields:
    """The bare model, which mean-pools its patches and normalises the mean."""
    return {"kind": "none", "pool": "mean", "norm": True}


def _classes(c: Config) -> Value:
    """A classifier on the class token or on the mean; the norm of the mean exists even without classes."""
    if not c.flag("use_mean_pooling"):
        return vit_like.classes_of_image(c, "class")
    if not heads.labels(c):
        return _averaged()
    return vit_like.classes_of_image(c, "mean", norm=True)


def beit(c: Config) -> Fields:
    """BEiT: ViT with relative position bias and layer scale, pretrained to predict visual tokens of masked patches."""
    averaged = c.flag("use_mean_pooling")
    table: heads.Table = {
        "base": c.choose("use_mean_pooling", _averaged, heads.none),
        "image": lambda: _classes(c),
        "backbone": lambda: vit_like.backbone(c),
        "masked_image": lambda: heads.classifier(c.size("vocab_size"), pool="patches", **when(not averaged, norm=True)),
    }
    fields = _beit(c, final_norm=not averaged or c.task == "masked_image")
    if c.task == "backbone" and c.flag("add_fpn"):  # convolutions behind the patch features
        raise c.refused("add_fpn")
    return {**fields, "head": heads.for_task(c, table)}


def _data2vec_vision(c: Config) -> Fields:
    """Vision encoder of data2vec: the same architecture as BEiT."""
    table: heads.Table = {"base": heads.none, "image": lambda: _classes(c)}
    head_dim = c.size("hidden_size") // c.size("num_attention_heads")
    fields = _beit(c, final_norm=not c.flag("use_mean_pooling"), head_dim=head_dim)
    return {**fields, "head": heads.for_task(c, table)}


TYPES = {"data2vec-vision": _data2vec_vision}
