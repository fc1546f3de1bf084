"""The verifier knows no family by its name: what it must know of one, it asks that family's file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from archcalc.importers.hf import translators
from archcalc.importers.hf._helpers.reading import described
from archcalc.verify import hf

SOURCES = sorted(Path(hf.__file__).parent.glob("*.py"))
NAMES = sorted({described(model_type)["config"].removesuffix("Config") for model_type in translators()})


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.stem)
def test_no_class_of_a_family_is_named(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert [name for name in NAMES if re.search(rf"\b{name}([A-Z][a-z]|\b)|\b{name.lower()}\b", text)] == []
