"""Strategies that draw valid Transformers, small enough to be verified in a second."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Spec = dict[str, Any]
TRUTH = st.booleans()
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "relu2", "leaky_relu", "elu", "identity")
LEARNED = (*ACTIVATIONS, "xielu")


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
    """One of all, or two that go together, tables long enough for what is drawn."""
    rope = {
        "kind": "rope",
        "theta": 100.0,
        "fraction": draw(st.sampled_from((1.0, 0.5) if head_dim % 4 == 0 else (1.0,))),
        **draw(st.sampled_from(({}, {}, {"length": 16, "stored": True}))),
    }
    relative = {
        "kind": "relative",
        "buckets": draw(st.sampled_from((4, 8))),
        "per": draw(st.sampled_from(("stack", "block"))),
    }
    learned = {"kind": "learned", "length": 16, "offset": draw(st.sampled_from((0, 2)))}
    stored = {"kind": "sinusoidal", "length": 16, "stored": draw(TRUTH)}
    pairs = [learned, rope], [relative, {**relative, "per": "stack" if relative["per"] == "block" else "block"}]
    shaw = [{"kind": "shaw", "distance": 2}, {"kind": "shaw", "distance": 3, "values": False}]
    every = ["none", "sinusoidal", stored, learned, rope, "alibi", relative, *shaw, *pairs]
    return draw(st.sampled_from(every))


@st.composite
def disentangled(draw: st.DrawFn) -> Spec:
    """Distances in buckets or not, with and without projections of their own."""
    terms = draw(st.sampled_from((["c2p"], ["p2c"], ["c2p", "p2c"], [])))
    own = [letter for letter, term in (("k", "c2p"), ("q", "p2c")) if term in terms and draw(TRUTH)]
    length = draw(st.sampled_from((3, 16)))
    said = {"kind": "disentangled", "buckets": 3, "length": max(length, 8), "terms": terms, "project": own}
    return {**said, "norm": draw(TRUTH)}


@st.composite
def attentions(draw: st.DrawFn) -> Spec:
    """What real models do to scores, queries and keys."""
    said: Spec = {}
    if draw(TRUTH):
        said["qk_norm"] = {
            "over": draw(st.sampled_from(("head", "heads", "all"))),
            "kind": draw(st.sampled_from(("layer", "rms"))),
            "affine": draw(TRUTH),
            "bias": draw(TRUTH),
        }
    narrow = draw(st.sampled_from((None, None, "window", "chunk")))
    if narrow:
        said[narrow] = draw(st.sampled_from((2, 3, 20)))
    if draw(st.sampled_from((False, False, True))):
        said["sinks"] = True
    said["gate"] = draw(st.sampled_from((False, False, True, "own", "head")))
    if said["gate"] is not True and draw(st.sampled_from((False, False, True))):
        said["v_dim"] = draw(st.sampled_from((3, 4, 8)))
    said["global_qkv"] = draw(st.sampled_from((False, False, True)))
    said["out_norm"] = draw(st.sampled_from((False, False, True)))
    if draw(st.sampled_from((False, False, True))):
        said["softcap"] = 30.0
    if draw(TRUTH):
        said["bias"] = draw(st.sampled_from((True, False, ["q", "v"], ["q", "k", "v"], ["o"])))
    return said


@st.composite
def stacks(draw: st.DrawFn, cross: bool, conv: bool = False) -> Spec:
    """A few blocks, equal, sharing their weights, or after a pattern that ends within a round."""
    said: Spec = {"blocks": draw(st.integers(1, 4))}
    if conv and draw(TRUTH):
        said["once"] = ["conv"]
    elif conv:
        return {"blocks": 3, "pattern": draw(st.sampled_from((["attention conv ffn"], ["attention ffn", "2 × conv"])))}
    if draw(st.sampled_from((False, False, True))):
        return {**said, "distinct": draw(st.sampled_from([n for n in (1, 2) if n <= said["blocks"]]))}
    whole = "attention cross ffn" if cross else "attention ffn"
    patterns = (
        [whole],
        [whole, "ffn"],
        [f"2 × {whole}", "attention"],
        [{"repeat": 2, "pattern": [whole, "ffn ffn"]}, whole],
    )
    if draw(TRUTH):
        said["pattern"] = draw(st.sampled_from(patterns))
    elif draw(TRUTH):
        narrow = {"like": "attention", "window": 2} if draw(TRUTH) else {"like": "attention", "heads": 1, "kv_heads": 1}
        said |= {"variants": {"local": narrow}, "pattern": [whole.replace("attention", "local", 1), whole]}
    return said


@st.composite
def heads(draw: st.DrawFn) -> Spec:
    """Every kind of output layer, perhaps two beside each other."""
    said = draw(one_head())
    if said["kind"] != "none" and said.get("pool") != "probe" and draw(st.sampled_from((False, False, True))):
        classes = {"kind": "classifier", "classes": 2, "bias": draw(TRUTH), **draw(before_classes())}
        pooler = {"kind": "none", "pooler": draw(st.sampled_from((True, 5)))}
        said["beside"] = draw(st.sampled_from((classes, {**classes, "pool": "last"}, pooler)))
    return said


@st.composite
def one_head(draw: st.DrawFn) -> Spec:
    """One of them."""
    kind = draw(st.sampled_from(("lm", "tied", "classifier", "none")))
    said: Spec = {"kind": kind}
    if kind in ("lm", "tied"):
        said |= {"bias": draw(st.sampled_from((False, True, "twice"))), "norm": draw(TRUTH), "transform": draw(TRUTH)}
        said |= {"transform_bias": draw(TRUTH)} if said["transform"] else {}
    if kind == "lm":
        said |= draw(st.sampled_from(({}, {"vocab": 13}, {"transform": 5})))
    if kind == "classifier":
        said |= {"classes": 3, "bias": draw(TRUTH), "pool": draw(st.sampled_from(("each", "class", "mean", "last")))}
        said |= draw(st.sampled_from((draw(before_classes()), draw(before_classes()), {"pool": "probe"})))
    if kind == "none":
        pooled = {"pool": draw(st.sampled_from(("class", "mean", "last"))), "norm": draw(TRUTH)}
        said |= draw(st.sampled_from(({}, {"pooler": True}, {"pooler": 5}, pooled, {"pool": "probe"})))
    return said


@st.composite
def before_classes(draw: st.DrawFn) -> Spec:
    """What may stand between pooled states and classes."""
    said: Spec = {"norm": draw(TRUTH), "pooler": draw(st.sampled_from((False, False, True, 5)))}
    if draw(TRUTH):
        said |= {"hidden": 5, "act": draw(st.sampled_from(ACTIVATIONS))}
    elif draw(TRUTH):
        said |= {"transform": True, "transform_bias": draw(TRUTH)}
    said["layers"] = draw(st.sampled_from(("last", "last", "weighted")))
    return {**said, "project": 7} if draw(st.sampled_from((False, False, True))) else said


@st.composite
def embeddings(draw: st.DrawFn, d_model: int) -> Spec:
    """Of tokens, as wide as the model or not."""
    said: Spec = {"bias": draw(TRUTH), "norm": draw(TRUTH), "types": draw(st.sampled_from((0, 2, [2, 3])))}
    if draw(st.sampled_from((False, False, True))):
        said |= {"width": draw(st.sampled_from((4, d_model))), "always_project": True}
        said |= {"project": draw(st.sampled_from(("norm", "sum", "tokens"))), "project_bias": draw(TRUTH)}
    elif draw(st.sampled_from((False, False, True))):
        said["joined"] = draw(st.sampled_from(([[3, 5]], [[3, 5], [2, 4]])))
    return said


@st.composite
def scopes(draw: st.DrawFn, encodes: bool = False) -> Spec:
    """What holds for all stacks of a Transformer."""
    kv_heads, group, head_dim = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.sampled_from((2, 4, 6)))
    said: Spec = {
        "d_model": draw(st.sampled_from((6, 8))),
        "heads": kv_heads * group,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "bias": draw(TRUTH),
        "dropout": draw(st.sampled_from((0.0, 0.1))),
        "softmax": draw(st.sampled_from(("input", "fp32"))),
        "norm": draw(norms()),
        "layer_scale": draw(st.sampled_from((False, False, True))),
        "position": draw(position_encodings(head_dim)),
        "attention": draw(attentions()),
        "ffn": {"width": draw(st.integers(3, 9)), "act": draw(st.sampled_from(LEARNED)), "gated": draw(TRUTH)},
    }
    if encodes and draw(st.sampled_from((False, False, True))):
        said |= {"position": draw(disentangled()), "kv_heads": said["heads"]}
    if draw(TRUTH):
        said["ffn"]["inner_norm"] = draw(TRUTH)
        said["ffn"]["bias"] = draw(st.sampled_from((True, False, ["in"], ["out"])))
    if draw(st.sampled_from((False, False, False, True))) and not _acts_on_scores(said["position"]):
        said["attention"] = {"feature": draw(st.sampled_from(("poly2", "elu", "relu")))}
    if said["norm"]["place"] == "pre":
        said["parallel"] = draw(st.sampled_from((None, None, "shared", "separate")))
    return {name: value for name, value in said.items() if value is not None}


def _acts_on_scores(position: Any) -> bool:
    several = position if isinstance(position, list) else [position]
    kinds = [one["kind"] if isinstance(one, dict) else one for one in several]
    return any(kind in ("alibi", "relative", "disentangled", "shaw", "transformer-xl") for kind in kinds)


@st.composite
def mixtures(draw: st.DrawFn) -> Spec:
    """Experts, with and without one that all tokens visit."""
    experts = draw(st.integers(2, 5))
    said: Spec = {"experts": experts, "top": draw(st.integers(1, experts)), "width": draw(st.integers(3, 6))}
    for name in ("gated", "bias", "router_bias", "out_bias"):
        said[name] = draw(TRUTH)
    said["correction"] = draw(st.sampled_from((False, True, "frozen")))
    said["act"] = draw(st.sampled_from(ACTIVATIONS))
    if draw(TRUTH):
        said |= {"shared": {"width": 4}, "shared_gate": draw(TRUTH)}
    if draw(TRUTH):
        said |= {"latent": 5, "latent_bias": draw(TRUTH), "latent_norm": draw(TRUTH)}
    return said


@st.composite
def latent_attentions(draw: st.DrawFn) -> Spec:
    """Queries squeezed or not; values as wide as keys, or not."""
    said: Spec = {"kind": "mla", "kv_rank": 3, "nope_dim": 4, "rope_dim": draw(st.sampled_from((2, 4)))}
    said["v_dim"] = draw(st.sampled_from((5, said["nope_dim"] + said["rope_dim"])))
    said["gate"] = draw(st.sampled_from((False, "own", "head")))
    if draw(TRUTH):
        said["q_rank"] = 5
    if "q_rank" in said and draw(TRUTH):
        said["index"] = {"heads": draw(st.integers(1, 3)), "head_dim": 4, "top": draw(st.sampled_from((1, 2, 20)))}
    return said


@st.composite
def routed_attentions(draw: st.DrawFn, top: int) -> Spec:
    """Experts for queries, as many for each token as heads share a key."""
    said: Spec = {
        "experts": top + draw(st.integers(0, 2)),
        "top": top,
        "qk_norm": draw(st.sampled_from(("head", "all"))),
    }
    return {**said, "bias": draw(st.sampled_from((["o"], False, ["k", "v"])))}


@st.composite
def sparse_transformers(draw: st.DrawFn) -> Spec:
    """Mixtures of experts behind attention of all kinds."""
    said = draw(scopes())
    del said["ffn"]
    said.pop("parallel", None)
    if draw(TRUTH):
        said["attention"], said["position"] = draw(latent_attentions()), draw(st.sampled_from(("none", "rope")))
    elif draw(TRUTH):
        said["attention"] = draw(routed_attentions(said["heads"] // said["kv_heads"]))
    head: Spec = {"kind": draw(st.sampled_from(("lm", "tied")))}
    stack = draw(st.sampled_from(("decoder", "decoder", "encoder")))
    if stack == "decoder" and draw(st.sampled_from((True, False))):
        head["mtp"] = {"blocks": draw(st.integers(1, 2)), "own_tables": draw(TRUTH)}
        head["mtp"] |= draw(st.sampled_from(({}, {"line": "attention moe"})))
    blocks = {"blocks": draw(st.integers(1, 3)), "pattern": ["attention moe"]}
    return {**said, "vocab": 9, "moe": draw(mixtures()), stack: blocks, "head": head}


@st.composite
def transformers(draw: st.DrawFn, kind: str) -> Spec:
    """An encoder, a decoder or both."""
    said = {"vocab": draw(st.integers(5, 12)), "head": draw(heads()), **draw(scopes(encodes=kind == "encoder"))}
    said["embedding"] = draw(embeddings(said["d_model"]))
    if kind == "decoder" and draw(st.sampled_from((False, False, False, True))):
        segments = {"kind": "transformer-xl", "memory": draw(st.sampled_from((1, 3, 20))), "shared": draw(TRUTH)}
        said |= {"position": segments, "attention": {}}
    both, conv = kind == "encoder-decoder", kind == "encoder" and draw(TRUTH) and not said.get("parallel")
    if kind != "decoder":
        said["encoder"] = draw(stacks(cross=False, conv=conv))
    if conv:
        kernel, groups = draw(st.sampled_from((1, 3, 5))), draw(st.sampled_from((1, 2)))
        said["conv"] = {"kernel": kernel, "groups": groups, "act": draw(st.sampled_from(ACTIVATIONS))}
    if kind != "encoder":
        memory = not both and draw(st.sampled_from((False, False, True)))
        said["decoder"] = draw(stacks(cross=both or memory))
        said |= {"cross": {"memory": draw(st.sampled_from((5, said["d_model"])))}} if memory else {}
    if both:
        said["embedding"] |= {"shared": draw(TRUTH), "spare": draw(TRUTH)}
    if both and draw(st.sampled_from((False, False, True))):
        return heard(draw, said)
    return said


def heard(draw: st.DrawFn, said: Spec) -> Spec:
    """The same with an encoder that reads a spectrogram."""
    tokens = said.pop("embedding")
    vocab = said.pop("vocab")
    tokens.pop("shared")
    kernels = draw(st.sampled_from(([3], [3, 3], [1, 5])))
    audio = {"kind": "audio", "mels": draw(st.integers(2, 4)), "kernels": kernels, "norm": draw(TRUTH)}
    audio["strides"] = [draw(st.sampled_from((1, 2))) for _ in kernels]
    audio |= {
        "padded": draw(TRUTH),
        "bias": draw(TRUTH),
        "features_norm": draw(TRUTH),
        "acts": draw(st.sampled_from(ACTIVATIONS)),
    }
    audio["norms"] = [draw(st.sampled_from(("none", "layer", "channel"))) for _ in kernels]
    audio |= {"channels_out": [draw(st.integers(3, 5)) for _ in kernels]} if draw(TRUTH) else {}
    said["encoder"] |= {"embedding": audio}
    said["decoder"] |= {"embedding": tokens, "vocab": vocab}
    return said


@st.composite
def vision_transformers(draw: st.DrawFn) -> Spec:
    """An image in patches, with tokens and registers."""
    said = draw(scopes())
    if not isinstance(said["position"], dict) or said["position"]["kind"] in ("learned", "sinusoidal"):
        grid = {"kind": "relative", "grid": 2, "per": draw(st.sampled_from(("stack", "block")))}
        said["position"] = draw(st.sampled_from(("none", "learned", "sinusoidal", "alibi", grid, grid)))
    patch = draw(st.sampled_from((2, [2, 3])))
    image = 4 if patch == 2 else [4, 6]
    few, tokens = st.integers(0, 2), draw(st.integers(1, 2))
    pools = ("class", "mean", "both", "patches", *(["second"] if tokens == 2 else []))
    return {
        **said,
        "embedding": {
            "kind": "patches",
            "image": image,
            "patch": patch,
            "channels": draw(st.integers(1, 3)),
            "tokens": tokens,
            "registers": draw(few),
            "mask": draw(TRUTH),
            "bias": draw(TRUTH),
            "norm": draw(TRUTH),
        },
        "encoder": draw(stacks(cross=False)),
        "head": draw(image_heads(pools)),
    }


@st.composite
def image_heads(draw: st.DrawFn, pools: tuple[str, ...]) -> Spec:
    """Classes of what is pooled, perhaps by two heads, or no more than what a probe finds."""
    said: Spec = {"kind": "classifier", "classes": 3, "bias": draw(TRUTH), "pool": draw(st.sampled_from(pools))}
    second = {**said, "pool": draw(st.sampled_from(pools))}
    others = ({"beside": second}, {"layers": "weighted"}, {"pool": "probe"})
    return {**said, **draw(st.sampled_from(({}, {}, *others)))}


lengths = st.integers(2, 7)
batches = st.integers(1, 3)
