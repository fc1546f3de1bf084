"""Presets against PyTorch: parameters at full depth, the other rows on one period at a short sequence.

One of each kind here; `archcalc verify --all`, which `.ci/run` runs, takes all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from archcalc.loading import load
from archcalc.report.of_verify import VerifyReport
from archcalc.spec.paths import presets
from archcalc.verify.check import verify
from archcalc.verify.lengths import workload_of
from archcalc.verify.presets import verify_preset

if TYPE_CHECKING:
    from conftest import Run, Write

KINDS = [
    "textbook",
    "gpt2",
    "bert-base",
    "deberta-v3-base",
    "t5-small",
    "llama-3-8b",
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


@pytest.mark.wide(2)
@pytest.mark.parametrize("name", KINDS)
def test_a_preset_equals_pytorch(name: str) -> None:
    """In every row."""
    report = verify_preset(name)
    assert isinstance(report, VerifyReport), report
    assert report.ok, report.answer()


@pytest.mark.wide(7)
@pytest.mark.parametrize("name", KINDS)
def test_the_small_twin_of_a_preset_equals_pytorch(name: str) -> None:
    """In every row, at the lengths that the twin can read: its image, its sound, its table of positions."""
    model = load(name)
    report = verify(model, workload_of(model, quick=True), scale_down=True, quick=True, way=("eager", "none"))
    assert report.ok, report.answer()


@pytest.mark.wide
def test_all_prints_one_line_a_preset(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick for each that agrees, with how many quantities that are."""
    few = {name: file for name, file in presets().items() if name in ("keras-gru", "linear-autoencoder")}
    monkeypatch.setattr("archcalc.spec.paths.presets", lambda kind="models": few)
    answer = run("verify", "--all")
    assert answer.code == 0
    assert "✓ 2 of 2 presets equal PyTorch in all that is compared" in answer.out


@pytest.mark.wide
def test_a_preset_that_cannot_be_compared_is_named(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not passed over, and not passed: a list of weights has no forward pass."""
    weights = write("family: weights\ntensors: {a: 'fp32 [2, 3]'}\n")
    monkeypatch.setattr("archcalc.spec.paths.presets", lambda kind="models": {weights: Path(weights)})
    answer = run("verify", "--all")
    assert "0 of 1 presets equal PyTorch in all that is compared, 1 cannot be compared" in answer.out
