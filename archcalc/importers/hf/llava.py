"""LLaVA and its successors: a vision tower, two linear layers, and a language model that reads patches as tokens."""

from functools import partial
from math import prod
from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, activation, heads, inert, whole
from archcalc.importers.hf._helpers.vision import image_of

USUAL = "multimodal"
INERT = {
    inert.NOT_HERE: "image_token_index video_token_index image_seq_length image_grid_pinpoints vision_aspect_ratio"
}


def _translate(c: Config, *, newline: bool = False) -> Fields:
    """`newline` is a learned vector, which stands behind each row of patches where an image is cut into tiles."""
    heads.only(c, "multimodal", "base")
    text, seen = whole.language(c), whole.inner(c, "vision_config")
    if newline:
        text = {**text, "spare": {**text.get("spare", {}), "image_newline": [text["d_model"]]}}
    biased = {"bias": c.flag("multimodal_projector_bias")}
    first = {"linear": text["d_model"], "act": activation(c, "projector_hidden_act"), **biased}
    second = {"linear": text["d_model"], **biased}
    vision, chosen = _chosen(c, seen, is_laid_out=newline)
    return whole.reading_images(vision, [*chosen, *_side_by_side(c), first, second], text)


def _chosen(c: Config, seen: Fields, *, is_laid_out: bool) -> tuple[Fields, list[Any]]:
    """All positions, or all but the first one: the class token, or a patch where there is none. Positions that are laid
    out in rows and columns, or come from images of any size, must be all patches."""
    leaves_first = c.text("vision_feature_select_strategy") == "default"
    has_token = bool(_in_front(seen))
    if is_laid_out or seen["position"] != "learned":
        if leaves_first != has_token:
            c.notes.append(
                "vision_feature_select_strategy does not choose the patches, so that this model can be built but not"
                " run on such images: counted as if it did"
            )
        return whole.features(seen, patches_alone=True), []
    vision = whole.features(seen, patches_alone=leaves_first)
    return vision, _without_first(vision) if leaves_first and not has_token else []


def _without_first(vision: Fields) -> list[Any]:
    (_, *sides), patch = image_of(vision)[1], vision["embedding"]["patch"]
    number = prod(side // patch for side in sides)
    return ["transpose", {"slice": [1, number]}, "transpose"]


def _in_front(vision: Fields) -> int:
    number: int = vision["embedding"].get("tokens", 1)
    return number


def _side_by_side(c: Config) -> list[Any]:
    """Features of several blocks; here all are those of the last one."""
    layers = c.get("vision_feature_layer")
    if not isinstance(layers, list) or len(layers) < 2:
        return []
    c.notes.append(f"features of {len(layers)} blocks side by side: those of the last one are counted so many times")
    return [{"concat": ["input"] * len(layers)}]


_WITH_TILES = partial(_translate, newline=True)
TYPES = {"llava": _translate, "llava_next": _WITH_TILES, "llava_onevision": _WITH_TILES}
