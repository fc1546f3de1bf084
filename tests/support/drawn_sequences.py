"""Random valid networks of sequences: layers at each position, along the positions and over all of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from support.drawn_networks import ACTS, NORMS, Spec

WIDTHS = st.sampled_from([4, 8, 12])
STARTS: tuple[Spec, ...] = (
    {"input": "tokens", "layers": [{"embedding": 8, "vocab": 30}]},
    {"input": "8 × seq", "layers": [{"position": "sinusoidal"}]},
    {"input": [4, 3, 6], "layers": [{"sequence": "width"}]},
    {"input": [4, 6, 3], "layers": [{"sequence": "height"}]},
    {"input": [4, 2, 4], "layers": [{"conv": 8, "kernel": 1}, "sequence"]},
)


@st.composite
def at_positions(draw: st.DrawFn) -> Spec:
    made: Spec = {"linear": draw(WIDTHS)} | draw(st.sampled_from([{}, {"bias": False}, *NORMS[:1]]))
    return made | draw(st.sampled_from([{}, *({"act": act} for act in ACTS)]))


@st.composite
def along_positions(draw: st.DrawFn) -> Spec:
    made: Spec = {"conv": draw(WIDTHS), "kernel": draw(st.sampled_from([1, 2, 3])), "padding": "same"}
    return made | draw(st.sampled_from([{}, {"norm": "batch"}, {"groups": 4}, {"act": "relu"}, {"act": "softmax"}]))


@st.composite
def recurrent(draw: st.DrawFn) -> Spec:
    return {
        draw(st.sampled_from(["lstm", "gru", "rnn"])): draw(st.sampled_from([4, 8])),
        "layers": draw(st.integers(1, 3)),
        "bidirectional": draw(st.booleans()),
        "biases": draw(st.sampled_from(["one", "two", "keras", "none"])),
    }


def others() -> st.SearchStrategy[Any]:
    gate = [{"pool": "average", "to": 1}, {"linear": "features", "act": "sigmoid"}]
    two = [{"linear": "features"}, {"conv": "features", "kernel": 1}]
    return st.sampled_from(
        [
            "relu",
            "scale",
            {"act": "prelu", "slopes": "features"},
            {"act": "softmax"},
            {"dropout": 0.1},
            {"position": "learned"},
            {"position": "learned", "length": 64},
            {"pool": "max", "kernel": 2},
            {"pool": "average", "to": 2},
            {"merge": 2},
            {"transpose": True},
            {"slice": [0, 4]},
            {"slice": [0, 2], "along": "positions"},
            {"pad": 1},
            {"layers": [{"map": True}, {"conv": 4, "kernel": 3, "padding": 1}, "sequence"]},
            {"attention": 2},
            {"local_attention": 2, "chunk": 3, "back": 2, "ahead": 1, "softcap": True},
            {"local_attention": 4, "chunk": 4},
            {"attention": 4, "kv_heads": 2, "causal": True, "position": "rope", "dropout": 0.1},
            {"conv": 4, "kernel": 3, "dilation": 2, "padding": "causal"},
            {"transformer": 2, "heads": 2, "ffn": {"width": 5, "act": "gelu"}, "causal": True, "layer_scale": True},
            {"transformer": 1, "heads": 4, "kv_heads": 1, "ffn": 5, "parallel": "separate", "norm": {"place": "post"}},
            {"matmul": ["input", [{"linear": "features"}, {"pool": "average", "to": 3}]], "transpose": "second"},
            {"matmul": ["input", "input"], "transpose": "second", "scaled": True},
            {"matmul": ["input", "input"], "transpose": "first"},
            {"residual": [{"norm": "layer"}, {"attention": 2}]},
            {"multiply": ["input", gate]},
            {"concat": ["input", two[:1], two]},
            {"concat": [two[:1], "input"], "along": "positions"},
            {"multiply": ["input", [{"linear": 1, "act": "sigmoid"}]]},
            {"add": ["input", two[1:]]},
            {"residual": ["transpose", {"linear": "features", "act": "gelu"}, "transpose"]},
            {"residual": two, "act": "relu"},
        ]
    )


@st.composite
def sequences(draw: st.DrawFn) -> Spec:
    """A few layers; then a vector of all positions, the last state of a recurrent layer, or scores at each position."""
    start = draw(st.sampled_from(STARTS))
    middle = st.one_of(at_positions(), along_positions(), recurrent(), st.sampled_from(NORMS), others(), others())
    ends: list[list[Any]] = [["flatten"], [{"gru": 4, "give": "last"}], [{"lstm": 4, "bidirectional": True}], []]
    end = draw(st.sampled_from(ends))
    layers = [*start["layers"], *draw(st.lists(middle, min_size=1, max_size=5)), *end, {"linear": 5}]
    length = {"seq": draw(st.sampled_from([4, 7, 8]))} if isinstance(start["input"], str) else {}
    return {"family": "network", **start, "layers": layers, "batch": 2, **length}
