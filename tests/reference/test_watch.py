"""What is remembered of an op is what PyTorch says of it, and its FLOPs are FlopCounterMode's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

import archcalc
from archcalc.reference import measure
from archcalc.reference.watch import Watch
from archcalc.verify.check import Subject
from archcalc.verify.small import twin

PRESETS = ["llama-3-8b", "t5-small", "deepseek-v2-lite", "mamba-130m", "sentiment-gru"]
WAYS = [("eager", "none"), ("flash", "ops")]


def losses(name: str) -> Any:
    """Its small twin on the meta device, and what computes a loss, for two ways of training it."""
    model = twin(archcalc.load(name))
    lengths: dict[str, Any] = dict.fromkeys(model.resolved.lengths, 4)
    subject = Subject(model, model.workload(batch=2, **lengths))
    for attention, recompute in WAYS:
        built = subject.built(dtype="bf16", attention=attention, recompute=recompute)
        given = subject.inputs(built)
        yield built, lambda built=built, given=given: subject.reference.loss(built(*given), given)


class Answers(TorchDispatchMode):
    """What every op gave: shapes, strides, types and bytes of storage."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.given.append((func, [_said(one) for one in tree_leaves(out)]))
        return out


def _said(one: Any) -> Any:
    if not isinstance(one, torch.Tensor):
        return type(one)  # a random seed, perhaps
    return one.shape, one.stride(), one.dtype, one.storage_offset(), one.untyped_storage().nbytes()


@pytest.mark.parametrize("name", PRESETS)
def test_flops_are_those_of_flop_counter_mode(name: str) -> None:
    """Forward and backward."""
    for built, loss in losses(name):
        counter = FlopCounterMode(display=False)
        with counter:
            value = loss()
            forward = counter.get_total_flops()
            value.backward()
        step = measure.training_step(built, loss)
        assert (step.forward, step.backward) == (forward, counter.get_total_flops() - forward)


@pytest.mark.wide(2)
@pytest.mark.parametrize("name", PRESETS)
def test_an_answer_is_the_one_that_pytorch_gives(name: str) -> None:
    """Of every op, the second time as the first."""
    for built, loss in losses(name):
        with Answers() as plain:
            loss().backward()
        for _ in range(2):
            built.zero_grad()
            with Watch(), Answers() as watched:
                loss().backward()
            assert watched.given == plain.given


def test_what_is_thrown_away_is_not_kept() -> None:
    """A layer whose output nothing reads keeps nothing for a backward pass that never comes."""
    layer = torch.nn.Linear(3, 3, device="meta")
    x = torch.zeros(2, 3, device="meta", requires_grad=True)

    def loss(unread: bool) -> torch.Tensor:
        if unread:
            torch.tanh(layer(x.exp()))
        return x.exp().sum()

    assert [measure.saved_bytes(layer, lambda: loss(unread)) for unread in (True, False)] == [2 * 3 * 4] * 2  # noqa: B023


def test_numbers_are_never_remembered() -> None:
    """Two random draws of one shape differ, and so do two numbers read out."""
    with Watch():
        drawn = [torch.rand(64) for _ in range(2)]
        read = [one.sum().item() for one in drawn]
    assert not torch.equal(*drawn)
    assert read[0] != read[1]
