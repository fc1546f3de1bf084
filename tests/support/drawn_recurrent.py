"""Strategies that draw recurrent nets and autoencoders of every kind, small enough to be verified in a second."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from support.drawn_specs import TRUTH, Spec

CELLS = st.sampled_from(("lstm", "gru", "rnn"))
BIASES = st.sampled_from(("one", "two", "keras", "none"))


@st.composite
def layers(draw: st.DrawFn) -> Spec:
    """Recurrent layers under each convention."""
    cell = draw(CELLS)
    said: Spec = {
        "cell": cell,
        "biases": draw(BIASES),
        "hidden": draw(st.sampled_from((3, 4, [4, 5, 3], [3, 3, 3]))),
        "dropout": draw(st.sampled_from((0.0, 0.2))),
    }
    if isinstance(said["hidden"], int):
        said["layers"] = draw(st.integers(1, 3))
    if said.get("layers", 0) > 1 and draw(TRUTH):
        said["residual"] = draw(st.integers(2, said["layers"]))
    if cell == "lstm":
        said["peephole"] = draw(TRUTH)
        if draw(TRUTH):
            said["projection"] = 2
    return said


@st.composite
def recurrent_nets(draw: st.DrawFn) -> Spec:
    """One stack, over tokens or over vectors, in one direction or both."""
    said = {"family": "recurrent", **draw(layers()), "bidirectional": draw(st.sampled_from((False, True, "first")))}
    head: Spec = {"kind": draw(st.sampled_from(("lm", "tied", "classifier", "none")))}
    if head["kind"] != "none":
        head["bias"] = draw(TRUTH)
    if head["kind"] == "classifier":
        head["classes"] = 3
    if head["kind"] in ("classifier", "none") and draw(TRUTH):
        head["pool"] = draw(pools())
    if head["kind"] in ("classifier", "none") and draw(TRUTH):
        return {**said, "input": 4, "head": head}
    if head["kind"] == "lm" and draw(TRUTH):
        head["vocab"] = 9
    if head["kind"] != "tied" and draw(TRUTH):
        return {**said, "vocab": 7, "embedding": "one-hot", "head": head}
    embedding = {"width": _out(said) if head["kind"] == "tied" else draw(st.sampled_from((3, 5))), "bias": draw(TRUTH)}
    return {**said, "vocab": 7, "embedding": embedding, "head": head}


@st.composite
def pools(draw: st.DrawFn) -> list[Any]:
    """Each alone, or some of them side by side."""
    inside = {"width": 3, "bias": draw(TRUTH)} if draw(TRUTH) else {}
    attention = {"kind": "attention", "heads": draw(st.integers(1, 2)), **inside}
    if draw(TRUTH):
        return [draw(st.sampled_from(("each", "last", "mean", "sum", "max")))]
    side_by_side = st.lists(st.sampled_from(("last", "mean", "sum", "max")), max_size=2, unique=True)
    return [attention, *draw(side_by_side)]


def _out(said: Spec) -> int:
    """How wide the last layer's output is, which a tied head's table has to be."""
    last = said["hidden"] if isinstance(said["hidden"], int) else said["hidden"][-1]
    layers = said.get("layers", 1) if isinstance(said["hidden"], int) else len(said["hidden"])
    both = said["bidirectional"] is True or (said["bidirectional"] == "first" and layers == 1)
    return int(said.get("projection") or last) * (2 if both else 1)


@st.composite
def seq2seqs(draw: st.DrawFn) -> Spec:
    """An encoder and a decoder, which may attend to it in each of the known ways."""
    number, cell = draw(st.integers(1, 3)), draw(CELLS)
    said: Spec = {
        "family": "recurrent",
        "vocab": 7,
        "embedding": {"width": 4, "bias": draw(TRUTH), "shared": draw(TRUTH)},
        "dropout": draw(st.sampled_from((0.0, 0.2))),
        "cell": cell,
        "biases": draw(BIASES),
        "hidden": 4,
        "layers": number,
        "encoder": {},
        "decoder": {},
        "head": {"kind": "lm", "bias": draw(TRUTH)},
    }
    if draw(st.integers(0, 3)):
        orders = ("before", "after", "between") if number > 1 else ("before", "after")
        score = draw(st.sampled_from(("dot", "general", "additive", "concat", "location")))
        said["attention"] = {"score": score, "when": draw(st.sampled_from(orders))}
        if score in ("additive", "concat"):
            said["attention"]["width"] = 3
        if score == "location":
            said["attention"]["length"] = draw(st.integers(1, 4))
        said["attention"] |= {"bias": draw(TRUTH), **({"normed": draw(TRUTH)} if score == "additive" else {})}
        if said["attention"]["when"] == "after":
            said["attention"]["feed"] = draw(TRUTH)
        if draw(TRUTH):
            said["encoder"]["bidirectional"] = draw(st.sampled_from((True, "first")))
        else:
            said["decoder"]["start"] = draw(st.sampled_from(("zeros", "encoder")))
    return said


@st.composite
def layered_autoencoders(draw: st.DrawFn) -> Spec:
    """Several layers, with each option."""
    acts = st.sampled_from(("relu", "gelu", "tanh", "sigmoid", "identity"))
    kind = draw(st.sampled_from(("deep", "variational")))
    said: Spec = {
        "family": "autoencoder",
        "kind": kind,
        "input": draw(st.integers(2, 5)),
        "hidden": draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)),
        "bias": draw(TRUTH),
        "act": draw(acts),
        "output_act": draw(acts),
    }
    said["loss"] = draw(st.sampled_from(("squared", "bernoulli"))) if said["output_act"] == "sigmoid" else "squared"
    tied = kind == "deep" and draw(TRUTH)
    if kind == "deep":
        said |= {"code_act": draw(acts), "tied": tied}
    return (
        said if tied or draw(TRUTH) else {**said, "decoder": draw(st.lists(st.integers(1, 4), min_size=1, max_size=2))}
    )


@st.composite
def autoencoders(draw: st.DrawFn) -> Spec:
    """Linear, deep, variational and recursive ones."""
    width = draw(st.integers(2, 5))
    if draw(TRUTH):
        return draw(layered_autoencoders())
    if draw(TRUTH):
        return {
            "family": "autoencoder",
            "kind": "linear",
            "input": width,
            "hidden": draw(st.integers(1, 4)),
            "bias": draw(TRUTH),
        }
    said = {"family": "autoencoder", "kind": "recursive", "input": width, "hidden": width, "bias": draw(TRUTH)}
    return {**said, "classes": 3} if draw(TRUTH) else said


@st.composite
def words(draw: st.DrawFn) -> Spec:
    """word2vec of both kinds, with both outputs."""
    said: Spec = {
        "family": "word2vec",
        "kind": draw(st.sampled_from(("skip-gram", "cbow"))),
        "vocab": 9,
        "embedding": 3,
    }
    said["window"] = draw(st.integers(1, 3))
    return (
        {**said, "output": "negative", "negatives": draw(st.integers(1, 4))}
        if draw(TRUTH)
        else {**said, "output": "softmax"}
    )
