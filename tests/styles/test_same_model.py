"""A style changes number formats, saved tensors and temporaries, and nothing else about a model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from archcalc import load
from archcalc.core.ir import fold, walk
from archcalc.core.style import PLAIN, Style
from archcalc.core.tree import ops_in
from archcalc.spec.paths import presets
from archcalc.styles.ways import WAYS

if TYPE_CHECKING:
    from archcalc.core.ir import Module
    from archcalc.model import Model

PRESETS = sorted(presets("models"))
LIBRARIES = {
    "transformers": {"rms_norm": "upcast", "rotary": "rotate_half", "bias": "joined", "core": "pytorch"},
    "of one matrix": {"qkv": "split", "gate_up": "split", "layer_norm": "steps", "router": "wide_divided"},
    "torchtitan": {"rms_norm": "fused", "rotary": "complex", "qkv": "copied", "kv_heads": "copy"},
    "litgpt": {"rms_norm": "upcast_weight", "rotary": "joined", "qkv": "behind", "kv_heads": "copy_by_position"},
    "torchtune": {"rotary": "pairs", "loss": "model_fp32", "dropout": "none", "layer_norm": "fp32"},
    "megatron": {"qkv": "merged", "gate_up": "fused", "experts": "weighed_inside", "router": "balanced"},
    "of experts": {"experts": "grouped", "router": "cast", "core": "pytorch", "scores": "fp32", "loss": "in_steps"},
}


def style(name: str) -> Style:
    chosen = [WAYS[layer][way].fields for layer, way in LIBRARIES[name].items()]
    return replace(PLAIN, name=name, narrow=True, **{field: value for one in chosen for field, value in one.items()})


@cache
def model(name: str) -> Model:
    return load(name)


def computed(root: Module) -> tuple[int, int, tuple[int, ...]]:
    """Parameters, FLOPs of matrix products, and the elements of caches."""
    params = fold(root, lambda module: sum(int(one.elements) for one in module.params.values()))
    products = fold(root, lambda module: sum(int(op.traits.flops(op)) for op in module.ops if op.traits.matrix))
    calls = {module.path: (module.calls, module.repeat) for module, _ in walk(root) if module.calls != 1}
    cached = sorted(int(op.output.size) for op in ops_in(root) if op.output.role == "cache")
    return int(params), int(products) if not calls else -1, tuple(cached)


@pytest.mark.wide(12)
@pytest.mark.parametrize("mode", ["train", "prefill"])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", PRESETS)
def test_parameters_products_and_caches_are_those_of_every_style(name: str, library: str, mode: str) -> None:
    if not model(name).is_computed:
        return
    work = model(name).workload(mode=mode, attention="flash")
    plain, other = model(name).build(work), model(name).build(replace(work, style=style(library)))
    assert computed(other) == computed(plain)


@pytest.mark.parametrize("library", LIBRARIES)
def test_they_are_in_eager_attention_too(library: str) -> None:
    for name in ("gpt2", "llama-3.2-1b", "gemma-2-2b", "t5-small"):
        work = model(name).workload(mode="train", attention="eager")
        plain, other = model(name).build(work), model(name).build(replace(work, style=style(library)))
        assert computed(other) == computed(plain), name
