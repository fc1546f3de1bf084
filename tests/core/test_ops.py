"""The cost of every kind of op, against the PyTorch function it stands for."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from support.op_twins import (
    GOLDEN,
    TWINS,
    WITHOUT_TWIN,
    Twin,
    disagreements,
    elementwise_flops,
    gives_out,
    role_of,
)

from archcalc.core.ir import Module
from archcalc.core.ops import KINDS


def test_every_kind_has_a_twin_in_pytorch() -> None:
    """A kind that is compared with nothing could be wrong without anybody noticing."""
    assert {twin.kind for twin in TWINS} | WITHOUT_TWIN == set(KINDS)


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_an_op_costs_what_pytorch_does(twin: Twin) -> None:
    """FLOPs forward and backward and bytes kept in fp32 and bf16, for every choice of inputs that want a gradient."""
    assert disagreements(twin) == []


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_an_op_gives_out_what_pytorch_does(twin: Twin) -> None:
    """Numbers, places or marks; what is kept for a next step is numbers."""
    assert gives_out(twin) == role_of(twin)


def test_elementwise_flops_follow_the_stated_convention() -> None:
    """PyTorch counts none of them, so that they are pinned: a change of the convention has to be meant."""
    assert elementwise_flops() == GOLDEN.read_text(encoding="utf-8")


def test_an_unknown_kind_is_refused() -> None:
    """A misspelt op must not cost nothing."""
    with pytest.raises(ValueError, match="unknown kind of op: sofmax"):
        Module("m").record("sofmax")
