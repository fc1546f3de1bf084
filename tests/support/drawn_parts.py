"""Strategies that draw models of several parts: towers, projectors and readers, joined in every way that there is."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from support.drawn_specs import ACTIVATIONS, TRUTH, Spec, scopes, stacks

WIDTH = 6  # of what one part gives another where both have to agree
IMAGE, CLIP, SPECTROGRAM, SOUND, VECTOR = [3, 4, 4], [3, 2, 4, 4], [4, 6], [1, 12], [5]
CELLS = st.sampled_from(("lstm", "gru", "rnn"))
SEEN = {"kind": "multiples", "step": 2, "least": 4, "most": 24}
PROCESSORS = (
    ({"kind": "multiples", "step": 4, "least": 4, "most": 24}, 4),
    ({"kind": "padded", "step": 2, "patch": 2, "most": 9}, 5),
    ({"kind": "fixed", "size": 4, "vectors": 2}, None),
    ({"kind": "listed", "size": 4, "sizes": [[4, 8], [8, 4]], "vectors": 2}, 6),
    ({"kind": "bounded", "patch": 2, "step": 4, "longest": 8}, [7, 9]),
)


@st.composite
def images(draw: st.DrawFn) -> Spec:
    """One or two, or a clip, of a fixed size or as a processor makes it."""
    if draw(TRUTH):
        processor, size = draw(st.sampled_from(PROCESSORS))
        said: Spec = {"shape": IMAGE, "processor": processor, "number": draw(st.integers(1, 2))}
        return said | ({"size": size} if size else {})
    return {"shape": draw(st.sampled_from((IMAGE, IMAGE, CLIP))), "number": draw(st.integers(1, 2))}


@st.composite
def sounds(draw: st.DrawFn) -> Spec:
    return {"shape": draw(st.sampled_from((SPECTROGRAM, SOUND))), "rate": 4}


@st.composite
def looking(draw: st.DrawFn, shape: list[int], ends: Spec) -> Spec:
    """A Transformer on an image, a clip or a recording."""
    said = {**draw(scopes()), "position": draw(st.sampled_from(("none", "sinusoidal", "alibi")))}
    if len(shape) > 2:
        said["position"] = draw(st.sampled_from(("none", "learned")))
        said["embedding"] = {"patch": 2, "tokens": 0, "mask": draw(TRUTH)}
    else:
        samples = {"samples": True} if shape[0] == 1 else {}
        said["embedding"] = {**samples, "kernels": [3], "strides": [2], "bias": draw(TRUTH)}
    return {**said, "encoder": draw(stacks(cross=False)), **ends}


@st.composite
def convolving(draw: st.DrawFn, shape: list[int], is_vector: bool) -> Spec:
    """The same from a list of layers."""
    layers: list[Any] = [{"conv": WIDTH, "kernel": 2, "stride": 2, "act": draw(st.sampled_from(("relu", "tanh")))}]
    layers += draw(st.sampled_from(([], [{"norm": "group", "groups": 2}], [{"residual": [{"conv": 6, "kernel": 1}]}])))
    return {"layers": layers + ([{"pool": "average", "to": 1}, "flatten"] if is_vector else ["sequence"])}


@st.composite
def towers(draw: st.DrawFn, shape: list[int], is_vector: bool) -> Spec:
    """What gives positions, or one vector."""
    if draw(TRUTH):
        return draw(convolving(shape, is_vector))
    pool = draw(st.sampled_from(("mean", "last")))
    return draw(looking(shape, {"head": {"pool": pool} if is_vector else "none"}))


@st.composite
def projectors(draw: st.DrawFn, width: int) -> Spec:
    act = draw(st.sampled_from(ACTIVATIONS[:6]))
    merged = draw(st.sampled_from(([], [], [{"merge": 2}])))
    return {"layers": [*merged, {"linear": width, "act": act}, *draw(st.sampled_from(([], [{"linear": width}])))]}


@st.composite
def writers(draw: st.DrawFn, cross: bool = False) -> Spec:
    """A Transformer that reads tokens."""
    said = {"vocab": 9, **draw(scopes()), "decoder": draw(stacks(cross=cross))}
    if draw(st.sampled_from((False, False, True))):
        said |= {"head": draw(st.sampled_from(("tied", "none", {"kind": "classifier", "classes": 3, "pool": "last"})))}
    return said


@st.composite
def recurrent(draw: st.DrawFn) -> Spec:
    hidden = draw(st.sampled_from((4, WIDTH)))
    said: Spec = {"vocab": 9, "cell": draw(CELLS), "embedding": 3, "hidden": hidden, "layers": draw(st.integers(1, 2))}
    return {**said, "biases": draw(st.sampled_from(("one", "two", "none")))}


@st.composite
def seen_and_read(draw: st.DrawFn) -> Spec:
    """Positions of an image, of a recording or of both, in front of tokens."""
    text, inputs, parts = draw(writers()), dict[str, Any](), dict[str, Any]()
    for name, one in (("picture", images()), ("sound", sounds())):
        if draw(TRUTH) or (name == "sound" and not inputs):
            inputs[name] = draw(one)
            parts[f"{name}_tower"] = {"reads": name, **draw(towers(inputs[name]["shape"], False))}
            parts[f"{name}_projector"] = draw(projectors(text["d_model"]))
    reads = [*(name for name in parts if name.endswith("projector")), "text"]
    return {"inputs": {**inputs, "text": "tokens"}, "parts": {**parts, "language": {"reads": reads, **text}}}


@st.composite
def looked_at(draw: st.DrawFn) -> Spec:
    """Cross-attention to a tower, or a recurrent net that attends to it."""
    picture: Spec = {**draw(st.one_of(images(), sounds())), "number": 1}
    inputs = {"picture": picture, "text": "tokens"}
    tower = {"reads": "picture", **draw(towers(picture["shape"], False))}
    reader = draw(writers(cross=True))
    if draw(TRUTH):
        scores: tuple[Spec, ...] = ({"score": "general"}, {"score": "additive", "width": 4})
        score = draw(st.sampled_from(scores))
        reader = {**draw(recurrent()), "attention": {**score, "when": draw(st.sampled_from(("before", "after")))}}
    return {"inputs": inputs, "parts": {"tower": tower, "writer": {"reads": "text", "memory": "tower", **reader}}}


@st.composite
def begun(draw: st.DrawFn) -> Spec:
    """A recurrent part that starts from a vector, from another's states, or reads a vector at each step."""
    reader, how = draw(recurrent()), draw(st.sampled_from(("picture", "states", "table")))
    if how == "states":
        first = {**reader, "reads": "before"}
        more = draw(st.sampled_from(({}, {"context": "summary"})))
        summary = {"summary": {"reads": "before", **reader, "head": {"pool": "last"}}} if more else {}
        parts = {"first": first, **summary, "writer": {"reads": "text", "start": "first", **more, **reader}}
        return {"inputs": {"before": "4 tokens", "text": "tokens"}, "parts": parts}
    shape = IMAGE if how == "picture" else VECTOR
    tower: Spec = {"reads": "given", "linear": reader["hidden"], "act": "tanh"}
    if how == "picture":
        tower = {"reads": "given", **draw(towers(shape, True))}
    bridge = {"reads": "tower", "layers": [{"linear": reader["hidden"]}]}
    ways: tuple[Spec, ...] = ({"start": "bridge"}, {"context": "tower"}, {"start": "bridge", "context": "tower"})
    joined = draw(st.sampled_from(ways))
    parts = {"tower": tower, "bridge": bridge, "writer": {"reads": "text", **joined, **reader}}
    if "start" not in joined:
        del parts["bridge"]
    return {"inputs": {"given": shape, "text": "5 tokens"}, "parts": parts}


@st.composite
def compared(draw: st.DrawFn) -> Spec:
    """Two towers in one space."""
    picture = draw(towers(IMAGE, True))
    words = {**draw(scopes()), "vocab": 9, "decoder": draw(stacks(cross=False)), "head": {"pool": "last"}}
    if draw(TRUTH):
        words = {**draw(recurrent()), "head": {"pool": "last"}}
    project = {"linear": WIDTH, "bias": False}
    parts = {"picture": {"reads": "image", **picture}, "seen": project}
    parts |= {"words": {"reads": "text", **words}, "said": project}
    both = {"of": ["seen", "said"], "bias": draw(TRUTH)}
    return {"inputs": {"image": IMAGE, "text": "tokens"}, "parts": parts, "similarity": both}


@st.composite
def twins(draw: st.DrawFn) -> Spec:
    """One net on two inputs, and what is made of both; perhaps two outputs."""
    parts: Spec = {"twin": {"reads": "left", **draw(towers(IMAGE, True))}, "other": {"like": "twin", "reads": "right"}}
    join = draw(st.sampled_from(("subtract", "multiply", "add", "concat")))
    parts["distance"] = {"layers": [{join: ["twin", "other"]}, {"linear": 2}]}
    if draw(TRUTH):
        parts["second"] = {"reads": "other", "linear": 3}
    return {"inputs": {"left": IMAGE, "right": IMAGE}, "parts": parts, **_perhaps_without_loss(draw)}


@st.composite
def beside_each_other(draw: st.DrawFn) -> Spec:
    """An image, a vector and a question, joined by layers that name them."""
    words = {**draw(recurrent()), "head": {"pool": draw(st.sampled_from(("last", "mean", "max")))}}
    parts = {
        "picture": {"reads": "image", **draw(towers(IMAGE, True))},
        "facts": {"reads": "table", "layers": [{"linear": WIDTH, "act": "relu"}]},
        "words": {"reads": "question", **words},
        "answer": {"layers": [{"concat": ["picture", "facts", "words", "table"]}, {"linear": 4}]},
    }
    inputs = {"image": IMAGE, "table": VECTOR, "question": draw(st.sampled_from(("tokens", "5 tokens")))}
    return {"inputs": inputs, "parts": parts, **_perhaps_without_loss(draw)}


@st.composite
def stages(draw: st.DrawFn) -> Spec:
    """One behind the other, each of another family, from a single input."""
    body = {"layers": [{"embedding": WIDTH, "vocab": 9}, {"conv": WIDTH, "kernel": 3, "padding": "causal"}]}
    middle = {**draw(scopes()), "d_model": WIDTH, draw(st.sampled_from(("encoder", "decoder"))): 1}
    last: Spec = {"cell": draw(CELLS), "hidden": 4, "head": {"kind": "classifier", "classes": 3}}
    return {"input": "tokens", "parts": {"body": body, "middle": middle, "last": last}}


def _perhaps_without_loss(draw: st.DrawFn) -> Spec:
    return draw(st.sampled_from(({}, {}, {"loss": "none"})))


def models_of_parts() -> st.SearchStrategy[Spec]:
    kinds = (seen_and_read(), seen_and_read(), looked_at(), begun(), compared(), twins(), beside_each_other(), stages())
    return st.one_of(*kinds)
