"""What a GPU's runtime takes: of training on devices that it was measured on, of serving, and as it is asked for."""

from __future__ import annotations

from typing import Any

from archcalc import load

GIB = 2**30


def overhead(**options: Any) -> float:
    asked: dict[str, Any] = {"batch": 1, "seq": 128, **options}
    return load("gpt2").memory(**asked).parts["overhead"] / GIB


def test_training_on_one_gpu_and_on_several() -> None:
    """nvidia-smi beside PyTorch's segments, github.com/foundation-model-stack/fms-acceleration 876e2ed on A100."""
    assert round(overhead(mode="train", gpu="a100"), 2) == 1.9
    assert round(overhead(mode="train", gpu="a100", dp=2), 2) == 2.7


def test_devices_that_nobody_measured_training_on() -> None:
    assert overhead(mode="train", gpu="rtx-4090") == overhead(mode="train") == 0.5


def test_what_is_asked_for_is_taken() -> None:
    assert overhead(mode="train", gpu="a100", overhead="1GiB") == 1
