"""Strategies that draw valid specs of every family, small enough to be verified in a second."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Spec = dict[str, Any]
TRUTH = st.booleans()
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "relu2", "leaky_relu", "elu", "identity")


@st.composite
def norms(draw: st.DrawFn) -> Spec:
    """Every kind in every place, with and without weights."""
    kind = draw(st.sampled_from(("layer", "rms", "none")))
    said: Spec = {"kind": kind, "place": draw(st.sampled_from(("pre", "post", "out", "sandwich")))}
    if kind != "none":
        said["affine"] = draw(TRUTH)
    if kind == "layer":
        said["bias"] = draw(TRUTH)
    final = draw(st.sampled_from((None, True, False)))
    return said if final is None else {**said, "final": final}


@st.composite
def position_encodings(draw: st.DrawFn, head_dim: int) -> Any:
    """One of all, tables long enough for what is drawn."""
    rope = {"kind": "rope", "fraction": draw(st.sampled_from((1.0, 0.5) if head_dim % 4 == 0 else (1.0,)))}
    relative = {
        "kind": "relative",
        "buckets": draw(st.sampled_from((4, 8))),
        "per": draw(st.sampled_from(("stack", "block"))),
    }
    learned = {"kind": "learned", "length": 16, "offset": draw(st.sampled_from((0, 2)))}
    stored = {"kind": "sinusoidal", "length": 16, "stored": draw(TRUTH)}
    return draw(st.sampled_from(("none", "sinusoidal", stored, learned, rope, "alibi", relative)))


@st.composite
def attentions(draw: st.DrawFn) -> Spec:
    """What real models do to scores, queries and keys."""
    said: Spec = {}
    if draw(TRUTH):
        said["qk_norm"] = {
            "over": draw(st.sampled_from(("head", "heads", "all"))),
            "kind": draw(st.sampled_from(("layer", "rms"))),
        }
    narrow = draw(st.sampled_from((None, None, "window", "chunk")))
    if narrow:
        said[narrow] = draw(st.sampled_from((2, 3, 20)))
    for name in ("sinks", "gate"):
        if draw(st.sampled_from((False, False, True))):
            said[name] = True
    if draw(st.sampled_from((False, False, True))):
        said["softcap"] = 30.0
    if draw(TRUTH):
        said["bias"] = draw(st.sampled_from((True, False, ["q", "v"], ["q", "k", "v"], ["o"])))
    return said


@st.composite
def stacks(draw: st.DrawFn, cross: bool) -> Spec:
    """A few blocks, equal or after a pattern that ends within a round."""
    said: Spec = {"blocks": draw(st.integers(1, 4))}
    whole = "attention cross ffn" if cross else "attention ffn"
    patterns = (
        [whole],
        [whole, "ffn"],
        [f"2 × {whole}", "attention"],
        [{"repeat": 2, "pattern": [whole, "ffn ffn"]}, whole],
    )
    if draw(TRUTH):
        said["pattern"] = draw(st.sampled_from(patterns))
    return said


@st.composite
def heads(draw: st.DrawFn) -> Spec:
    """Every kind of output layer."""
    kind = draw(st.sampled_from(("lm", "tied", "classifier", "none")))
    said: Spec = {"kind": kind}
    if kind != "none":
        said["bias"] = draw(TRUTH)
    if kind in ("lm", "tied"):
        said["transform"] = draw(TRUTH)
    if kind == "classifier":
        said |= {"classes": 3, "pool": draw(st.sampled_from(("each", "class", "mean", "last")))}
    return said


@st.composite
def scopes(draw: st.DrawFn) -> Spec:
    """What holds for all stacks of a Transformer."""
    kv_heads, group, head_dim = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.sampled_from((2, 4, 6)))
    said: Spec = {
        "d_model": draw(st.sampled_from((6, 8))),
        "heads": kv_heads * group,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "bias": draw(TRUTH),
        "dropout": draw(st.sampled_from((0.0, 0.1))),
        "norm": draw(norms()),
        "layer_scale": draw(st.sampled_from((False, False, True))),
        "position": draw(position_encodings(head_dim)),
        "attention": draw(attentions()),
        "ffn": {"width": draw(st.integers(3, 9)), "act": draw(st.sampled_from(ACTIVATIONS)), "gated": draw(TRUTH)},
    }
    if draw(st.sampled_from((False, False, False, True))) and not _acts_on_scores(said["position"]):
        said["attention"] = {"feature": draw(st.sampled_from(("poly2", "elu", "relu")))}
    if said["norm"]["place"] == "pre":
        said["parallel"] = draw(st.sampled_from((None, None, "shared", "separate")))
    return {name: value for name, value in said.items() if value is not None}


def _acts_on_scores(position: Any) -> bool:
    kind = position["kind"] if isinstance(position, dict) else position
    return kind in ("alibi", "relative")


@st.composite
def mixtures(draw: st.DrawFn) -> Spec:
    """Experts, with and without one that all tokens visit."""
    experts = draw(st.integers(2, 5))
    said: Spec = {"experts": experts, "top": draw(st.integers(1, experts)), "width": draw(st.integers(3, 6))}
    for name in ("gated", "bias", "router_bias"):
        said[name] = draw(TRUTH)
    said["act"] = draw(st.sampled_from(ACTIVATIONS))
    if draw(TRUTH):
        said |= {"shared": {"width": 4}, "shared_gate": draw(TRUTH)}
    if draw(TRUTH):
        said |= {"latent": 5, "latent_bias": draw(TRUTH)}
    return said


@st.composite
def latent_attentions(draw: st.DrawFn) -> Spec:
    """Queries squeezed or not; values as wide as keys, or not."""
    said: Spec = {"kind": "mla", "kv_rank": 3, "nope_dim": 4, "rope_dim": draw(st.sampled_from((2, 4)))}
    said["v_dim"] = draw(st.sampled_from((5, said["nope_dim"] + said["rope_dim"])))
    return {**said, "q_rank": 5} if draw(TRUTH) else said


@st.composite
def sparse_decoders(draw: st.DrawFn) -> Spec:
    """Mixtures of experts behind attention of both kinds."""
    said = draw(scopes())
    del said["ffn"]
    said.pop("parallel", None)
    if draw(TRUTH):
        said["attention"], said["position"] = draw(latent_attentions()), draw(st.sampled_from(("none", "rope")))
    decoder = {"blocks": draw(st.integers(1, 3)), "pattern": ["attention moe"]}
    return {
        **said,
        "vocab": 9,
        "moe": draw(mixtures()),
        "decoder": decoder,
        "head": draw(st.sampled_from(("lm", "tied"))),
    }


@st.composite
def transformers(draw: st.DrawFn, kind: str) -> Spec:
    """An encoder, a decoder or both."""
    embedding = {"bias": draw(TRUTH), "types": draw(st.sampled_from((0, 2))), "norm": draw(TRUTH)}
    said = {"vocab": draw(st.integers(5, 12)), "embedding": embedding, "head": draw(heads()), **draw(scopes())}
    both = kind == "encoder-decoder"
    if kind != "decoder":
        said["encoder"] = draw(stacks(cross=False))
    if kind != "encoder":
        said["decoder"] = draw(stacks(cross=both))
    if both:
        embedding["shared"] = draw(TRUTH)
    return said


@st.composite
def vision_transformers(draw: st.DrawFn) -> Spec:
    """An image in patches, with tokens and registers."""
    said = draw(scopes())
    if isinstance(said["position"], dict) and said["position"].get("kind") in ("learned", "sinusoidal"):
        said["position"] = draw(st.sampled_from(("learned", "sinusoidal")))
    patch = draw(st.sampled_from((2, [2, 3])))
    image = 4 if patch == 2 else [4, 6]
    few = st.integers(0, 2)
    return {
        **said,
        "embedding": {
            "kind": "patches",
            "image": image,
            "patch": patch,
            "channels": draw(st.integers(1, 3)),
            "tokens": draw(st.integers(1, 2)),
            "registers": draw(few),
            "mask": draw(TRUTH),
            "bias": draw(TRUTH),
            "norm": draw(TRUTH),
        },
        "encoder": draw(stacks(cross=False)),
        "head": {
            "kind": "classifier",
            "classes": 3,
            "bias": draw(TRUTH),
            "pool": draw(st.sampled_from(("class", "mean"))),
        },
    }


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
    if cell == "lstm":
        said["peephole"] = draw(TRUTH)
        if draw(TRUTH):
            said["projection"] = 2
    return said


@st.composite
def recurrent_nets(draw: st.DrawFn) -> Spec:
    """One stack, over tokens or over vectors, in one direction or both."""
    said = {"family": "recurrent", **draw(layers()), "bidirectional": draw(TRUTH)}
    head: Spec = {"kind": draw(st.sampled_from(("lm", "classifier", "none")))}
    if head["kind"] != "none":
        head["bias"] = draw(TRUTH)
    if head["kind"] == "classifier":
        head["classes"] = 3
    if head["kind"] != "lm" and draw(TRUTH):
        return {**said, "input": 4, "head": head}
    return {**said, "vocab": 7, "embedding": draw(st.sampled_from((3, 5))), "head": head}


@st.composite
def seq2seqs(draw: st.DrawFn) -> Spec:
    """An encoder and a decoder, which may attend to it in each of the known ways."""
    number, cell = draw(st.integers(1, 3)), draw(CELLS)
    said: Spec = {
        "family": "recurrent",
        "vocab": 7,
        "embedding": 4,
        "cell": cell,
        "biases": draw(BIASES),
        "hidden": 4,
        "layers": number,
        "encoder": {},
        "decoder": {},
        "head": {"kind": "lm", "bias": draw(TRUTH)},
    }
    if draw(TRUTH):
        orders = ("before", "after", "between") if number > 1 else ("before", "after")
        score = draw(st.sampled_from(("dot", "general", "additive", "concat")))
        said["attention"] = {"score": score, "when": draw(st.sampled_from(orders))}
        if score in ("additive", "concat"):
            said["attention"]["width"] = 3
    return said


@st.composite
def autoencoders(draw: st.DrawFn) -> Spec:
    """Linear and recursive ones."""
    width = draw(st.integers(2, 5))
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


lengths = st.integers(2, 7)
batches = st.integers(1, 3)
