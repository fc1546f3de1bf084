"""A mistake in a library's code is a bug, and never another answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.run.code import lowering
from archcalc.run.code.refusal import refused

if TYPE_CHECKING:
    from conftest import Run

NORM = ("rms_norm", "rms_norm")
ASKED = ("memory", "tinyllama-1.1b", "--mode", "train")


def mistyped(op: Any, *, narrow: bool) -> Any:
    return op.inputss


def not_known(op: Any, *, narrow: bool) -> Any:
    refused("a norm of its own")


def with_norm(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    ways = lowering.OPS[NORM]
    monkeypatch.setitem(lowering.OPS, NORM, {**ways, "upcast": function})


@pytest.mark.parametrize("error", [AttributeError, KeyError, StopIteration, TypeError, ValueError, AssertionError])
def test_a_mistake_in_a_lowering_is_not_answered(
    monkeypatch: pytest.MonkeyPatch, run: Run, error: type[Exception]
) -> None:
    """Whatever it raises."""

    def broken(op: Any, *, narrow: bool) -> Any:
        raise error("a mistake")

    with_norm(monkeypatch, broken)
    with pytest.raises((error, RuntimeError)):  # StopIteration turns into a RuntimeError in a generator
        load("tinyllama-1.1b").memory(mode="train")


def test_a_name_that_is_mistyped_exits_as_a_bug(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """And not with another number."""
    with_norm(monkeypatch, mistyped)
    answer = run(*ASKED)
    assert (answer.code, answer.out) == (70, "")


def test_a_layer_that_is_not_known_is_shown_in_the_first_line(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """PyTorch's own modules then, with the reason; asked for by name, the code is refused."""
    with_norm(monkeypatch, not_known)
    record = run(*ASKED, "--format", "json").json["run"]
    assert "plain PyTorch" in record["line"] and "transformers" not in record["line"]
    assert "this model has a norm of its own" in record["choices"]["code"]["text"]
    answer = run(*ASKED, "--code", "transformers")
    assert answer.code == 2 and "a norm of its own" in answer.err
