"""show --resolved: the whole spec with every default, which loads to the same model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.model import Model
from archcalc.spec.filled import MARK
from archcalc.spec.paths import presets
from archcalc.spec.yaml_reader import read

if TYPE_CHECKING:
    from conftest import Run

SMALL: dict[str, Any] = {"vocab": 100, "d_model": 8, "heads": 2, "ffn": 16}
NORMS = {"norm": "rms", "attention": {"norm": {"place": "post"}}, "decoder": {"blocks": 2, "norm": "layer"}}
POSITIONS = {"position": "rope", "encoder": {"blocks": 1, "position": {"kind": "learned", "length": 9}}, "decoder": 1}
VARIANTS = {"variants": {"a": {"like": "attention", "heads": 4}}, "decoder": {"pattern": ["a ffn", "attention ffn"]}}
PARTS = {"decoder": {"blocks": 2, "attention": {"window": 5}}, "attention": {"sinks": True}}


def reloaded(model: Model) -> Model:
    return Model.from_document(read(model.resolved_yaml().encode(), model.name), model.name)


@pytest.mark.wide
def test_every_preset_loads_to_the_same_model() -> None:
    """To the same tree: parameters, ops and shapes."""
    for name in presets():
        model = load(name)
        assert str(reloaded(model).build()) == str(model.build()), name


@pytest.mark.parametrize("fields", [NORMS, POSITIONS, VARIANTS, PARTS], ids=["norms", "positions", "variants", "parts"])
def test_what_parts_and_stacks_inherit_is_not_overridden(fields: dict[str, Any]) -> None:
    model = load({**SMALL, **fields})
    assert str(reloaded(model).build()) == str(model.build())


@pytest.mark.parametrize(
    "name", ["gpt2", "t5-small", "vit-b-16", "hubert-base", "mixtral-8x7b", "deepseek-v3", "gnmt", "textbook"]
)
def test_what_is_filled_in_is_marked_and_nothing_is_left_to_fill_in(name: str) -> None:
    model = load(name)
    assert MARK in model.resolved_yaml()
    assert MARK not in reloaded(model).resolved_yaml()


def test_defaults_are_printed_with_their_values(run: Run) -> None:
    lines = run("show", "gpt2", "--resolved").out.splitlines()
    assert {"head_dim: 64  # default", "bias: true  # default", "  place: pre  # default"} <= set(lines)
    assert {"  act: gelu_tanh", "  kind: tied", "  # window: all positions"} <= set(lines)


def test_changes_are_filled_in_too(run: Run) -> None:
    shown = run("show", "gpt2", "--resolved", "--set", "position=rope").out
    assert "  theta: 10000.0  # default" in shown.splitlines()
    assert run("params", "-", stdin=shown).code == 0
