"""ResNet: residual blocks of two convolutions, or of three with a narrow one in the middle."""

from archcalc.importers.hf._helpers import Config, Fields, conv_like, residual_like

USUAL = "image"
INERT = conv_like.FEATURES
NARROWER = 4  # how much narrower a bottleneck's middle is


def translate(c: Config) -> Fields:
    stem: conv_like.Items = [
        {"conv": c.size("embedding_size"), "kernel": 7, "stride": 2, "padding": 3, "act": conv_like.act(c)},
        {"pool": "max", "kernel": 3, "stride": 2, "padding": 1},
    ]
    return residual_like.residual_network(c, stem, _branch(c))


def _branch(c: Config) -> conv_like.Items:
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
