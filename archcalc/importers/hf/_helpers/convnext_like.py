"""ConvNeXt and its like: stages of blocks with a large depthwise convolution, a norm between two stages."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.conv_like import (
    FEATURES,
    POOLED,
    Items,
    act,
    classifier,
    last_stage_alone,
    network,
    sides,
    stages,
)
from archcalc.importers.hf._helpers.reading import Config, Fields

CONVNEXT_INERT = FEATURES
NORM = {"norm": "layer"}
WIDER = 4  # how much wider a block is inside


def convnext_like(c: Config, task: str, *, before_last: Items, behind_last: Items) -> Fields:
    """What a block has on both sides of its last convolution is what differs between versions."""
    found = stages(c)
    if c.size("num_stages") != len(found):
        raise c.refused("num_stages", f"hidden_sizes has {len(found)} stages: give both one length")
    branch: Items = [
        {"conv": "channels", "kernel": 7, "padding": 3, "groups": "depthwise", "norm": "layer"},
        {"conv": f"{WIDER} * channels", "kernel": 1, "act": act(c)},
        *before_last,
        {"conv": f"channels / {WIDER}", "kernel": 1},
        *behind_last,
    ]
    layers = [*_stages(c, found), *_end(c, task, len(found))]
    return network(c, task, layers, blocks={"mixed": {"layers": [{"residual": branch}]}})


def _stages(c: Config, found: list[tuple[int, int]]) -> Items:
    patch = sides(c, "patch_size", c.get("patch_size"))
    items: Items = []
    for index, (out, depth) in enumerate(found):
        if index:
            items += [NORM, {"conv": out, "kernel": 2, "stride": 2}]
        else:
            items += [{"conv": out, "kernel": patch, "stride": patch, **NORM}]
        if depth:
            items.append({"block": "mixed", "repeat": depth})
    return items


def _end(c: Config, task: str, number_of_stages: int) -> Items:
    pooled = [*POOLED, "flatten", NORM]
    table: heads.Table = {
        "base": lambda: pooled,
        "image": lambda: [*pooled, *classifier(c)],
        "backbone": lambda: _normed(c, number_of_stages),
    }
    end: Items = heads.for_task(c, task, table)
    return end


def _normed(c: Config, number_of_stages: int) -> Items:
    """A backbone has a norm for each map that it gives out."""
    if not last_stage_alone(c, number_of_stages):
        why = "its backbone has a norm for each stage that it gives out, and only the last one can be counted"
        raise c.refused("out_features", why)
    return [NORM]
