"""A style changes number formats, saved tensors and temporaries, and nothing else about a model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from archcalc import load
from archcalc.core.ir import Region, walk
from archcalc.core.style import PLAIN, Style
from archcalc.core.tree import given_out, ops_in
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
OF_LLAMA_4 = {"every expert": {"experts": "every", "router": "of_all"}}  # which chooses one expert for a token


def style(name: str) -> Style:
    chosen = [WAYS[layer][way].fields for layer, way in (LIBRARIES | OF_LLAMA_4)[name].items()]
    return PLAIN._replace(name=name, narrow=True, **{field: value for one in chosen for field, value in one.items()})


@cache
def model(name: str) -> Model:
    return load(name)


Computed = tuple[int, int, tuple[int, ...]]


def computed(root: Module) -> Computed:
    """Parameters, FLOPs of matrix products, and the elements of caches."""
    held = [copies * param.elements for module, copies in walk(root) for param in module.params.values()]
    cached = sorted(int(op.output.size) for op in ops_in(root) if op.output.role == "cache")
    return sum(held), products(root), tuple(cached)


def products(module: Module) -> int:
    """In all runs of it."""
    own = sum(int(op.traits.flops(op)) for op in module.ops if op.traits.matrix)
    return int(module.runs) * (own + sum(products(child) for child in module.children))


def shapes(root: Module) -> dict[str, tuple[int, ...]]:
    """What blocks and their branches give out; linear layers inside of them may be one matrix, and answers of experts
    be added up inside of them or behind."""
    branches = [module for module, _ in walk(root) if module.path and module.children]
    given = {module.path: given_out(module) for module in branches if module.region != Region.EXPERTS}
    return {path: tensor.shape for path, tensor in given.items() if tensor}


def check_equal(name: str, library: str, mode: str, attention: str) -> None:
    work = model(name).workload(mode=mode, attention=attention)
    plain, other = model(name).build(work), model(name).build(replace(work, style=style(library)))
    assert computed(other) == computed(plain)
    expected, found = shapes(plain), shapes(other)
    both = expected.keys() & found.keys()
    assert {path: found[path] for path in both} == {path: expected[path] for path in both}


@pytest.mark.wide(12)
@pytest.mark.parametrize("mode", ["train", "prefill"])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", PRESETS)
def test_parameters_products_caches_and_shapes_are_those_of_every_style(name: str, library: str, mode: str) -> None:
    if not model(name).spec.is_computed:
        return
    check_equal(name, library, mode, "flash")


@pytest.mark.parametrize("library", LIBRARIES)
def test_they_are_in_eager_attention_too(library: str) -> None:
    for name in ("gpt2", "llama-3.2-1b", "gemma-2-2b", "t5-small"):
        check_equal(name, library, "train", "eager")


def test_a_loss_is_given_out_by_the_whole_model() -> None:
    """And by no part of it."""
    check_equal("qwen3-vl-2b", "of experts", "train", "flash")


@pytest.mark.parametrize("name", ["llama-4-scout", "llama-4-maverick"])
def test_experts_that_were_not_chosen_compute_nothing_of_the_model(name: str) -> None:
    """Llama 4's class lets all of them compute every token: more memory, and the same FLOPs of the model."""
    check_equal(name, "every expert", "train", "flash")
