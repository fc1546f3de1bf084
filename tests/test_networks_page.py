"""docs/networks.md lists every kind of layer with its fields, and an example of each that can be copied."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import archcalc
from archcalc.archs.network.kinds import kinds

PAGE = (Path(__file__).parent.parent / "docs" / "networks.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("| kind | what it does | other fields | example |\n")[2].partition("\n\n")[0]
ROWS = {row[0]: row for row in re.findall(r"^\| `(\w+)` \| .+? \| (.*?)\| `(.+)` \|$", TABLE, re.MULTILINE)}
ATTENDING = ("attention", "local_attention", "transformer", "matmul")
SEQUENCE = {"input": "8 × seq", "seq": 40}
BEHIND: dict[str, Any] = {  # else a map
    "embedding": {"input": "tokens"},
    "linear": {"layers": ["flatten"]},
    **dict.fromkeys(("lstm", "gru", "rnn", "position", "map", "transpose", "merge", *ATTENDING), SEQUENCE),
}
BASIC = {"basic": {"parameters": {"width": "required"}, "layers": [{"conv": "width", "kernel": 3, "padding": "same"}]}}


def test_every_kind_has_a_row() -> None:
    assert set(ROWS) == set(kinds())


@pytest.mark.parametrize("kind", sorted(set(kinds()) - {"block"}))
def test_the_fields_of_a_kind_are_told(kind: str) -> None:
    """All but the one behind the kind's own name; of kinds that are declared together, at least one tells each."""
    declared = kinds()[kind].FIELDS
    together = [word for word, module in kinds().items() if module.FIELDS is declared]
    told = {field for word in together for field in re.findall(r"`(\w+)`", ROWS[word][1])}
    assert told == set(declared.model_fields) - {declared.main}


@pytest.mark.parametrize("kind", sorted(ROWS))
def test_the_example_of_a_row_is_a_layer(kind: str) -> None:
    """Of a map of 8 channels, or of what stands in front of it."""
    layer: Any = yaml.safe_load(ROWS[kind][2])
    assert kind in layer
    blocks = BASIC if kind == "block" else {}
    spec = {"family": "network", "input": [8, 32, 32], "layers": [], "blocks": blocks, **BEHIND.get(kind, {})}
    spec["layers"] = [*spec["layers"], layer]
    assert archcalc.load(spec).shapes().rows
