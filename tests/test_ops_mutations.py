"""Breaking the cost of any single kind of op makes a comparison fail: the tests of `test_ops` would notice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from op_twins import TWINS, disagreements
from test_ops import GOLDEN, elementwise_flops

from archcalc.count import Count
from archcalc.ir import Tensor
from archcalc.ops import KINDS, Kind, nothing

if TYPE_CHECKING:
    from collections.abc import Callable

TWINNED = sorted({twin.kind for twin in TWINS})


def _more_flops(kind: Kind) -> Kind:
    return replace(kind, flops=lambda op: kind.flops(op) + Count(1))


def _keeps_more(kind: Kind) -> Kind:
    return replace(kind, saves=lambda op, wants, policy: (*kind.saves(op, wants, policy), Tensor(op.output.axes)))


def _keeps_nothing(kind: Kind) -> Kind:
    return replace(kind, saves=lambda op, wants, policy: ())


def _is_noticed() -> bool:
    return any(map(disagreements, TWINS)) or elementwise_flops() != GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", TWINNED)
@pytest.mark.parametrize("change", [_more_flops, _keeps_more], ids=["one more FLOP", "one more tensor kept"])
def test_a_wrong_cost_is_noticed(kind: str, change: Callable[[Kind], Kind], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any kind, matrix product or not."""
    monkeypatch.setitem(KINDS, kind, change(KINDS[kind]))
    assert _is_noticed()


@pytest.mark.parametrize("kind", [kind for kind in TWINNED if KINDS[kind].saves is not nothing])
def test_forgetting_what_is_kept_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every kind that keeps something for its backward pass."""
    monkeypatch.setitem(KINDS, kind, _keeps_nothing(KINDS[kind]))
    assert _is_noticed()


@pytest.mark.parametrize("kind", TWINNED)
def test_a_wrong_backward_cost_is_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more FLOP in the backward pass."""
    whole = KINDS[kind]
    costs = whole.backward or (lambda op, wants: whole.flops(op) * Count(sum(map(wants, op.inputs))))
    monkeypatch.setitem(KINDS, kind, replace(whole, backward=lambda op, wants: costs(op, wants) + Count(1)))
    assert _is_noticed()
