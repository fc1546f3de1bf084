"""Random valid networks: layers of all kinds in any order, for maps with one, two or three sides."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Spec = dict[str, Any]
ACTS = ("relu", "relu6", "hardswish", "silu", "tanh", "leaky_relu", "prelu", "selu", "softmax", "log_softmax")
WIDTHS = st.sampled_from([4, 8, 12])
NORMS = (
    {"norm": "batch"},
    {"norm": "batch", "running": False},
    {"norm": "layer"},
    {"norm": "layer", "over": "all"},
    {"norm": "group", "groups": 4},
    {"norm": "instance"},
    {"norm": "instance", "affine": True},
)


@st.composite
def convolutions(draw: st.DrawFn) -> Spec:
    """The map keeps its size, or is halved."""
    kernel = draw(st.sampled_from([1, 2, 3, 5]))
    made: Spec = {"conv": draw(WIDTHS), "kernel": kernel, "stride": draw(st.sampled_from([1, 2])), "padding": "same"}
    made |= draw(st.sampled_from([{}, {"groups": 4}, {"dilation": 2}, {"bias": False}, {"norm": "batch"}]))
    return made | draw(st.sampled_from([{}, *({"act": act} for act in ACTS)]))


@st.composite
def larger(draw: st.DrawFn) -> Spec:
    options = [{"upsample": 2}, {"upsample": 2, "mode": "linear"}]
    options += [{"transposed_conv": 8, "kernel": 4, "stride": 2, "padding": 1, "groups": draw(st.sampled_from([1, 4]))}]
    return draw(st.sampled_from(options))


@st.composite
def pools(draw: st.DrawFn) -> Spec:
    kind = draw(st.sampled_from(["max", "average"]))
    size = draw(st.sampled_from([{"kernel": 3, "stride": 1, "padding": 1}, {"kernel": 2, "ceil": True}, {"to": 3}]))
    return {"pool": kind, **size}


def gates() -> st.SearchStrategy[Spec]:
    """Squeeze and excitation, as in any spec: a number for each channel."""
    inner = [{"pool": "average", "to": 1}, {"conv": "channels", "kernel": 1, "act": "sigmoid"}]
    return st.just({"multiply": ["input", inner]})


def simple() -> st.SearchStrategy[Any]:
    others = ["scale", "response_norm", {"dropout": 0.1}, {"shuffle": 4}, {"pad": 1}, {"slice": [0, 4]}]
    return st.one_of(convolutions(), larger(), pools(), gates(), st.sampled_from(NORMS), st.sampled_from(others))


def joined() -> st.SearchStrategy[Spec]:
    """Branches that keep the size of the map."""
    branch = [{"conv": "channels", "kernel": 3, "padding": 1, "norm": "batch", "act": "relu"}]
    return st.sampled_from(
        [
            {"residual": branch, "act": "relu"},
            {"residual": [{"conv": 8, "kernel": 3, "padding": 1}], "shortcut": [{"conv": 8, "kernel": 1}]},
            {"concat": ["input", branch]},
            {"add": [branch, [{"conv": "channels", "kernel": 1}], "input"]},
            {"subtract": [[{"pool": "average", "kernel": 3, "stride": 1, "padding": 1}], "input"]},
            {"layers": branch, "repeat": 3},
        ]
    )


RARE: tuple[list[Any], ...] = (  # rare options, several in each so that a few networks have them all
    [
        {
            "transposed_conv": 8,
            "kernel": 3,
            "stride": 2,
            "padding": 1,
            "output_padding": 1,
            "dilation": 1,
            "bias": False,
        },
        {"subtract": ["input", [{"pool": "average", "kernel": 3, "stride": 1, "padding": 1}]]},
        {"act": "prelu", "slopes": "channels"},
        {"norm": "batch", "running": False},
        {"norm": "layer", "over": "all"},
    ],
    [
        {"response_norm": True},
        {"scale": True},
        {"concat": ["input", [{"pad": 1}]], "crop": True},
        {"pool": "max", "kernel": 2, "ceil": True},
        {"norm": "instance", "affine": True},
    ],
    [
        {"conv": 8, "kernel": 1, "name": "early"},
        {"conv": 8, "kernel": 1, "act": "relu", "repeat": 2, "first": {"act": "tanh"}, "when": "channels > 1"},
        {"add": ["early", "input"]},
        {"upsample": 2, "mode": "linear"},
        {"block": "narrow", "half": 4},
    ],
    [
        {"pool": "average", "to": 1},
        {"flatten": True},
        {"sample": {"mean": [{"linear": 8}], "log_variance": [{"linear": 8}]}},
        {"reshape": [8, 1, 1]},
        {"norm": "group", "groups": 4},
    ],
    [
        {"conv": 4, "kernel": 2, "shared": False, "stride": 2},
        "flatten",
        {"linear": 12, "act": "relu"},
        {"reshape": [4, 3]},
        {"matmul": ["input", [{"parameter": [3, 3]}]], "scaled": True},
        {"matmul": [[{"constant": [4, 4], "value": "identity"}], "input"]},
    ],
)
OF_TWO_SIDES: tuple[list[Any], ...] = (  # of which each may be halved
    [{"pixel_shuffle": 2}],
    [{"pixel_unshuffle": 2}, {"conv": 8, "kernel": 1}],
    [{"windows": 2, "shift": 1, "layers": [{"attention": 2}, {"transformer": 1, "heads": 2, "ffn": 4}]}],
    [{"windows": [1, 2], "layers": [{"attention": 2, "position": {"kind": "relative", "grid": [1, 2]}}]}],
)
BLOCKS: Spec = {
    "narrow": {"parameters": {"half": "required"}, "layers": [{"conv": "half", "kernel": 1}, {"shuffle": 2}]}
}


@st.composite
def networks(draw: st.DrawFn) -> Spec:
    """A few layers of maps, a few rare ones, then layers of vectors, or a map to the end."""
    sides = draw(st.sampled_from((1, 2, 2, 3)))
    layers = draw(st.lists(st.one_of(simple(), joined()), min_size=1, max_size=4))
    rare = draw(st.sampled_from(RARE))
    layers = [*layers, {"conv": 8, "kernel": 1}, *rare]
    if sides == 2:
        layers += draw(st.sampled_from(([], *OF_TWO_SIDES)))
    spec: Spec = {"family": "network", "input": [4, *[draw(st.sampled_from([6, 8]))] * sides], "layers": layers}
    if any("block" in layer for layer in rare):
        spec["blocks"] = BLOCKS
    if draw(st.booleans()):
        spec["layers"] = [*layers, "flatten", {"linear": 6, "norm": "batch", "act": "tanh"}, {"linear": 5}]
        spec["heads"] = draw(st.sampled_from([{}, {"one": [{"linear": 3}], "other": [{"linear": 2}]}]))
    spec["defaults"] = draw(st.sampled_from([{}, {"conv": {"bias": False}}]))
    if draw(st.booleans()):
        spec["loss"] = "cross_entropy"
    return spec | {"batch": 2}
