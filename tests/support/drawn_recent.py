"""Strategies that draw what models of recent years have.

Keys of earlier blocks, vectors for each layer, experts without weights, parts beside each other, towers whose patches
look at windows, encoders of recordings.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from support.drawn_specs import ACTIVATIONS, TRUTH, Spec, mixtures, norms, scopes, stacks

PATTERNS = (
    ["local ffn", "attention ffn", "borrowed ffn"],
    [{"repeat": 2, "pattern": ["attention ffn", "borrowed ffn"]}],
    ["attention per_layer ffn", "per_layer"],
    ["attention ffn per_layer", "2 × borrowed ffn per_layer"],
    ["attention ffn+moe", "borrowed moe"],
    ["attention moe", "local ffn"],
)


@st.composite
def recent_decoders(draw: st.DrawFn) -> Spec:
    """A pattern of some of these parts, with the fields that go with it."""
    pattern = draw(st.sampled_from(PATTERNS))
    words = str(pattern)
    said = {**draw(scopes()), "vocab": 9, "block_scale": draw(TRUTH)}
    said["position"] = draw(st.sampled_from(("rope", "none", "alibi", {"kind": "relative", "buckets": 4})))
    said.pop("parallel", None)
    said["attention"] = draw(keys_and_values(said.get("attention", {})))
    said["decoder"] = {"pattern": pattern, "blocks": draw(st.integers(3, 5))}
    variants = {"local": {"like": "attention", "window": 2}, "borrowed": {"like": "attention", "kv_of": "attention"}}
    said["variants"] = {word: fields for word, fields in variants.items() if word in words}
    if "moe" in words:
        said["moe"] = draw(recent_mixtures())
    if "per_layer" in words:
        said["per_layer"] = {"width": 3, "act": draw(st.sampled_from(ACTIVATIONS)), **draw(fewer())}
    if "ffn+moe" in words and draw(TRUTH):
        said["beside"] = "separate"
        said["norm"]["place"] = draw(st.sampled_from(("pre", "sandwich")))
    if "ffn" not in words.replace("ffn+moe", "ffn"):
        del said["ffn"]
    return {**said, "head": draw(st.sampled_from(("lm", "tied", "none")))}


def fewer() -> st.SearchStrategy[Spec]:
    return st.sampled_from(({}, {"vocab": 5}))


@st.composite
def keys_and_values(draw: st.DrawFn, said: Spec) -> Spec:
    """What is projected, and how values are normed."""
    kept = {name: value for name, value in said.items() if name not in ("feature", "window", "chunk", "v_dim")}
    if draw(TRUTH):
        kept["values"] = "keys"
    if draw(TRUTH):
        over, kind = draw(st.sampled_from(("head", "heads", "all"))), draw(st.sampled_from(("layer", "rms")))
        kept["v_norm"] = {"over": over, "kind": kind, "affine": draw(TRUTH), "bias": draw(TRUTH)}
    return kept


@st.composite
def recent_mixtures(draw: st.DrawFn) -> Spec:
    said = {**draw(mixtures()), "router_norm": draw(TRUTH), "expert_scale": draw(TRUTH)}
    return said | draw(st.sampled_from(({}, {"zero": 2})))


@st.composite
def towers_of_patches(draw: st.DrawFn) -> Spec:
    """Clips, windows, RoPE by row and column, tables for each side or interpolated."""
    said = {**draw(scopes()), "d_model": 8, "heads": 2, "kv_heads": 2, "head_dim": 4}
    said.pop("attention", None)
    patches: Spec = {"kind": "patches", "image": [4, 6], "patch": 2, "channels": 2, "mask": draw(TRUTH)}
    patches |= {"tokens": draw(st.sampled_from((0, 0, 1))), "frames": draw(st.sampled_from((1, 2)))}
    tables: tuple[Any, ...] = ("none", "learned", {"kind": "rope", "axes": 2})
    if patches["tokens"]:
        tables = (*tables, {"kind": "learned", "interpolated": draw(st.sampled_from((2, [3, 2])))})
    else:
        tables = (*tables, {"kind": "learned", "per_side": 4}, {"kind": "learned", "interpolated": 3})
        said["attention"] = draw(st.sampled_from(({}, {"windows": 2}, {"windows": [2, 1]}, {"windows": [1, 3]})))
    said |= {"position": draw(st.sampled_from(tables)), "embedding": patches}
    heads: tuple[Any, ...] = ("none", {"kind": "none", "pool": "mean"})
    return {**said, "encoder": draw(stacks(cross=False)), "head": draw(st.sampled_from(heads))}


@st.composite
def listeners(draw: st.DrawFn) -> Spec:
    """An encoder of a recording, with convolved positions or gated distances."""
    kernels = draw(st.sampled_from(([3], [2, 3])))
    audio: Spec = {"kind": "audio", "kernels": kernels, "padded": draw(TRUTH), "rate": 8, "seconds": 2.5}
    audio["strides"] = [draw(st.sampled_from((1, 2))) for _ in kernels]
    audio |= draw(st.sampled_from(({"samples": True}, {"mels": 3})))
    audio["norms"] = draw(st.sampled_from((["channel", "none"][: len(kernels)], "layer", "channel", "none")))
    audio |= {"mask": draw(TRUTH), "features_norm": draw(TRUTH), "norm": draw(TRUTH)}
    said = {**draw(scopes()), "d_model": 8, "heads": 2, "head_dim": 4, "norm": draw(norms()), "embedding": audio}
    said["kv_heads"] = draw(st.sampled_from((1, 2)))
    attention = said.pop("attention", {})
    convolved = {"kind": "convolved", "kernel": draw(st.sampled_from((2, 3))), "groups": draw(st.sampled_from((1, 2)))}
    convolved |= {"layers": draw(st.integers(1, 2)), "normed": draw(st.sampled_from(("kernel", "output", "none")))}
    distances = {"kind": "relative", "buckets": 4, "gated": True, "per": draw(st.sampled_from(("stack", "block")))}
    said["position"] = draw(st.sampled_from(("none", convolved, distances, [convolved, distances])))
    said["attention"] = {name: attention[name] for name in ("sinks", "softcap", "gate") if name in attention}
    head = draw(st.sampled_from(("none", {"kind": "classifier", "classes": 3, "pool": "mean"})))
    return {**said, "encoder": draw(stacks(cross=False)), "head": head}
