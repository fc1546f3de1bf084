"""Bands that do not change with what was measured by now."""

from __future__ import annotations

import pytest

from archcalc.analyze.fit import need
from archcalc.run.accuracy import OFFLOADED, Band

BANDS = {"infer": 5, "prefill": 5, "decode": 5, "train": 3}  # percent


@pytest.fixture(autouse=True)
def bands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every run that offloads nothing."""
    found = {mode: Band(percent, 8, "any") for mode, percent in BANDS.items()}
    monkeypatch.setattr(need, "band", lambda run, parts: found[run.mode] if run.said.isdisjoint(OFFLOADED) else None)
