"""presets/hf is what the installed transformers declares, and ships whole."""

from __future__ import annotations

import json

from hf_defaults import files, registered

from archcalc.importers.hf import translators
from archcalc.spec.model_types import described
from archcalc.spec.paths import data_root

BESIDES = {"texts.json", "types.yaml", "unloaded.json"}  # of other files in tools/
BY_HAND = {"images.json", "inert.json", "mtp.yaml"}


def test_each_type_has_a_file_that_says_what_its_class_declares() -> None:
    """Written again by tools/hf_defaults.py, they come out the same, and there are no others."""
    written, own = files(registered()), {f"{name}.json" for name in set(translators()) - set(registered())}
    shipped = {file.name: file for file in (data_root() / "hf").iterdir()}
    assert set(shipped) == {*written, *own, *BESIDES, *BY_HAND}
    assert [name for name, text in written.items() if shipped[name].read_text(encoding="utf-8") != text] == []


def test_a_type_that_transformers_has_not_says_what_it_is_like_and_where_that_stands() -> None:
    """It has all that a type's file has: its own defaults beside those of another."""
    for name in sorted(set(translators()) - set(registered())):
        own = json.loads((data_root() / "hf" / f"{name}.json").read_text(encoding="utf-8"))
        assert own["source"].startswith("https://") and translators()[own["like"]]
        assert described(name)["defaults"] == {**described(own["like"])["defaults"], **own["defaults"]}
