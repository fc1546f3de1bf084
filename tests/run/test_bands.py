"""Bands of training: of each figure its own where one was earned, the same for codes that train the same classes."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import load
from archcalc.run import accuracy

CLASSES: list[dict[str, Any]] = [
    {"runner": "transformers", "devices": "any", "sharding": "one", "band": 9, "runs": 18, "sources": 3},
    {"runner": "transformers", "devices": "any", "sharding": "one", "band": 2, "runs": 8, "sources": 2}
    | {"figure": "allocated"},
]


@pytest.mark.parametrize("code", ["transformers", "trl", "transformers@4.48"])
def test_a_figure_has_its_own_band_and_the_rest_that_of_all(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever the version and the kind of device."""
    monkeypatch.setattr(accuracy, "shipped", lambda *_: {"classes": CLASSES})
    for device in ("a100", "rtx-4090"):
        record = load("llama-3.2-1b").memory(mode="train", batch=1, seq=128, code=code, gpu=device).record()
        assert record["band"] == 0.09
        assert record["bands"] == {"allocated": 0.02, "reserved": 0.09, "device": 0.09}
