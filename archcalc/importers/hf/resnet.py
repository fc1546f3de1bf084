"""ResNet and RegNet: stages of residual blocks, the first of which may change the shape."""

from archcalc.importers.hf._helpers import Config, Fields, Value, conv_like, heads, when

SHORTCUT: conv_like.Items = [{"conv": "out", "kernel": 1, "stride": "stride"}]
USUAL = "image"
INERT = {"resnet": conv_like.FEATURES}
NARROWER = 4  # how much narrower a bottleneck's middle is
SQUEEZED = 4  # how much narrower than a block's input the gate is


def _residual_network(c: Config, stem: conv_like.Items, branch: conv_like.Items, **parameters: Value) -> Fields:
    """`branch` is what a block adds, in terms of `out`, `stride` and `parameters`, each a function of in and out."""
    found = conv_like.stages(c)
    end = heads.for_task(
        c,
        {
            "base": lambda: conv_like.POOLED,
            "image": lambda: [*conv_like.POOLED, "flatten", *conv_like.classifier(c)],
            "backbone": lambda: conv_like.note_features(c, len(found)),
        },
    )
    layers, word = [*stem, *_calls(c, found, parameters), *end], conv_like.act(c)
    needed = {"out": "required", **dict.fromkeys(parameters, "required")}
    blocks = {  # where the shape stays what comes in is added as it is, else through a projection
        "identity_block": {"parameters": {**needed, "stride": 1}, "layers": [{"residual": branch, "act": word}]},
        "projection_block": {"parameters": {**needed, "stride": 1}, "layers": [{"add": [branch, SHORTCUT]}, word]},
    }
    return conv_like.network(c, layers, blocks=blocks, conv=conv_like.NORMED)


def _calls(c: Config, found: list[tuple[int, int]], parameters: dict[str, Value]) -> conv_like.Items:
    """The blocks of all stages; every stage has one at least."""
    calls: conv_like.Items = []
    into = c.size("embedding_size")
    for index, (out, depth) in enumerate(found):
        shrinks = index > 0 or c.flag("downsample_in_first_stage")
        rest = max(depth, 1)
        if into != out or shrinks:
            rest -= 1
            calls.append({"block": "projection_block", **_given(parameters, into, out), **when(shrinks, stride=2)})
        if rest:
            calls.append({"block": "identity_block", **_given(parameters, out, out), "repeat": rest})
        into = out
    return calls


def _given(parameters: dict[str, Value], into: int, out: int) -> Fields:
    return {"out": out, **{name: value(into, out) for name, value in parameters.items()}}


def resnet(c: Config) -> Fields:
    """ResNet: residual blocks of two convolutions, or of three with a narrow one in the middle."""
    stem: conv_like.Items = [
        {"conv": c.size("embedding_size"), "kernel": 7, "stride": 2, "padding": 3, "act": conv_like.act(c)},
        {"pool": "max", "kernel": 3, "stride": 2, "padding": 1},
    ]
    return _residual_network(c, stem, _branch(c))


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


def regnet(c: Config) -> Fields:
    """RegNet: residual blocks with grouped convolutions; type y has squeeze and excitation."""
    word, width = conv_like.act(c), c.size("groups_width")
    stem: conv_like.Items = [{"conv": c.size("embedding_size"), "kernel": 3, "stride": 2, "padding": 1, "act": word}]
    before: conv_like.Items = [
        {"conv": "out", "kernel": 1, "act": word},
        {"conv": "out", "kernel": 3, "stride": "stride", "padding": 1, "groups": "groups", "act": word},
    ]
    last = {"conv": "out", "kernel": 1}
    if c.text("layer_type") not in ("x", "y"):
        raise c.wrong("layer_type", "x or y")
    if c.text("layer_type") == "x":
        return _residual_network(c, stem, [*before, last], groups=lambda _, out: max(1, out // width))
    return _residual_network(
        c,
        stem,
        [*before, _gate(), last],
        groups=lambda _, out: max(1, out // width),
        squeezed=lambda into, _: round(into / SQUEEZED),
    )


def _gate() -> Fields:
    """Squeeze and excitation: a factor for each channel, from the mean of the whole map."""
    plain = {"kernel": 1, "bias": True, "norm": "none"}
    factors = [
        {"pool": "average", "to": 1},
        {"conv": "squeezed", **plain, "act": "relu"},
        {"conv": "out", **plain, "act": "sigmoid"},
    ]
    return {"multiply": ["input", factors]}
