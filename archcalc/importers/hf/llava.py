"""LLaVA and its successors: a vision tower, two linear layers, and a language model that reads patches as tokens."""

from functools import partial
from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, activation, heads, inert, whole

USUAL = "multimodal"
INERT = {
    inert.NOT_HERE: "image_token_index video_token_index image_seq_length image_grid_pinpoints vision_aspect_ratio"
}


def _translate(c: Config, *, newline: bool = False) -> Fields:
    """`newline` is a learned vector, which stands behind each row of patches where an image is cut into tiles."""
    heads.only(c, "multimodal", "base")
    text, vision = whole.language(c), whole.inner(c, "vision_config")
    vision = whole.features(vision, patches_alone=c.text("vision_feature_select_strategy") == "default")
    if newline:
        text = {**text, "spare": {**text.get("spare", {}), "image_newline": [text["d_model"]]}}
    biased = {"bias": c.flag("multimodal_projector_bias")}
    first = {"linear": text["d_model"], "act": activation(c, "projector_hidden_act"), **biased}
    second = {"linear": text["d_model"], **biased}
    return whole.reading_images(vision, [*_side_by_side(c), first, second], text)


def _side_by_side(c: Config) -> list[Any]:
    """Features of several blocks; here all are those of the last one."""
    layers = c.get("vision_feature_layer")
    if not isinstance(layers, list) or len(layers) < 2:
        return []
    c.notes.append(f"features of {len(layers)} blocks side by side: those of the last one are counted so many times")
    return [{"concat": ["input"] * len(layers)}]


_WITH_TILES = partial(_translate, newline=True)
TYPES = {"llava": _translate, "llava_next": _WITH_TILES, "llava_onevision": _WITH_TILES}
