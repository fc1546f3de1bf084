"""litgpt's code: a training step beside the same written in PyTorch, and its rules as products of sizes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from support.litgpt_twin import Sizes, made, trained
from support.simulated_steps import asked, peaks, sizes

from archcalc import load
from archcalc.analyze.memory.training import step_schedule
from archcalc.model import Model
from archcalc.reference.lifetimes import Phase
from archcalc.run.code import code
from archcalc.run.tree_changes import traced
from archcalc.simulate.passes.workspaces import PRODUCTS
from archcalc.spec.sizes import Sizes as Lengths

LEAST = 4096  # bytes of tensors that are compared one by one: all but scalars, statistics and tables
INTERLEAVED, BEHIND = "litgpt@2024-06", "litgpt@2025-06"


def decoder(given: Sizes) -> Model:
    return load(
        {
            "name": "a decoder",
            "vocab": given.vocab,
            "d_model": given.width,
            "heads": given.heads,
            "kv_heads": given.groups,
            "bias": False,
            "norm": "rms",
            "position": "rope",
            "head": "lm",
            "decoder": given.layers,
            "ffn": {"width": given.inner, "act": "silu", "gated": True},
        }
    )


@pytest.mark.wide(5)
@pytest.mark.parametrize("targets", [("q", "v"), ("q", "k", "v")])
@pytest.mark.parametrize("groups", [4, 2, 1])
@pytest.mark.parametrize("used", [INTERLEAVED, BEHIND])
@pytest.mark.parametrize("vocab", [320, 3200])
def test_a_step_allocates_what_pytorch_allocates(used: str, groups: int, targets: tuple[str, ...], vocab: int) -> None:
    """Of heads with keys of their own, in two groups, and in one; the peak is in the last layer, or among logits."""
    adapted = ("q" in targets, "k" in targets, "v" in targets)
    given = Sizes(vocab=vocab, groups=groups, adapted=adapted, interleaved=used == INTERLEAVED)
    theirs = trained(given, 2, 300)
    memory = asked(decoder(given), lora=given.rank, lora_targets=targets, code=used)
    for phase, blocks in peaks(memory, 2, 300).items():
        if phase in ("forward", "backward"):
            beside = Counter({PRODUCTS: 1, 300 * given.head * 2: 2})  # a kernel's workspace, and the tables
            assert Counter(sizes(blocks, LEAST)) - beside == Counter(made(theirs[Phase(phase, 1)], LEAST)), phase


def test_4_bit_products_hold_what_they_read_as_long_as_the_graph() -> None:
    """Each layer's two normed inputs, attention's output and what the last matrix reads; the first layer's projections
    read what wants no gradient, and the head reads one tensor more. The step before it left as much."""
    given, tokens = Sizes(), 2 * 64
    model = decoder(given)
    memory = asked(model, lora=4, code=INTERLEAVED, weights="nf4_lightning")
    step = step_schedule(
        traced(memory.deployment.network, memory.deployment.run, memory.deployment.workload(Lengths(2, 64))),
        memory.deployment.run,
        memory.deployment.keeping,
    )
    numbers = given.layers * (3 * given.width + given.inner) - given.width + given.width
    times = {cell: one.times for one in step.steps() for cell in one.makes}
    assert sum(step.bytes[cell] * times[cell] for cell in step.outliving) == tokens * numbers * 2
    later = asked(model, lora=4, code="litgpt@2025-01", weights="nf4_lightning")
    assert not step_schedule(
        traced(later.deployment.network, later.deployment.run, later.deployment.workload(Lengths(2, 64))),
        later.deployment.run,
        later.deployment.keeping,
    ).outliving


def test_the_longest_sequence_came_first_once() -> None:
    """Then nothing is left of an iteration before: the most are fp32 logits and log-probabilities. Else the logits that
    were left are there while 16-bit ones are cast."""
    model = decoder(Sizes(vocab=32_000))
    steps = [peaks(asked(model, lora=4, code=used), 1, 64)["forward"] for used in ("litgpt@2023-12", INTERLEAVED)]
    first, later = (sum(sizes(blocks, LEAST)) for blocks in steps)
    assert later - first == 64 * 32_000 * ((4 + 2 + 4) - (4 + 4))


def test_a_head_has_a_matrix_of_its_own() -> None:
    model = load("llama-3.2-1b")
    own, shared = (asked(model, code=used).deployment.parameters.states["weights"] for used in ("litgpt", "torchtune"))
    assert own - shared == 128_256 * 2048 * 2


def test_adapters_of_a_head_have_to_be_named() -> None:
    model = decoder(Sizes())
    more, fewer = (_trained_elements(model, targets) for targets in (("all", "head"), ("all",)))
    assert more - fewer == 4 * (64 + 320)


def _trained_elements(model: Model, targets: tuple[str, ...]) -> int:
    held = asked(model, lora=4, lora_targets=targets, code="litgpt").deployment.parameters.held
    return sum(one.copies * one.elements for one in held if one.gradients)


def test_states_beside_quantised_weights_are_paged() -> None:
    model, options = decoder(Sizes()), dict[str, Any](lora=4, code="litgpt")
    paged = asked(model, weights="nf4_lightning", **options)
    assert (paged.deployment.run.optimizer and paged.deployment.run.optimizer.name) == "adamw-paged"
    assert paged.deployment.parameters.states["optimizer"] == 0
    assert asked(model, **options).deployment.parameters.states["optimizer"] > 0


@pytest.mark.parametrize(
    ("version", "habits"),
    [
        ("2023-09", {"rms_norm": "narrow", "qkv": "interleaved", "longest": "first", "quantised_inputs": "held"}),
        ("2023-10", {"rms_norm": "upcast_weight", "longest": "first"}),
        ("2024-04", {"rms_norm": "upcast", "longest": "every", "qkv": "interleaved", "kv_heads": "by_position"}),
        ("2024-09", {"rms_norm": "upcast_weight", "qkv": "interleaved", "quantised_inputs": "held"}),
        ("2024-12", {"qkv": "behind", "kv_heads": "copy_by_position", "quantised_inputs": "freed"}),
    ],
)
def test_a_version_has_the_habits_of_its_day(version: str, habits: dict[str, str]) -> None:
    found = code(f"litgpt@{version}")
    assert vars(found.habits) | dict(found.layers) | habits == vars(found.habits) | dict(found.layers)
