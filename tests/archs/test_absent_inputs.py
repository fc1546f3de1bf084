"""Inputs of which a sample has none: what reads them has its weights, and is not run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from conftest import Run

TOWER: dict[str, Any] = {"d_model": 32, "heads": 2, "ffn": 64, "encoder": 1}
SPEC: dict[str, Any] = {
    "inputs": {"image": {"shape": "3 × 32 × 32"}, "sound": {"shape": "16 × 80", "rate": 100}, "words": "tokens"},
    "seq": 70,
    "parts": {
        "vision": {"reads": "image", **TOWER, "embedding": {"kind": "patches", "patch": 8, "tokens": 0}},
        "hearing": {"reads": "sound", **TOWER, "position": "sinusoidal"},
        "text": {"reads": ["vision", "hearing", "words"], **TOWER, "vocab": 50},
    },
}
DECODER = {key: value for key, value in {**SPEC["parts"]["text"], "decoder": 1}.items() if key != "encoder"}


def of(**numbers: int) -> Any:
    """The model with so many of each input."""
    inputs = dict(SPEC["inputs"])
    for name, number in numbers.items():
        inputs[name] = {**inputs[name], "number": number}
    return archcalc.load({**SPEC, "inputs": inputs, "parts": {**SPEC["parts"], "text": DECODER}})


@pytest.mark.parametrize("numbers", [{"sound": 0}, {"image": 0}, {"image": 0, "sound": 0}, {"image": 2, "sound": 0}])
def test_it_is_what_pytorch_runs(numbers: dict[str, int]) -> None:
    report = of(**numbers).verify()
    assert report.rows and all(row.equal for row in report.rows), report


def test_weights_stay_and_work_goes() -> None:
    both, deaf = of(), of(sound=0)
    assert both.params().total == deaf.params().total
    work = deaf.flops(mode="forward", seq=70).record()["rows"]
    assert not any(row["path"].startswith("hearing") and row["forward"] for row in work)


def test_what_is_needed_cannot_be_left_out(run: Run) -> None:
    answer = run("params", "clip-vit-base-patch32", "--images", "0")
    assert answer.code == 2 and "nothing comes in" in answer.err
    with pytest.raises(InputError, match="of which there is none"):
        archcalc.load(
            {"inputs": {"image": {"shape": "3 × 8 × 8", "number": 0}}, "parts": {"net": {"conv": 2, "kernel": 1}}}
        )


def test_a_text_without_images_may_be_shorter(run: Run) -> None:
    few = ("flops", "docs/examples/qwen3-vl-2b", "--mode", "forward", "--seq", "64")
    assert run(*few).code == 2
    answer = run(*few, "--images", "0")
    assert answer.code == 0 and "no image" in answer.out
