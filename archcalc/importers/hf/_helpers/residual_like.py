"""Stages of residual blocks, the first of which may change the shape: ResNet and its like."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.conv_like import (
    NORMED,
    POOLED,
    Items,
    act,
    classifier,
    network,
    note_features,
    stages,
)
from archcalc.importers.hf._helpers.reading import Config, Fields, when

SHORTCUT: Items = [{"conv": "out", "kernel": 1, "stride": "stride"}]


def residual_network(c: Config, task: str, stem: Items, branch: Items, **parameters: Any) -> Fields:
    """`branch` is what a block adds, in terms of `out`, `stride` and `parameters`, each a function of in and out."""
    found = stages(c)
    end = heads.for_task(
        c,
        task,
        {
            "base": lambda: POOLED,
            "image": lambda: [*POOLED, "flatten", *classifier(c)],
            "backbone": lambda: note_features(c, len(found)),
        },
    )
    return network(
        c,
        task,
        [*stem, *_calls(c, found, parameters), *end],
        blocks=_blocks(branch, act(c), list(parameters)),
        conv=NORMED,
    )


def _blocks(branch: Items, word: str, parameters: list[str]) -> Fields:
    """Where the shape stays what comes in is added as it is, else through a projection."""
    needed = {"out": "required", **dict.fromkeys(parameters, "required")}
    return {
        "identity_block": {"parameters": {**needed, "stride": 1}, "layers": [{"residual": branch, "act": word}]},
        "projection_block": {"parameters": {**needed, "stride": 1}, "layers": [{"add": [branch, SHORTCUT]}, word]},
    }


def _calls(c: Config, found: list[tuple[int, int]], parameters: dict[str, Any]) -> Items:
    """The blocks of all stages; every stage has one at least."""
    calls: Items = []
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


def _given(parameters: dict[str, Any], into: int, out: int) -> Fields:
    return {"out": out, **{name: value(into, out) for name, value in parameters.items()}}
