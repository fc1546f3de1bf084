"""MobileNets: convolutions with a batch norm, padded as TensorFlow does or alike at both ends."""

from archcalc.importers.hf._helpers import Config, Fields, Value, conv_like, heads, inert, when

USUAL = "image"
INERT = {inert.SEGMENTING: "semantic_loss_ignore_index"}
FIRST = 32  # channels of the stem
STRIDES_V1 = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
LAST = 1280  # channels that are pooled
CHANNELS = (16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320)
STRIDES_V2 = (2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1)


def _conv(c: Config, out: Value, *, kernel: int = 1, **more: Value) -> Fields:
    """`padding: same` is TensorFlow's rule, which puts the odd zero behind."""
    alike: Value = kernel // 2
    if "dilation" in more:
        alike = f"{alike} * dilation"
    padded = when(kernel > 1, padding=c.choose("tf_padding", "same", alike))
    return {"conv": out, "kernel": kernel, **padded, "act": conv_like.act(c), **more}


def _depthwise(c: Config, **more: Value) -> Fields:
    return _conv(c, "channels", kernel=3, groups="depthwise", **more)


def _end(c: Config) -> conv_like.Items:
    c.skip("classifier_dropout_prob")
    pooled = [*conv_like.POOLED, "flatten"]
    heads.only(c, "base", "image")
    if c.task == "base":
        return pooled
    return [*pooled, *conv_like.dropout(c, "classifier_dropout_prob"), *conv_like.classifier(c)]


def mobilenet_v1(c: Config) -> Fields:
    """MobileNetV1: a depthwise convolution and one of 1 × 1, thirteen times."""
    block = {
        "parameters": {"out": "required", "stride": 1},
        "layers": [_depthwise(c, stride="stride"), _conv(c, "out")],
    }
    layers = [_conv(c, _scaled(c, FIRST), kernel=3, stride=2), *_calls(c), *_end(c)]
    return conv_like.network(c, layers, blocks={"separable": block}, conv=conv_like.NORMED)


def _calls(c: Config) -> conv_like.Items:
    """The class doubles the width wherever the map shrinks, and in its first block."""
    calls: conv_like.Items = []
    width = FIRST
    for index, stride in enumerate(STRIDES_V1):
        if stride == 2 or index == 0:
            width *= 2
        calls.append({"block": "separable", "out": _scaled(c, width), **when(stride == 2, stride=2)})
    return calls


def _scaled(c: Config, channels: int) -> int:
    return max(int(channels * conv_like.number(c, "depth_multiplier")), c.count("min_depth"))


def mobilenet_v2(c: Config) -> Fields:
    """MobileNetV2: blocks that widen, convolve each channel alone, and narrow again."""
    inside: conv_like.Items = [
        _conv(c, "inner"),
        _depthwise(c, stride="stride", dilation="dilation"),
        {"conv": "out", "kernel": 1},
    ]
    parameters = {"inner": "required", "out": "required", "stride": 1, "dilation": 1}
    blocks = {
        "inverted": {"parameters": parameters, "layers": inside},
        "inverted_residual": {"parameters": parameters, "layers": [{"residual": inside}]},
    }
    last = _v2_scaled(c, LAST)
    if c.flag("finegrained_output") and conv_like.number(c, "depth_multiplier") < 1:
        last = LAST  # a narrow model keeps a wide end
    layers = [*_stem(c), *_v2_calls(c), _conv(c, last), *_end(c)]
    return conv_like.network(c, layers, blocks=blocks, conv=conv_like.NORMED)


def _stem(c: Config) -> conv_like.Items:
    width = _v2_scaled(c, FIRST)
    expands: conv_like.Items = c.choose("first_layer_is_expansion", [], [_conv(c, width)])
    narrow = {"conv": _v2_scaled(c, CHANNELS[0]), "kernel": 1}
    return [_conv(c, width, kernel=3, stride=2), *expands, _depthwise(c), narrow]


def _v2_calls(c: Config) -> conv_like.Items:
    """Behind the stride that the config asks for, maps keep their size and filters are dilated instead."""
    calls: conv_like.Items = []
    reached, dilation, most = 2, 1, c.size("output_stride")
    for index, stride in enumerate(STRIDES_V2):
        into, out = _v2_scaled(c, CHANNELS[index]), _v2_scaled(c, CHANNELS[index + 1])
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


def _v2_scaled(c: Config, channels: int) -> int:
    return _divisible(c, round(channels * conv_like.number(c, "depth_multiplier")))


def _divisible(c: Config, channels: int) -> int:
    return conv_like.divisible(channels, c.size("depth_divisible_by"), c.count("min_depth"))
