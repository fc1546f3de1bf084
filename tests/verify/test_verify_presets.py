"""Presets against PyTorch: parameters at full depth, the other rows on one period at a short sequence.

One of each kind here; `archcalc verify --all`, which `.ci/run` runs, takes all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from archcalc.data import presets
from archcalc.verify.presets import verify_preset
from archcalc.verify.report import VerifyReport

if TYPE_CHECKING:
    from conftest import Run

WITHOUT_REFERENCE = {
    "deberta-v3-base": "no reference for disentangled positions",
    "qwen3-next-80b-a3b": "no reference for delta nets",
}


KINDS = [
    "textbook",
    "gpt2",
    "bert-base",
    "t5-small",
    "llama-3-8b",
    "gemma-2-9b",
    "mixtral-8x7b",
    "deepseek-v2-lite",
    "mamba-130m",
    "recurrentgemma-2b",
    "vit-b-16",
    "whisper-tiny",
    "sentiment-lstm",
    "rnnsearch",
    "recursive-autoencoder",
]


@pytest.mark.parametrize("name", KINDS)
def test_a_preset_equals_pytorch(name: str) -> None:
    """In every row."""
    report = verify_preset(name)
    assert isinstance(report, VerifyReport), report
    assert report.ok, report.answer()


@pytest.mark.parametrize("name", WITHOUT_REFERENCE)
def test_a_preset_without_a_reference_is_named(name: str) -> None:
    """Not passed over, and not passed."""
    assert verify_preset(name) == WITHOUT_REFERENCE[name]


def test_all_prints_one_line_a_preset(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick for each that agrees; why for each that cannot be compared."""
    few = {name: file for name, file in presets().items() if name in ("keras-gru", "deberta-v3-base")}
    monkeypatch.setattr("archcalc.data.presets", lambda kind="models": few)
    answer = run("verify", "--all")
    assert answer.code == 0
    assert "✓ 1 of 2 presets equal PyTorch in all that is compared, 1 cannot be compared" in answer.out
    assert "– no reference for disentangled positions" in answer.out
