"""ResNet: residual blocks of two convolutions, or of three with a narrow one in the middle."""

from archcalc.importers.hf._helpers.conv_like import FEATURES, Items, act
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.residual_like import residual_network

USUAL = "image"
INERT = FEATURES
NARROWER = 4  # how much narrower a bottleneck's middle is


def translate(c: Config, task: str) -> Fields:
    stem: Items = [
        {"conv": c.size("embedding_size"), "kernel": 7, "stride": 2, "padding": 3, "act": act(c)},
        {"pool": "max", "kernel": 3, "stride": 2, "padding": 1},
    ]
    return residual_network(c, task, stem, _branch(c))


def _branch(c: Config) -> Items:
    """Inside a block the class takes ReLU, whatever the config's activation is."""
    narrow: Fields = {"kernel": 1}
    wide: Fields = {"kernel": 3, "padding": 1}
    strided: Fields = {"stride": "stride"}
    if c.text("layer_type") == "basic":
        c.skip("downsample_in_bottleneck")
        return [{"conv": "out", **wide, **strided, "act": "relu"}, {"conv": "out", **wide}]
    if c.text("layer_type") != "bottleneck":
        raise c.wrong("layer_type", "basic or bottleneck")
    inner: Fields = {"conv": f"out // {NARROWER}"}
    first, second = {**inner, **narrow}, {**inner, **wide}
    c.choose("downsample_in_bottleneck", first, second).update(strided)
    return [{**first, "act": "relu"}, {**second, "act": "relu"}, {"conv": "out", **narrow}]
