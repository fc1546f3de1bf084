"""Names in networks: of layers, blocks, parameters and heads. A name is a name, and means one thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError

CONV = {"conv": 6, "kernel": 1}


def load(*layers: Any, **fields: Any) -> archcalc.Model:
    return archcalc.load({"family": "network", "input": "6 × 8 × 8", "layers": list(layers), **fields})


def paths(model: archcalc.Model) -> list[str]:
    """Of the layers with parameters."""
    return [row.path for row in model.params().rows if row.kind == "module"][1:]


@pytest.mark.parametrize("name", ["stage-1", "a + b", "max(1, 2)", "channels", "conv", "3 > 2", "1e3 k"])
def test_a_name_is_no_arithmetic(name: str) -> None:
    model = load({**CONV, "name": name}, {"add": ["input", name]})
    assert paths(model) == [name]


@pytest.mark.parametrize("name", [5, 1.5, None, True, "", " ", "a.b", "a\nb", ["a"], {"a": 1}, "input"])
def test_what_cannot_be_a_name_is_refused(name: Any) -> None:
    with pytest.raises(InputError, match="name"):
        load({**CONV, "name": name})


def test_two_layers_of_one_name_are_refused_with_both_lines(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    lines = ["family: network", "input: 6 × 8 × 8", "layers:", "  - {conv: 6, kernel: 1, name: skip}", "  - relu"]
    file.write_text("\n".join([*lines, "  - {conv: 6, kernel: 1, name: skip}"]), encoding="utf-8")
    with pytest.raises(InputError) as error:
        archcalc.load(file)
    assert [one.line for one in error.value.each()] == [4, 6]


@pytest.mark.parametrize(
    "inside",
    [{"residual": [{**CONV, "name": "x"}]}, {"add": ["input", [{**CONV, "name": "x"}]]}, [{**CONV, "name": "x"}]],
)
def test_a_name_that_can_be_read_is_not_given_again_inside(inside: Any) -> None:
    with pytest.raises(InputError, match="a second layer called x"):
        load({**CONV, "name": "x"}, inside)


def test_branches_and_blocks_have_names_of_their_own() -> None:
    named = [{**CONV, "name": "x"}]
    assert load({"concat": [named, named]}).params().total == 2 * (6 * 6 + 6)
    assert load({**CONV, "name": "x"}, "b", "b", blocks={"b": {"layers": named}}).params().total == 3 * (6 * 6 + 6)


def test_numbered_names_leave_those_out_that_the_spec_gives() -> None:
    assert paths(load({**CONV, "name": "conv_1"}, CONV)) == ["conv_1", "conv_2"]
    assert paths(load(CONV, {**CONV, "name": "conv_1"})) == ["conv_2", "conv_1"]


@pytest.mark.parametrize("head", ["conv_1", "a.b", ""])
def test_a_head_has_a_name_of_its_own(head: str) -> None:
    with pytest.raises(InputError, match="heads"):
        load(CONV, heads={head: [CONV]})


@pytest.mark.parametrize("parameter", ["repeat", "name", "when", "first", "block", "max", "true", "in", "a-b", "2", ""])
def test_parameters_have_names_that_calls_and_expressions_can_use(parameter: str) -> None:
    with pytest.raises(InputError, match="no parameter can be called"):
        load("b", blocks={"b": {"parameters": {parameter: 3}, "layers": [{"conv": parameter, "kernel": 1}]}})


def test_a_parameter_that_no_layer_uses_is_refused() -> None:
    with pytest.raises(InputError, match="no layer of the block b uses depth"):
        load("b", blocks={"b": {"parameters": {"width": 3, "depth": 4}, "layers": [{"conv": "width", "kernel": 1}]}})


def test_a_default_names_parameters_that_stand_before_it() -> None:
    """`width` would be the map's otherwise."""
    layers = [{"conv": "half", "kernel": 1}, {"conv": "width", "kernel": 1}]
    with pytest.raises(InputError, match="half is worked out from width, which stands below"):
        load("b", blocks={"b": {"parameters": {"half": "width // 2", "width": 4}, "layers": layers}})
    model = load("b", blocks={"b": {"parameters": {"width": 4, "half": "width // 2"}, "layers": layers}})
    assert model.params().total == (6 * 2 + 2) + (2 * 4 + 4)


@pytest.mark.parametrize("call", [{}, {"width": None}, {"wdth": 3}, {"width": 3, "more": 1}])
def test_calls_give_what_a_block_takes(call: dict[str, Any]) -> None:
    block = {"parameters": {"width": "required"}, "layers": [{"conv": "width", "kernel": 1}]}
    with pytest.raises(InputError, match=r"width|wdth|more"):
        load({"block": "b", **call}, blocks={"b": block})


def test_a_block_that_is_only_called_on_a_condition_is_called() -> None:
    inner = {"layers": [CONV]}
    outer = {"parameters": {"deep": False}, "layers": [{"block": "inner", "when": "deep"}, "relu"]}
    assert load("outer", blocks={"inner": inner, "outer": outer}).params().total == 0


def test_blocks_and_layers_may_be_passed_on() -> None:
    blocks = {
        "b": {"parameters": {"inner": "required", "last": "relu"}, "layers": [{"block": "inner"}, "last"]},
        "wide": {"layers": [{"conv": 9, "kernel": 1}]},
    }
    assert load({"block": "b", "inner": "wide", "last": "prelu"}, blocks=blocks).params().total == 6 * 9 + 9 + 1


def test_defaults_are_blamed_for_what_stands_in_them(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    lines = ["family: network", "input: 6 × 8 × 8", "defaults:", "  conv: {kernel: kernal // 2}"]
    file.write_text("\n".join([*lines, "layers:", "  - {conv: 6}"]), encoding="utf-8")
    with pytest.raises(InputError, match=r"defaults\.conv\.kernel") as error:
        archcalc.load(file)
    assert error.value.line == 4
