"""Breaking the reference is noticed: every class of it is run, and what it does is compared."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import nn

import archcalc
import archcalc.reference
from archcalc.report.of_verify import Row
from archcalc.verify import check

Spec = dict[str, Any]
SMALL: Spec = {"vocab": 9, "d_model": 8, "heads": 2, "norm": "rms"}
DENSE: Spec = {**SMALL, "ffn": 6, "layer_scale": True, "dropout": 0.1}
LATENT: Spec = {"kind": "mla", "q_rank": 5, "kv_rank": 3, "nope_dim": 4, "rope_dim": 2, "v_dim": 6}
CLASSES: Spec = {"kind": "classifier", "classes": 3, "layers": "weighted", "transform": True}
IMAGE: Spec = {"kind": "patches", "image": 4, "patch": 2}
RECURRENT: Spec = {"family": "recurrent", "vocab": 7, "embedding": 3, "hidden": 4}
SEEKING: Spec = {
    "encoder": {"vocab": 7, "bidirectional": True},
    "decoder": {"vocab": 7},
    "attention": {"score": "additive", "width": 4},
}
LOOKING: Spec = {"d_model": 8, "heads": 2, "ffn": 6, "encoder": 1, "head": "none"}
PATCHED: Spec = {**IMAGE, "image": [4, 6], "tokens": 0}
HEARING: Spec = {**LOOKING, "embedding": {"kind": "audio", "mels": 2, "norms": ["channel", "none"]}}
CONVOLVED: Spec = {"kind": "convolved", "kernel": 2}
SPECS: list[Spec] = [
    {**DENSE, "encoder": 1, "position": {"kind": "relative", "buckets": 4}, "head": CLASSES},
    {
        **DENSE,
        "encoder": 1,
        "position": {"kind": "disentangled", "buckets": 4, "norm": True},
        "attention": {"qk_norm": "head"},
    },
    {**DENSE, "decoder": 1, "position": {"kind": "shaw", "distance": 2}},
    {**DENSE, "decoder": 1, "position": {"kind": "transformer-xl", "memory": 3}},
    {**DENSE, "decoder": 1, "position": {"kind": "transformer-xl", "memory": 3, "shared": False}},
    {
        **DENSE,
        "decoder": 1,
        "position": {"kind": "rope", "length": 8, "stored": True},
        "attention": {"feature": "poly2"},
    },
    {
        **DENSE,
        "decoder": 1,
        "position": {"kind": "learned", "length": 8},
        "attention": {"sinks": True},
        "head": {"kind": "lm", "mtp": 1},
    },
    {
        **SMALL,
        "decoder": {"pattern": ["attention moe"]},
        "moe": {"experts": 3, "top": 2, "width": 4},
        "attention": {**LATENT, "index": {"heads": 1, "head_dim": 4, "top": 2}},
    },
    {**SMALL, "decoder": {"pattern": ["mamba", "rglru"]}, "mamba": {"state": 2}, "rglru": {"width": 4, "heads": 2}},
    {
        **SMALL,
        "decoder": {"pattern": ["mamba", "delta"]},
        "mamba": {"kind": "mamba2", "heads": 4, "norm_groups": 2, "state": 2},
        "delta": {"heads": 1, "v_heads": 2, "head_dim": 3, "v_dim": 2},
    },
    {
        **SMALL,
        "decoder": {"pattern": ["attention+lightning ffn", "delta"]},
        "lightning": {"head_dim": 4},
        "delta": {"kind": "kda", "heads": 1, "head_dim": 3},
        "ffn": {"width": 6, "act": "xielu"},
    },
    {
        **DENSE,
        "heads": 4,
        "kv_heads": 2,
        "decoder": 1,
        "attention": {"experts": 3, "top": 2, "bias": False},
    },
    {**SMALL, "encoder": {"pattern": ["conv"]}, "conv": {"kernel": 3}, "head": {"kind": "none", "pooler": True}},
    {
        **SMALL,
        "decoder": {"pattern": ["conv"]},
        "conv": {"kind": "gated", "kernel": 3},
        "head": {"kind": "none", "pool": "mean", "norm": True},
    },
    {
        "d_model": 8,
        "heads": 2,
        "ffn": 6,
        "position": "learned",
        "embedding": IMAGE,
        "encoder": 1,
        "head": {"kind": "none", "pool": "probe"},
    },
    {**DENSE, "encoder": {"blocks": 1, "embedding": {"kind": "audio", "mels": 2}}, "decoder": 1},
    {**RECURRENT, **SEEKING, "cell": "gru"},
    {**RECURRENT, "cell": "lstm", "peephole": True},
    {**RECURRENT, "cell": "lstm", "peephole": True, "biases": "two"},
    {**RECURRENT, "cell": "gru", "biases": "two", "bidirectional": True},
    {**RECURRENT, "cell": "rnn", "head": {"kind": "none", "pool": {"kind": "attention", "width": 2}}},
    {"family": "autoencoder", "kind": "recursive", "input": 4, "hidden": 4},
    {"family": "autoencoder", "kind": "linear", "input": 6, "hidden": 4},
    {"family": "word2vec", "kind": "cbow", "vocab": 7, "embedding": 3, "output": "negative", "negatives": 2},
    {"family": "autoencoder", "kind": "deep", "input": 6, "hidden": [4, 3], "tied": True},
    {"family": "autoencoder", "kind": "variational", "input": 6, "hidden": [4, 3]},
    {
        "family": "network",
        "input": [4, 6, 6],
        "layers": [
            {"conv": 4, "kernel": 3, "padding": "same", "norm": "batch"},
            {"residual": [{"conv": 4, "kernel": 1}, {"norm": "layer"}], "act": "prelu"},
            {"concat": ["input", [{"pool": "max", "kernel": 3, "stride": 1, "padding": 1}, {"shuffle": 2}, "relu"]]},
            {"slice": [0, 4]},
            {"pixel_shuffle": 2},
            {"pad": 1},
            {"upsample": 2},
            {"transposed_conv": 3, "kernel": 2, "stride": 2},
            {"pool": "average", "to": 2},
            "scale",
            "response_norm",
            {"dropout": 0.1},
            {"act": "prelu"},
            "flatten",
            {"sample": {"mean": [{"linear": 3}], "log_variance": [{"linear": 3}]}},
            {"linear": 2},
        ],
    },
    {
        "family": "network",
        "input": [8, 4, 4],
        "loss": "none",
        "layers": [
            {"conv": 8, "kernel": 1, "shared": False},
            {"windows": 2, "shift": 1, "layers": [{"attention": 2}, {"local_attention": 2, "chunk": 3, "back": 1}]},
            {"pixel_unshuffle": 2},
            "sequence",
            {"transformer": 1, "heads": 2, "ffn": 4},
            {"matmul": ["input", [{"parameter": [32, 5]}]]},
        ],
    },
    {
        "family": "network",
        "input": "tokens",
        "layers": [{"embedding": 8, "vocab": 9}, {"position": "sinusoidal"}, {"lstm": 4}],
    },
    {**HEARING, "position": [CONVOLVED, {"kind": "relative", "buckets": 4, "gated": True}]},
    {**LOOKING, "embedding": {**PATCHED, "frames": 2}, "position": {"kind": "learned", "interpolated": 3}},
    {**LOOKING, "embedding": {**PATCHED, "frames": 2}, "position": {"kind": "learned", "per_side": 4}},
    {
        **DENSE,
        "decoder": {"pattern": ["attention per_layer ffn", "borrowed"]},
        "per_layer": 3,
        "variants": {"borrowed": {"like": "attention", "kv_of": "attention"}},
    },
    {
        "inputs": {"image": [3, 4, 4], "before": "tokens", "text": "tokens"},
        "parts": {
            "picture": {"reads": "image", "layers": [{"conv": 8, "kernel": 2, "stride": 2}, "sequence"]},
            "middle": {"reads": "picture", **LOOKING, "head": {"pool": "mean"}},
            "words": {"reads": "before", **RECURRENT, "hidden": 8, "cell": "gru", "head": {"pool": "last"}},
            "writer": {"reads": ["picture", "text"], **DENSE, "decoder": 1},
        },
        "similarity": {"of": ["middle", "words"], "bias": True},
    },
]


def classes() -> list[Any]:
    """Every layer and function that the reference defines, if it computes anything."""
    found = []
    for file in pkgutil.iter_modules(archcalc.reference.__path__):
        module = importlib.import_module(f"archcalc.reference.{file.name}")
        own = [one for _, one in inspect.getmembers(module, inspect.isclass) if one.__module__ == module.__name__]
        found += [one for one in own if issubclass(one, nn.Module | torch.autograd.Function) and "forward" in vars(one)]
    return found


NAMES = [f"{one.__module__.rpartition('.')[2]}.{one.__name__}" for one in classes()]


def subject_of(spec: Spec) -> check.Subject:
    model = archcalc.load(spec)
    limits = {name: limit for name, limit in model.resolved.lengths.items() if not limit.fixed}
    lengths: dict[str, Any] = {name: max(3, limit.least) for name, limit in limits.items()}
    return check.Subject(model, model.workload(batch=1, **lengths))


def trained(spec: Spec) -> list[Row]:
    """Training rows, of both ways of attention."""
    subject = subject_of(spec)
    ways = subject.reference.attentions()
    return [row for attention in ways for row in check._training(subject, attention, "none")]


def changed(one: Any, forward: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    static = isinstance(vars(one)["forward"], staticmethod)
    monkeypatch.setattr(one, "forward", staticmethod(forward) if static else forward)


@cache
def runs() -> dict[Any, Spec]:
    """A spec for each class whose training runs it."""
    found: dict[Any, Spec] = {}
    with pytest.MonkeyPatch.context() as patch:
        for spec in SPECS:
            for one in classes():

                def noted(*given: Any, one: Any = one, spec: Any = spec, was: Any = one.forward, **more: Any) -> Any:
                    found.setdefault(one, spec)
                    return was(*given, **more)

                changed(one, noted, patch)
            assert all(row.equal for row in trained(spec)), spec
            patch.undo()
    return found


@pytest.mark.wide(15)
@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_one_product_more_is_noticed(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every class: there is none that is not run, or whose FLOPs are not compared."""
    one = classes()[index]
    assert one in runs(), "no spec runs it"
    was = one.forward

    def more(*given: Any, **said: Any) -> Any:
        matrix = torch.ones(3, 3, device="meta")
        assert (matrix @ matrix).shape == (3, 3)
        return was(*given, **said)

    changed(one, more, monkeypatch)
    assert not all(row.equal for row in trained(runs()[one]))


@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_one_parameter_more_is_noticed(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every layer."""
    one = classes()[index]
    if not issubclass(one, nn.Module):
        return
    was = one.__init__

    def more(self: Any, *given: Any, **said: Any) -> None:
        was(self, *given, **said)
        self.one_more = nn.Parameter(torch.zeros(1))

    monkeypatch.setattr(one, "__init__", more)
    assert not all(row.equal for row in check._parameters(subject_of(runs()[one])))


def failing(spec: Spec, way: tuple[str, str]) -> set[str]:
    subject = subject_of(spec)
    report = check.verify(subject.model, subject.work, way=way)
    return {row.quantity for row in report.rows if not row.equal}


DECODER: Spec = {**SMALL, "ffn": 6, "decoder": 1, "position": "rope"}
ENCODER: Spec = {**SMALL, "ffn": 6, "encoder": 1}
BROKEN: dict[str, tuple[Spec, str, Callable[[Any], Any], str]] = {
    "sees what comes later": (
        DECODER,
        "archcalc.reference.stack.hidden_from_sight",
        lambda was: lambda sight, *given: torch.zeros_like(was(sight, *given)),
        "a later token changes no earlier output",
    ),
    "forgets where a token stands": (
        DECODER,
        "archcalc.reference.positions.rotations",
        lambda was: lambda start, *given: was(0, *given),
        "one token at a time gives the same",
    ),
    "looks at padding": (
        ENCODER,
        "archcalc.reference.attention.hidden_from",
        lambda was: lambda part, given: None,
        "padding changes nothing",
    ),
    "keeps what it should recompute": (
        DECODER,
        "archcalc.reference.stack.recomputed",
        lambda was: lambda function, *given, op_by_op: function(*given),
        "bytes saved for backward, bf16",
    ),
    "caches a tensor twice": (
        DECODER,
        "archcalc.reference.transformer.Transformers.kept_tensors",
        lambda was: lambda self, kept: [*was(self, kept), *(one.clone() for one in was(self, kept))],
        "bytes cached for the next token, fp32",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_reference_is_noticed_that(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the row that is about it."""
    spec, place, change, row = BROKEN[what]
    was: Any = pkgutil.resolve_name(place)
    monkeypatch.setattr(place, change(was))
    assert row in failing(spec, ("eager", "block"))
