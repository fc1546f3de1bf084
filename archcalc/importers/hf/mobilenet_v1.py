"""MobileNetV1: a depthwise convolution and one of 1 × 1, thirteen times."""

from archcalc.importers.hf._helpers.conv_like import NORMED, Items, network, number
from archcalc.importers.hf._helpers.mobilenet_like import MOBILENET_INERT, conv, depthwise, end
from archcalc.importers.hf._helpers.reading import Config, Fields, when

USUAL = "image"
INERT = MOBILENET_INERT
FIRST = 32  # channels of the stem
STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)


def translate(c: Config, task: str) -> Fields:
    block = {
        "parameters": {"out": "required", "stride": 1},
        "layers": [depthwise(c, stride="stride"), conv(c, "out")],
    }
    layers = [conv(c, _scaled(c, FIRST), kernel=3, stride=2), *_calls(c), *end(c, task)]
    return network(c, task, layers, blocks={"separable": block}, conv=NORMED)


def _calls(c: Config) -> Items:
    """The class doubles the width wherever the map shrinks, and in its first block."""
    calls: Items = []
    width = FIRST
    for index, stride in enumerate(STRIDES):
        if stride == 2 or index == 0:
            width *= 2
        calls.append({"block": "separable", "out": _scaled(c, width), **when(stride == 2, stride=2)})
    return calls


def _scaled(c: Config, channels: int) -> int:
    return max(int(channels * number(c, "depth_multiplier")), c.count("min_depth"))
