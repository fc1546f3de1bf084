"""MobileNetV1: a depthwise convolution and one of 1 × 1, thirteen times."""

from archcalc.importers.hf._helpers import Config, Fields, conv_like, mobilenet_like, when

USUAL = "image"
INERT = mobilenet_like.MOBILENET_INERT
FIRST = 32  # channels of the stem
STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)


def translate(c: Config) -> Fields:
    block = {
        "parameters": {"out": "required", "stride": 1},
        "layers": [mobilenet_like.depthwise(c, stride="stride"), mobilenet_like.conv(c, "out")],
    }
    layers = [mobilenet_like.conv(c, _scaled(c, FIRST), kernel=3, stride=2), *_calls(c), *mobilenet_like.end(c)]
    return conv_like.network(c, layers, blocks={"separable": block}, conv=conv_like.NORMED)


def _calls(c: Config) -> conv_like.Items:
    """The class doubles the width wherever the map shrinks, and in its first block."""
    calls: conv_like.Items = []
    width = FIRST
    for index, stride in enumerate(STRIDES):
        if stride == 2 or index == 0:
            width *= 2
        calls.append({"block": "separable", "out": _scaled(c, width), **when(stride == 2, stride=2)})
    return calls


def _scaled(c: Config, channels: int) -> int:
    return max(int(channels * conv_like.number(c, "depth_multiplier")), c.count("min_depth"))
