"""Convolutional classes as networks written layer by layer: the image, stages of blocks, and the end of each task."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, heads, inert, sides
from archcalc.importers.hf._helpers.dropout import fraction
from archcalc.importers.hf._helpers.words import is_size

Items = list[Value]

USUAL_IMAGE = 224  # of ImageNet's classifiers
POOLED: Items = [{"pool": "average", "to": 1}]
NORMED = {"bias": False, "norm": "batch"}  # a convolution with a batch norm behind it
FEATURES = {inert.FEATURES: "stage_names out_features out_indices _out_features _out_indices"}
MOST_BLOCKS = 10_000  # a translator lists them one by one
_OWN_WORD = ("relu6", "mish", "hardswish")  # activations that networks have beyond those of Transformers


def network(c: Config, layers: Items, *, blocks: Fields, **defaults: Fields) -> Fields:
    """`blocks` are those that `layers` may call, `defaults` the fields that all layers of a kind have."""
    called = {item["block"] for item in layers if isinstance(item, dict) and "block" in item}
    used = {name: block for name, block in blocks.items() if name in called}
    loss = "none"
    if c.task == "image" and heads.labels(c):
        loss = "cross_entropy"
    fields = {
        "family": "network",
        "input": [c.size("num_channels"), *image(c)],
        "loss": loss,
        "defaults": defaults,
        "blocks": used,
        "layers": layers,
    }
    return {key: value for key, value in fields.items() if value != {}}


def image(c: Config) -> list[int]:
    """Height and width; classes without that field take an image of any size."""
    said = c.given("image_size")
    if said is None:
        usual = f"{USUAL_IMAGE} × {USUAL_IMAGE} pixels"
        c.notes.append(f"the config gives no image size: {usual}, unless --set input=3x288x288 says otherwise")
        said = USUAL_IMAGE
    return sides(c, "image_size", said)


def sizes(c: Config, key: str, least: int = 1) -> list[int]:
    """A list of whole numbers."""
    said = c.get(key)
    if not isinstance(said, list) or not said or not all(is_size(each, least) for each in said):
        raise c.wrong(key, f"a list of whole numbers from {least}")
    return said


def stages(c: Config, least: int = 0) -> list[tuple[int, int]]:
    """Channels and number of blocks of each stage."""
    widths, depths = sizes(c, "hidden_sizes"), sizes(c, "depths", least)
    if len(widths) != len(depths):
        raise c.refused("depths", f"hidden_sizes has {len(widths)} stages: give both lists one length")
    return list(zip(widths, depths, strict=True))


def number(c: Config, key: str) -> float:
    """Any finite number above zero, such as a multiplier of widths."""
    said = c.get(key)
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 < said < 1e6:
        raise c.wrong(key, "a number above 0")
    return said


def divisible(channels: float, divisor: int, least: int) -> int:
    """The multiple of a divisor that is nearest, and not more than a tenth below: TensorFlow's rule."""
    found = max(least, int(channels + divisor / 2) // divisor * divisor)
    if found < 0.9 * channels:
        return found + divisor
    return found


def act(c: Config, key: str = "hidden_act") -> str:
    word = c.text(key)
    if word in _OWN_WORD:
        return word
    return activation(c, key)


def dropout(c: Config, key: str) -> Items:
    """A layer of dropout, none where its rate is zero."""
    rate = fraction(c, key)
    return [{"dropout": rate}] * bool(rate)


def classifier(c: Config) -> Items:
    """A linear classifier on a vector, omitted if there are no classes."""
    classes = heads.labels(c)
    return [{"linear": classes}] * bool(classes)


def last_stage_alone(c: Config, number_of_stages: int) -> bool:
    """Whether a backbone gives out the map of its last stage, and no other."""
    named = c.given("out_features") or c.given("_out_features")
    places = c.given("out_indices") or c.given("_out_indices")
    return named in (None, [f"stage{number_of_stages}"]) and places in (None, [number_of_stages], [-1])


def note_features(c: Config, number_of_stages: int) -> Items:
    """A backbone adds no layer; maps of earlier stages that it gives out too are named."""
    if not last_stage_alone(c, number_of_stages):
        c.notes.append("the output is counted as the last stage's map: those of earlier stages are not kept")
    return []
