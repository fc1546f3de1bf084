"""Specs whose numbers once differed from PyTorch's, each reduced to what made the difference."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.verify.check import verify, ways

Spec = dict[str, Any]

WINDOWS: Spec = {
    "vocab": 5,
    "d_model": 6,
    "heads": 1,
    "head_dim": 2,
    "norm": "rms",
    "ffn": 3,
    "encoder": 1,
    "decoder": {
        "blocks": 4,
        "variants": {"local": {"like": "attention", "window": 2}},
        "pattern": ["local cross ffn", "attention cross ffn"],
    },
}
POOLED: Spec = {"vocab": 5, "d_model": 8, "heads": 2, "ffn": 3, "encoder": 1}
NARROW: Spec = {"width": 4, "project": "tokens"}  # states are projected to the tables' width
RELATIVE: Spec = {"kind": "relative", "buckets": 4}

GATED: Spec = {"vocab": 5, "d_model": 8, "heads": 2, "ffn": 3, "decoder": 1}

BLOCKS: Spec = {"filters": {"layers": [{"conv": 4, "kernel": 3, "act": "relu"}, {"pool": "max", "to": 1}]}}
BRANCH = [{"block": "filters"}]

FOUND: dict[str, Spec] = {
    "a stack's relative positions in caches of two lengths": {**WINDOWS, "position": {**RELATIVE, "per": "stack"}},
    "a block's relative positions in caches of two lengths": {**WINDOWS, "position": {**RELATIVE, "per": "block"}},
    "one ALiBi bias for two kinds of attention": {**WINDOWS, "position": "alibi"},
    "a pooler of states as narrow as the tables": {
        **POOLED,
        "embedding": NARROW,
        "head": {"kind": "classifier", "classes": 3, "pool": "class", "pooler": True},
    },
    "a norm on the mean of states as narrow as the tables": {
        **POOLED,
        "embedding": NARROW,
        "head": {"kind": "none", "pool": "mean", "norm": True},
    },
    "a pooler of what is projected": {
        **POOLED,
        "head": {"kind": "classifier", "classes": 3, "pool": "class", "pooler": True, "project": 7},
    },
}


def check(spec: Spec, way: tuple[str, str] | None, length: int) -> None:
    model = archcalc.load(spec)
    lengths: dict[str, Any] = dict.fromkeys(model.resolved.lengths, length)
    report = verify(model, model.workload(batch=1, **lengths), way=way)
    assert report.ok, report.answer()


@pytest.mark.wide(3)
@pytest.mark.parametrize("what", FOUND)
def test_every_row_is_equal(what: str) -> None:
    check(FOUND[what], ("eager", "none"), 5)


UNREAD: Spec = {"kind": "disentangled", "buckets": 3, "terms": [], "norm": True}
TWO_KINDS: Spec = {
    "variants": {"local": {"like": "attention", "window": 2}},
    "encoder": {"pattern": ["local ffn", "attention ffn"]},
}

DEEP: Spec = {"family": "recurrent", "cell": "lstm", "vocab": 7, "embedding": 3, "hidden": 4, "layers": 2}
LOOKING_BEFORE: Spec = {**DEEP, "encoder": {}, "attention": {"score": "general", "when": "before"}}
STATES: Spec = {"vocab": 5, "d_model": 8, "norm": "rms"}
LATENT_EXPERTS: Spec = {"experts": 3, "top": 2, "width": 4, "latent": 5, "out_bias": True, "router_bias": True}
UNEVEN: Spec = {"kind": "mamba2", "inner": 18, "heads": 3, "norm_groups": 2, "state": 3}
BY_THREES: Spec = {"kernel": 3, "groups": 3}
SCALED_DOWN: dict[str, Spec] = {
    "heads of a Mamba-2 that do not divide the twin": {**STATES, "mamba": UNEVEN, "decoder": {"pattern": ["mamba"]}},
    "groups of channels that do not": {**STATES, "d_model": 36, "conv": BY_THREES, "encoder": {"pattern": ["conv"]}},
}


@pytest.mark.parametrize("what", SCALED_DOWN)
def test_every_row_of_a_small_twin_is_equal(what: str) -> None:
    model = archcalc.load(SCALED_DOWN[what])
    way = ways(model)[0]
    assert verify(model, model.workload(batch=1, seq=3), scale_down=True, way=way).ok


IN_ONE_WAY: dict[str, tuple[Spec, tuple[str, str], int]] = {
    "a gate is projected behind the values": (
        {**GATED, "attention": {"gate": "head", "bias": ["q", "v"]}},
        ("eager", "ops"),
        5,
    ),
    "a table of distances that no term reads": ({**POOLED, "position": UNREAD}, ("eager", "none"), 3),
    "one normed table of distances for two kinds of attention": (
        {**POOLED, **TWO_KINDS, "position": {**UNREAD, "terms": ["c2p"]}},
        ("eager", "none"),
        3,
    ),
    "the factor of a block that is computed again is kept": ({**GATED, "block_scale": True}, ("eager", "block"), 2),
    "blocks that are alone in their branches": (
        {"input": [3, 8], "blocks": BLOCKS, "layers": [{"concat": [BRANCH, BRANCH]}, "flatten", {"linear": 2}]},
        ("", "block"),
        1,
    ),
    "a bias of all experts is no part of a product": (
        {**STATES, "heads": 2, "bias": False, "moe": LATENT_EXPERTS, "decoder": {"pattern": ["attention moe"]}},
        ("eager", "ops"),
        3,
    ),
    "layers that begin with parts of one tensor hand on a tensor each": (
        {**LOOKING_BEFORE, "decoder": {"start": "encoder"}},
        ("", "none"),
        4,
    ),
    "one step gives a sequence out": (
        {"family": "recurrent", "cell": "gru", "vocab": 7, "embedding": 3, "hidden": 3, "bidirectional": True},
        ("", "none"),
        1,
    ),
}


@pytest.mark.parametrize("what", IN_ONE_WAY)
def test_every_row_is_equal_in_one_way_of_training(what: str) -> None:
    """That which showed it."""
    check(*IN_ONE_WAY[what])
