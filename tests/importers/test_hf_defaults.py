"""presets/hf is what the installed transformers declares, and ships whole."""

from __future__ import annotations

from hf_defaults import files

from archcalc.importers.hf import translators
from archcalc.spec.paths import data_root

BESIDES = {"texts.json", "types.yaml", "unloaded.json"}  # of other files in tools/
BY_HAND = {"inert.json"}


def test_each_type_has_a_file_that_says_what_its_class_declares() -> None:
    """Written again by tools/hf_defaults.py, they come out the same, and there are no others."""
    written = files(sorted(translators()))
    shipped = {file.name: file for file in (data_root() / "hf").iterdir()}
    assert set(shipped) == {*written, *BESIDES, *BY_HAND}
    assert [name for name, text in written.items() if shipped[name].read_text(encoding="utf-8") != text] == []
