"""Sizes of Transformers that a spec leaves out, worked out as the layers' own papers and implementations do."""

import math
from collections.abc import Callable
from typing import Any

from archcalc.reference import Config
from archcalc.reference.positions import grid

Sizes = dict[str, Callable[[Config, int], Any]]  # by field: the size in a layer, in a model of that width


def _rotated(part: Config, d_model: int) -> int:
    """As GPT-NeoX: the share of a head, rounded down."""
    share = next((settings["fraction"] for settings in part["positions"] if settings["kind"] == "rope"), 0)
    return int(part["head_dim"] * share)


ATTENTIONS = ("attention", "mla")  # parts with a layer, the fields of both are read as one
DELTA: Sizes = {"v_heads": lambda layer, d_model: layer["heads"], "v_dim": lambda layer, d_model: layer["head_dim"]}
MAMBA: Sizes = {"inner": lambda layer, d_model: 2 * d_model, "state": lambda layer, d_model: 16}
UNSAID: dict[str, Sizes] = {
    "attention": {
        "head_dim": lambda part, d_model: d_model // part["heads"],
        "kv_heads": lambda part, d_model: part["heads"],
        "rotated": _rotated,
    },
    "mamba": MAMBA | {"dt_rank": lambda layer, d_model: math.ceil(d_model / 16)},
    "mamba2": MAMBA | {"state": lambda layer, d_model: 128},
    "delta": DELTA,
    "kda": DELTA,
    "rglru": {"width": lambda layer, d_model: d_model},
}


def worked_out(config: Config) -> Config:
    """A Transformer with all of them."""
    stacks = {name: worked_out_stack(config[name]) for name in ("encoder", "decoder") if config[name]}
    *_, last = stacks.values()
    return {**config, **stacks, "head_vocab": config["head_vocab"] or last["vocab"]}


def worked_out_stack(stack: Config) -> Config:
    """A stack by itself."""
    made: Config = filled(stack, stack["d_model"])
    made["tables"]["width"] = stack["tables"]["width"] or stack["d_model"]
    patches = stack["patches"]
    for settings in made["positions"] if patches else ():
        if settings["kind"] == "learned" or settings.get("stored"):  # a row for each patch and for each token in front
            settings["length"] = settings["length"] or math.prod(grid(patches)) + patches["tokens"]
    return made


def filled(value: Any, d_model: int) -> Any:
    """All layers inside, each size by those that stand before it."""
    if isinstance(value, list):
        return [filled(each, d_model) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: filled(each, d_model) for name, each in value.items()}
    if made.get("type") in ATTENTIONS:
        made = {**made["layer"], **made}
    for name, size in UNSAID.get(str(made.get("type")), {}).items():
        if made.get(name) is None:
            made[name] = size(made, d_model)
    return made
