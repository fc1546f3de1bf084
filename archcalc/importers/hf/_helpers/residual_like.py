"""Stages of residual blocks, the first of which may change the shape: ResNet and its like."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, conv_like, heads, when

SHORTCUT: conv_like.Items = [{"conv": "out", "kernel": 1, "stride": "stride"}]


def residual_network(c: Config, stem: conv_like.Items, branch: conv_like.Items, **parameters: Value) -> Fields:
    """`branch` is what a block adds, in terms of `out`, `stride` and `parameters`, each a function of in and out."""
    found = conv_like.stages(c)
    end = heads.for_task(
        c,
        {
            "base": lambda: conv_like.POOLED,
            "image": lambda: [*conv_like.POOLED, "flatten", *conv_like.classifier(c)],
            "backbone": lambda: conv_like.note_features(c, len(found)),
        },
    )
    return conv_like.network(
        c,
        [*stem, *_calls(c, found, parameters), *end],
        blocks=_blocks(branch, conv_like.act(c), list(parameters)),
        conv=conv_like.NORMED,
    )


def _blocks(branch: conv_like.Items, word: str, parameters: list[str]) -> Fields:
    """Where the shape stays what comes in is added as it is, else through a projection."""
    needed = {"out": "required", **dict.fromkeys(parameters, "required")}
    return {
        "identity_block": {"parameters": {**needed, "stride": 1}, "layers": [{"residual": branch, "act": word}]},
        "projection_block": {"parameters": {**needed, "stride": 1}, "layers": [{"add": [branch, SHORTCUT]}, word]},
    }


def _calls(c: Config, found: list[tuple[int, int]], parameters: dict[str, Value]) -> conv_like.Items:
    """The blocks of all stages; every stage has one at least."""
    calls: conv_like.Items = []
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


def _given(parameters: dict[str, Value], into: int, out: int) -> Fields:
    return {"out": out, **{name: value(into, out) for name, value in parameters.items()}}
