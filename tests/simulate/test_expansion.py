"""A step of many equal layers, unrolled from a few of them, is the step that all of them make."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import load
from archcalc.analyze.memory import Memory, training
from archcalc.core.ir import Module
from archcalc.run.tree_changes import traced
from archcalc.simulate.build import EVERY
from archcalc.simulate.events import Block, Change, Event, Repeated
from archcalc.simulate.expansion import expanded
from archcalc.simulate.nodes import Loop
from archcalc.simulate.simulation import simulate
from archcalc.spec.sizes import Sizes

STACKS = ["gpt2", "t5-base", "gemma-2-9b", "mixtral-8x7b", "deepseek-v2-lite", "whisper-small", "vit-b-16"]
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("resnet-152", {}),
    ("mamba-130m", {"dp": 8, "zero": 3}),
    ("qwen3-next-80b-a3b", {"recompute": "full"}),
    ("llama-3.2-1b", {"lora": 8}),
]
MODEL = Module("model")
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
    made = memory.deployment
    root = traced(made.network, made.run, made.workload(Sizes(2)))
    few, every = (training.step_schedule(root, made.run, made.keeping, first) for first in (2, EVERY))
    assert len(few.nodes) < len(every.nodes)
    whole = expanded(simulate(few))
    if not made.run.offload.activations:  # what a block frees may be of the block before the last one
        assert whole is not None
    assert whole is None or _outline([*whole]) == _outline(simulate(every))


def _outline(changes: list[Event]) -> list[tuple[object, ...]]:
    """Every allocation, and every free with the number of the allocation that it ends."""
    made: dict[Block, int] = {}
    found: list[tuple[object, ...]] = []
    for number, change in enumerate(changes):
        assert isinstance(change, Change)
        ended = made.pop(change.block, None)
        made.update({change.block: number} if ended is None else {})
        found.append((*change[:3], change.module.path, change.block.stream, ended))
    return found


def changed(block: Block, number: int, size: int = 0) -> Change:
    return Change("activations", size or block.bytes, "forward", MODEL, block, number=number)


def test_each_run_of_a_loop_frees_what_the_run_before_it_made() -> None:
    """Three runs of two ops each: in front of the loop, five times in it, behind it. The first op of a run allocates,
    the first op of the next one frees."""
    front, own, last = (Block("activations", 100) for _ in range(3))
    loop = Loop(times=5, first=2, length=2)
    inside = [changed(own, 2), changed(front, 2, -100)]
    whole = expanded([changed(front, 0), Repeated([*inside], 5, loop), changed(last, 4), changed(own, 4, -100)])
    assert whole is not None and len(whole) == 1 + 2 * 5 + 2
    assert [one.bytes for one in whole] == [100] + 5 * [100, -100] + [100, -100]
    allocated = [one.block for one in whole if one.bytes > 0]
    freed = [one.block for one in whole if one.bytes < 0]
    assert len(set(allocated)) == 1 + 5 + 1
    assert freed == allocated[:-1]


def test_what_a_loop_leaves_is_freed_run_by_run_behind_it() -> None:
    """As gradients are, of which the backward pass made those of the last run first."""
    own, loop = [Block("gradients", 10), Block("gradients", 20)], Loop(times=3, first=2, length=2)
    events = [Repeated([changed(one, 2) for one in own], 3, loop, is_reversed=True)]
    whole = expanded([*events, *(changed(one, -1, -one.bytes) for one in own)])
    assert whole is not None
    assert [one.bytes for one in whole] == 3 * [10, 20] + 3 * [-10, -20]
    assert [one.block for one in whole[:6]] == [one.block for one in whole[6:]]


def test_runs_that_are_not_alike_are_not_expanded() -> None:
    """The loop frees a block of 101 bytes of the run in front of it, and allocates none like it for the next run."""
    front, own = Block("activations", 101), Block("activations", 100)
    inside: list[Event] = [changed(own, 2), changed(front, 2, -101)]
    assert expanded([changed(front, 0), Repeated(inside, 5, Loop(5, 2, 2))]) is None
