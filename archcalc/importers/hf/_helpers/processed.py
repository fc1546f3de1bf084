"""The image processor of a whole model: its rule is data of the model type, its sizes follow from the config.

`presets/hf/images.json` has the rules, as the processors' classes and the files beside published weights say them.
"""

from __future__ import annotations

import json
from functools import cache
from math import isqrt, prod
from typing import Any

from archcalc.archs.parts.inputs import USUAL_IMAGE
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.vision import IMAGES
from archcalc.importers.hf._helpers.whole import said_inside
from archcalc.spec.images import Images
from archcalc.spec.paths import data_root
from archcalc.spec.reading import read_node

_ABOUT = ("source", "tiles", "patches", "tokens", "towers")  # what the spec's rule does not say itself
CLIP = 3  # sides of what comes in, where patches hold several frames


@cache
def known() -> dict[str, Fields]:
    found: dict[str, Fields] = json.loads((data_root() / "hf" / "images.json").read_text(encoding="utf-8"))
    return found


def processed(c: Config, fields: Fields) -> Fields:
    """A model of several parts whose images are what its processor makes of them."""
    shape = fields.get("inputs", {}).get(IMAGES)
    if c.type not in known() or not isinstance(shape, list):
        return fields
    about = _about(c)
    sizes = _SIZES[about["kind"]]
    if sizes in (_in_tiles, _listed, _split) and shape[-1] != shape[-2]:
        c.notes.append("images are taken to be as large as vision_config says: tiles of processors are squares")
        return fields
    rule = {key: value for key, value in about.items() if key not in _ABOUT} | sizes(c, about, fields["parts"], shape)
    if (rows := _rows(fields["parts"])) and max(_grid(rule, fields["parts"])) > rows:
        c.notes.append(
            f"the table of positions has {rows} rows, too few for what the image processor makes of an image"
        )
        return fields
    return {**fields, "inputs": {**fields["inputs"], IMAGES: {"shape": shape, "processor": rule}}}


def _rows(parts: Fields) -> int:
    """Of a table of rows and columns of patches; 0 where there is none."""
    said = parts["vision"].get("position")
    return next((one["per_side"] for one in said if "per_side" in one), 0) if isinstance(said, list) else 0


def _grid(rule: Fields, parts: Fields) -> tuple[int, int]:
    """Patches on both sides of a usual image."""
    (picture,) = read_node(Images, rule).seen(*USUAL_IMAGE).pictures
    return picture.height // _patch(parts), picture.width // _patch(parts)


def _about(c: Config) -> Fields:
    """The rule of the type, or of its models with a certain vision tower."""
    about: Fields = known()[c.type]
    said = c.given("vision_config")
    tower = said.get("model_type", "") if isinstance(said, dict) else ""
    found: Fields = about.get("towers", {}).get(tower, about)
    return found


def _in_steps(c: Config, about: Fields, parts: Fields, shape: list[int]) -> Fields:
    clip = when(about.get("narrow") == "floor" and len(shape) > CLIP, frames=shape[1])
    return {"step": _patch(parts) * _side(parts), **clip}


def _padded(c: Config, about: Fields, parts: Fields, shape: list[int]) -> Fields:
    patch = _patch(parts)
    return {"step": patch * _side(parts), "patch": patch, "longest": about["patches"] * patch}


def _bounded(c: Config, about: Fields, parts: Fields, shape: list[int]) -> Fields:
    return {**_in_steps(c, about, parts, shape), "longest": _said_side(c)}


def _said_side(c: Config) -> int:
    """Of an image, by the vision config, before it is rounded to patches."""
    said = said_inside(c, "vision_config", "image_size")
    side: int = said[-1] if isinstance(said, list) else said
    return side


def _filled(c: Config, about: Fields, parts: Fields, shape: list[int]) -> Fields:
    """As many pixels as the tokens of an image stand for."""
    step: int = _patch(parts) * _side(parts)
    tokens: int = c.size_or("vision_soft_tokens_per_image", about["tokens"])
    return {"step": step, "most": tokens * step**2}


def _in_tiles(c: Config, about: Fields, parts: Fields, shape: list[int]) -> Fields:
    """Every picture has the size that the tower takes, of which it sees whole patches."""
    said, side, patch, tower = _said_side(c), shape[-1], _patch(parts), parts["vision"]
    in_front = 0 if _of_patches_alone(tower) else tower["embedding"].get("tokens", 1)
    vectors = (side // patch // _side(parts)) ** 2 + in_front - _left_out(parts)
    if said // patch * patch != side:  # counted for another size, which can be merged
        return {"size": side, "vectors": vectors}
    return {"size": said, **when(said % patch, patch=patch), "vectors": vectors}


def _left_out(parts: Fields) -> int:
    """Positions in front that the projector's first layers cut off."""
    layers = parts.get("projector", {}).get("layers", ())
    return next((layer["slice"][0] for layer in layers if isinstance(layer, dict) and "slice" in layer), 0)


def _listed(c: Config, about: Fields, parts: Fields, shape: list[int]) -> Fields:
    """The sizes of the file, or else of the class; how many tiles' vectors an image may have stands in a word."""
    sizes = c.given("image_grid_pinpoints") or about["sizes"]
    found = {**_in_tiles(c, about, parts, shape), "sizes": sizes}
    most = str(c.given("vision_aspect_ratio") or "").removeprefix("anyres_max_")
    return {**found, "most": int(most)} if most.isdecimal() else found


def _split(c: Config, about: Fields, parts: Fields, shape: list[int]) -> Fields:
    found = _in_tiles(c, about, parts, shape)
    return {**found, "longest": about["tiles"] * found["size"]}


_SIZES: dict[str, Any] = {
    "multiples": _in_steps,
    "padded": _padded,
    "bounded": _bounded,
    "filled": _filled,
    "listed": _listed,
    "split": _split,
    **dict.fromkeys(("fixed", "ratio", "canvas"), _in_tiles),
}


def _of_patches_alone(tower: Fields) -> bool:
    head = tower.get("head")
    return isinstance(head, dict) and head.get("pool") == "patches"


def _patch(parts: Fields) -> int:
    patch: int | list[int] = parts["vision"].get("embedding", {}).get("patch", 1)
    return patch if isinstance(patch, int) else patch[0]


def _side(parts: Fields) -> int:
    """How many patches are merged along each side, by all lists of layers behind the tower."""
    return isqrt(prod(_merged(part.get("layers", ())) for part in parts.values()))


def _product(said: int | list[int]) -> int:
    return prod(said) if isinstance(said, list) else said


def _merged(layers: Any) -> int:
    """By one list; of branches that are added up all merge as the first one does."""
    found = sides = 1
    for layer in layers:
        if isinstance(layer, dict):
            sides = len(layer.get("map", range(sides)))  # of what is pooled
            pooled = layer["kernel"] ** sides if "pool" in layer else 1
            found *= _product(layer.get("merge", pooled)) * _merged(layer.get("add", [()])[0])
    return found
