"""BEiT's encoder: relative position bias, optional layer scale, a norm on the mean-pooled patches as the final norm."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, biased, heads, vit_like, when

_POSITIONS: Fields = {
    "use_absolute_position_embeddings": "learned",
    "use_relative_position_bias": {"kind": "relative", "per": "block"},
    "use_shared_relative_position_bias": {"kind": "relative", "per": "stack"},
}


def beit(c: Config, *, final_norm: bool, **more: Value) -> Fields:
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


def averaged() -> Fields:
    """The bare model, which mean-pools its patches and normalises the mean."""
    return {"kind": "none", "pool": "mean", "norm": True}


def classes(c: Config) -> Value:
    """A classifier on the class token or on the mean; the norm of the mean exists even without classes."""
    if not c.flag("use_mean_pooling"):
        return vit_like.classes_of_image(c, "class")
    if not heads.labels(c):
        return averaged()
    return vit_like.classes_of_image(c, "mean", norm=True)
