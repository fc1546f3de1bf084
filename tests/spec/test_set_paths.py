"""Paths of `--set`: fields, items of lists from either end, and lists within lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.archs import families
from archcalc.core.errors import InputError
from archcalc.spec.overrides import as_data, at, changed, full_path
from archcalc.spec.paths import presets
from archcalc.spec.yaml_writer import flow

if TYPE_CHECKING:
    from conftest import Run

LENET = 61_706  # parameters


@pytest.mark.parametrize("path", ["layers[7].linear", "layers[-1].linear"])
def test_an_item_of_a_list_is_changed(path: str) -> None:
    assert archcalc.load("lenet-5", set=[f"{path}=100"]).params().total == LENET + (84 + 1) * (100 - 10)


def test_lists_within_lists() -> None:
    model = archcalc.load("unet", set=["layers[-9].concat[-1][0].width=256"])
    assert model.spec.model_dump()["layers"][9]["concat"][1] == [{"block": "up", "width": 256}]


def test_a_whole_item_is_replaced() -> None:
    model = archcalc.load("lenet-5", set=["layers[0]={conv: 6, kernel: 5, bias: false}"])
    assert model.params().total == LENET - 6


def test_a_size_of_a_list_that_was_written_as_text() -> None:
    assert archcalc.load("lenet-5", set=["input[0]=3"]).params().total == LENET + 2 * 6 * 5 * 5


def test_later_changes_count_in_what_earlier_ones_made() -> None:
    model = archcalc.load("mlp-mnist", set=["input=784", "layers=[{linear: 10}, {linear: 20}]", "layers[1].linear=30"])
    assert model.params().total == (784 * 10 + 10) + (10 * 30 + 30)


@pytest.mark.parametrize(
    "change,told",
    [
        ("layers[8].linear=1", "layers[8] is not there: layers has 8 items"),
        ("layers[-9].linear=1", "layers[-9] is not there: layers has 8 items"),
        ("layers[8]=relu", "write the whole list to add to it: layers=[…]"),
        ("layers.linear=1", "layers is a list of 8"),
        ("layers[4].to=1", "layers[4] is 'flatten', which has no to"),
        ("layers[x].linear=1", "'layers[x]' is no field"),
        ("layers[0.linear=1", "'layers[0' is no field"),
        ("name[0]=a", "name is 'LeNet-5', and no list"),
        ("loss[0]=a", "loss is not in the spec, so that it has no items"),
        ("layers[0].kernel[0]=a", "layers[0].kernel is 5, and no list"),
        ("layers[2].kernel=50", "the window does not fit"),
        ("layers[-1].linear=many", "expected a whole number"),
    ],
)
def test_what_is_not_there_is_told_at_the_change(run: Run, change: str, told: str) -> None:
    answer = run("params", "lenet-5", "--set", change)
    assert answer.code == 2
    assert answer.err.startswith(f"error: --set {change}: ")
    assert told in answer.err


@pytest.mark.parametrize("family", families())
def test_every_item_of_every_list_can_be_named(family: str) -> None:
    """Set to what it is, from the front and from the end, it changes nothing."""
    for model in map(archcalc.load, _of_family(family)):
        data = as_data(model.spec)
        for path, items in lists(data):
            for number, item in enumerate(items):
                assert at(data, full_path(model.spec, f"{path}[{number}]")) == item
                assert at(data, full_path(model.spec, f"{path}[{number - len(items)}]")) == item
        for path, items in list(lists(data))[:3]:
            assert as_data(changed(model.spec, f"{path}[-1]={flow(items[-1])}")) == data


def _of_family(family: str) -> list[str]:
    written = {name: file.read_text(encoding="utf-8") for name, file in presets().items()}
    own = [name for name, text in written.items() if f"\nfamily: {family}" in text]
    return own[:5] if family != "transformer" else ["deepseek-v3", "gemma-3-1b", "whisper-tiny"]


def lists(data: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    if isinstance(data, list) and data:
        yield path, data
    for key, value in data.items() if isinstance(data, dict) else ():
        yield from lists(value, f"{path}.{key}".lstrip("."))
    for number, value in enumerate(data) if isinstance(data, list) else ():
        yield from lists(value, f"{path}[{number}]")


def test_a_part_of_what_needs_more_is_changed_alone() -> None:
    model = archcalc.load("deepseek-v3", set=["scope.of=another"])
    assert (model.scope.of, model.scope.part) == ("another", archcalc.load("deepseek-v3").scope.part)


def test_a_list_that_was_changed_is_blamed_for_what_stands_in_it(run: Run) -> None:
    answer = run("params", "lenet-5", "--set", "layers=[{conv: 6, kernel: 99}]")
    assert answer.err.startswith("error: --set layers=[{conv: 6, kernel: 99}]: the window does not fit")


@pytest.mark.parametrize("command", ["plot", "compare"])
def test_items_are_axes_and_changes_of_one_model(run: Run, command: str) -> None:
    asked = {
        "plot": ("plot", "lenet-5", "--x", "layers[-1].linear=10,100", "--y", "params"),
        "compare": ("compare", "lenet-5", "lenet-5:layers[-1].linear=100,layers[0].conv=6"),
    }
    answer = run(*asked[command])
    assert answer.code == 0
    assert "layers[-1].linear" in answer.out


def test_a_path_may_not_pass_through_a_scalar() -> None:
    with pytest.raises(InputError):
        archcalc.load("lenet-5", set=["layers[0].conv.channels=3"])
