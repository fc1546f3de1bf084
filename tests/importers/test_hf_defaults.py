"""presets/hf is what the installed transformers declares, and ships whole."""

from __future__ import annotations

import pytest
from hf_defaults import files

from archcalc.importers.hf import translators
from archcalc.spec.paths import data_root

WRITTEN = files(sorted(translators()))


def test_each_type_has_a_file_and_no_other_has() -> None:
    besides = {"texts.json", "types.yaml", "unloaded.json"}  # of other files in tools/
    besides |= {"inert.json"}  # written by hand
    assert {file.name for file in (data_root() / "hf").iterdir()} == {*WRITTEN, *besides}


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_a_file_is_what_its_class_declares(name: str) -> None:
    """Written again by tools/hf_defaults.py, it comes out the same."""
    assert (data_root() / "hf" / name).read_text(encoding="utf-8") == WRITTEN[name]
