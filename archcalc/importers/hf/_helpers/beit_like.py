"""BEiT's encoder: relative position bias, optional layer scale, a norm on the mean-pooled patches as the final norm."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import biased
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.vit_like import classes_of_image, image_encoder, patches, plain_ffn


def beit(c: Config, *, final_norm: bool, **more: Any) -> Fields:
    mask = {"mask": True} if c.flag("use_mask_token") else {}
    scaled = True if c.get("layer_scale_init_value") > 0 else None
    return image_encoder(
        c,
        bias=biased(qvo=True),
        ffn=plain_ffn(c),
        layer_scale=scaled,
        norm=None if final_norm else {"final": False},
        position=_position(c),
        embedding=patches(c, **mask),
        **more,
    )


def _position(c: Config) -> Any:
    found: list[Any] = ["learned"] if c.flag("use_absolute_position_embeddings") else []
    found += [{"kind": "relative", "per": "block"}] if c.flag("use_relative_position_bias") else []
    found += [{"kind": "relative", "per": "stack"}] if c.flag("use_shared_relative_position_bias") else []
    return found or None


def averaged() -> Fields:
    """The bare model, which mean-pools its patches and normalises the mean."""
    return {"kind": "none", "pool": "mean", "norm": True}


def classes(c: Config) -> Any:
    """A classifier on the class token or on the mean; the norm of the mean exists even without classes."""
    if not c.flag("use_mean_pooling"):
        return classes_of_image(c, "class")
    found = classes_of_image(c, "mean", norm=True)
    return averaged() if found == "none" else found
