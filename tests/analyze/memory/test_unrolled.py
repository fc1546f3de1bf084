"""A step of many equal layers, unrolled from a few of them, is the step that all of them make."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from archcalc import load
from archcalc.analyze.memory import Memory, simulate, training
from archcalc.analyze.memory.folds import expanded
from archcalc.analyze.memory.profile import Block, Change, Happening
from archcalc.analyze.memory.schedule import ENDS, EVERY, Fold
from archcalc.core.ir import Module
from archcalc.spec.sizes import Sizes

STACKS = ["gpt2", "t5-base", "gemma-2-9b", "mixtral-8x7b", "deepseek-v2-lite", "whisper-small", "vit-b-16"]
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("resnet-152", {}),
    ("mamba-130m", {"dp": 8, "zero": 3}),
    ("qwen3-next-80b-a3b", {"recompute": "full"}),
    ("llama-3.2-1b", {"lora": 8}),
]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"recompute": "full"},
    {"recompute": "selective"},
    {"dp": 8, "zero": 3},
    {"dp": 8, "zero": 2, "accumulate": 2},
    {"dp": 4, "zero": 3, "reshard_after_forward": "never"},
    {"offload": ("activations",)},
    {"offload": ("params",)},
    {"compile": "all", "precision": "bf16"},
    {"attention": "eager", "precision": "fp32"},
]


@pytest.mark.wide(8)
@pytest.mark.parametrize(
    ("name", "options"), [*OTHERS, *((name, options) for name in STACKS for options in SETTINGS)], ids=str
)
def test_it_is_what_every_layer_followed_one_by_one_makes(name: str, options: dict[str, Any]) -> None:
    memory = Memory(load(name), mode="train", overhead=0, **options)
    root = memory.deployment.build(memory.deployment.workload(Sizes(2)))
    policy = training.step_policy(
        root, memory.deployment.run, memory.deployment.keeping, memory.deployment.parameters.states["gradients"]
    )
    made = partial(training.step_schedule, root, memory.deployment.run, memory.deployment.keeping)
    assert made(ENDS).folds
    found = simulate.simulate_unrolled(made, policy, trains=True)
    assert list(_outline(found)) == list(_outline(simulate.simulate(made(EVERY), policy, trains=True)))


def _outline(changes: list[Happening]) -> list[tuple[object, ...]]:
    """Every allocation, and every free with the number of the allocation that it ends."""
    made: dict[Block, int] = {}
    found: list[tuple[object, ...]] = []
    for number, change in enumerate(changes):
        assert isinstance(change, Change)
        ended = made.pop(change.block, None)
        made.update({change.block: number} if ended is None else {})
        found.append((*change[:3], change.module.path, change.block.stream, ended))
    return found


def test_layers_that_are_not_alike_are_not_copied() -> None:
    """Of six runs the third allocates another block than the fourth: none can say which of them others are like."""
    blocks = [Block("activations", 100 + (run == 2)) for run in range(6)]
    changes = [
        Change("activations", block.bytes, "forward", Module("model"), block, number=run)
        for run, block in enumerate(blocks)
    ]
    fold = Fold(tuple(range(7)), 4)
    assert expanded(changes, [fold]) is None
    alike = [one._replace(bytes=100, module=changes[0].module) for one in changes]
    whole = expanded(alike, [fold])
    assert whole is not None and len(whole) == 6 + 4
    assert len({id(one.block) for one in whole}) == 6 + 4
