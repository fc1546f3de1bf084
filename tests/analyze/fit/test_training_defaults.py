"""Old presets say fp32: on devices with bf16, fit trains them as people do, and says so."""

from __future__ import annotations

import archcalc


def test_mixed_precision_on_devices_with_bf16() -> None:
    """A batch of ViT-L on a card of 16 GB."""
    model = archcalc.load("vit-l-16")
    report = archcalc.fit(model, gpus=["rtx-4080"], mode="train", batch=64)
    asked = model.memory(mode="train", batch=64, precision="mixed", attention="flash")
    assert report.memory.required_bytes == asked.required_bytes
    assert any("the spec says fp32" in str(note) and note.option == "--precision" for note in report.assumptions)


def test_what_was_asked_for_stays() -> None:
    model = archcalc.load("vit-l-16")
    report = archcalc.fit(model, gpus=["rtx-4080"], mode="train", batch=64, precision="fp32")
    assert report.memory.required_bytes == model.memory(mode="train", batch=64).required_bytes


def test_other_devices_and_sizes_are_not_guessed() -> None:
    """A T4 has no bf16, and of 16 GiB nothing is known; without --gpu the ten usual devices are as the spec says."""
    model = archcalc.load("gpt2")
    plain = model.memory(mode="train").required_bytes
    for gpus in (["t4"], ["16GiB"], ["rtx-4080", "t4"], None):
        assert archcalc.fit(model, gpus=gpus, mode="train").memory.required_bytes == plain
