"""MobileNetV2: blocks that widen, convolve each channel alone, and narrow again."""

from archcalc.importers.hf._helpers import Config, Fields, conv_like, mobilenet_like

USUAL = "image"
INERT = mobilenet_like.MOBILENET_INERT
FIRST = 32  # channels of the stem
LAST = 1280  # channels that are pooled
CHANNELS = (16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320)
STRIDES = (2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1)


def translate(c: Config) -> Fields:
    inside: conv_like.Items = [
        mobilenet_like.conv(c, "inner"),
        mobilenet_like.depthwise(c, stride="stride", dilation="dilation"),
        {"conv": "out", "kernel": 1},
    ]
    parameters = {"inner": "required", "out": "required", "stride": 1, "dilation": 1}
    blocks = {
        "inverted": {"parameters": parameters, "layers": inside},
        "inverted_residual": {"parameters": parameters, "layers": [{"residual": inside}]},
    }
    layers = [*_stem(c), *_calls(c), mobilenet_like.conv(c, _last(c)), *mobilenet_like.end(c)]
    return conv_like.network(c, layers, blocks=blocks, conv=conv_like.NORMED)


def _stem(c: Config) -> conv_like.Items:
    width = _scaled(c, FIRST)
    expands: conv_like.Items = c.choose("first_layer_is_expansion", [], [mobilenet_like.conv(c, width)])
    narrow = {"conv": _scaled(c, CHANNELS[0]), "kernel": 1}
    return [mobilenet_like.conv(c, width, kernel=3, stride=2), *expands, mobilenet_like.depthwise(c), narrow]


def _calls(c: Config) -> conv_like.Items:
    """Behind the stride that the config asks for, maps keep their size and filters are dilated instead."""
    calls: conv_like.Items = []
    reached, dilation, most = 2, 1, c.size("output_stride")
    for index, stride in enumerate(STRIDES):
        into, out = _scaled(c, CHANNELS[index]), _scaled(c, CHANNELS[index + 1])
        sizes = {"stride": stride, "dilation": 1}
        if reached == most:
            sizes = {"stride": 1, "dilation": dilation}
            dilation *= stride  # from the next block on
        reached *= sizes["stride"]
        block = "inverted"
        if sizes["stride"] == 1 and into == out:
            block = "inverted_residual"
        inner = _divisible(c, round(into * conv_like.number(c, "expand_ratio")))
        called = {"block": block, "inner": inner, "out": out}
        calls.append({**called, **{name: size for name, size in sizes.items() if size != 1}})
    return calls


def _scaled(c: Config, channels: int) -> int:
    return _divisible(c, round(channels * conv_like.number(c, "depth_multiplier")))


def _divisible(c: Config, channels: int) -> int:
    return conv_like.divisible(channels, c.size("depth_divisible_by"), c.count("min_depth"))


def _last(c: Config) -> int:
    """A narrow model keeps a wide end."""
    if c.flag("finegrained_output") and conv_like.number(c, "depth_multiplier") < 1:
        return LAST
    return _scaled(c, LAST)
