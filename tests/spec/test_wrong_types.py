"""A value of the wrong type in any field of any family: where it stands and what is wanted, in archcalc's own words."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

import archcalc
from archcalc.archs import families, family_module
from archcalc.core.errors import InputError
from archcalc.spec.fields import Place, places
from archcalc.spec.paths import data_root
from archcalc.spec.yaml_reader import read
from archcalc.spec.yaml_writer import flow

STARTERS = {"transformer": "transformer", "network": "convolutional"}  # others have one of their own name
WRONG = [
    None,
    True,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**20,
    "zzz",
    "",
    [],
    ["zzz"],
    [[1]],
    {"zzz": 1},
    [{"zzz": 1}],
]
PYDANTIC = re.compile(
    r"(?i)pydantic|(input|value|list|tuple|string|dictionary) should|value error|after validation|extra inputs"
)
COMPUTED = [family for family in families() if family != "weights"]


def starter(family: str) -> dict[str, Any]:
    file = data_root() / "starters" / f"{STARTERS.get(family, family)}.yaml"
    return {**read(file.read_bytes(), file.name).data, "family": family}


def with_wrong(family: str, place: Place, value: Any) -> dict[str, Any]:
    """A spec in which one field has the value; of a layer, with the fields that it cannot be without."""
    if place.item:
        needed = {
            name: (info.examples or [1])[0] for name, info in place.node.model_fields.items() if info.is_required()
        }
        fields = {**needed, place.name: value}
        layer = {place.item if name == place.node.main else name: each for name, each in fields.items()}
        return {"family": family, "input": [4, 8, 8], "layers": [{place.item: True, **layer}]}
    data = inner = copy.deepcopy(starter(family))
    for key in place.path[:-1]:
        inner[key] = dict(inner[key]) if isinstance(inner.get(key), dict) else {}
        inner = inner[key]
    inner[place.name] = value
    return data


@pytest.mark.wide(12)
@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize("family", COMPUTED)
def test_a_wrong_type_is_told_in_archcalcs_words(family: str, value: Any) -> None:
    """Every place of every field: an answer, or mistakes that name a field and say nothing of pydantic."""
    for place in places(family_module(family).Spec):
        try:
            archcalc.load(with_wrong(family, place, value))
        except InputError as error:
            for one in error.each():
                assert one.field, (place.path, one.told())
                assert not PYDANTIC.search(one.told()), (place.path, one.told())


@pytest.mark.parametrize(
    "field,value,told",
    [
        ("dropout", 1.5, "expected a number from 0 below 1, found 1.5\n  3 | dropout: 1.5\n  such as 0.1"),
        ("dropout", "much", "expected a number, found 'much'"),
        ("name", 5, "expected text, found 5"),
        ("scope", {"part": "text model", "left_out": []}, "expected 1 items or more, found 0"),
        ("heads", None, "expected a whole number, found nothing"),
    ],
)
def test_file_line_field_and_an_example(tmp_path: Path, field: str, value: Any, told: str) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(f"vocab: 90\nd_model: 48\n{flow({field: value})[1:-1]}\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(told)) as error:
        archcalc.load(file)
    assert f"{file}:3: {field}" in str(error.value)


@pytest.mark.parametrize("branches", [[], ["input"]])
def test_a_join_needs_two_branches(branches: list[str]) -> None:
    with pytest.raises(InputError, match=f"expected 2 items or more, found {len(branches)}"):
        archcalc.load({"family": "network", "input": 4, "layers": [{"add": branches}]})
