"""What devices compute in: every generation of the catalog has a row, and the rows agree with the device files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from archcalc.core.errors import InputError
from archcalc.run.code import OWN
from archcalc.run.device import capabilities, catalog, device
from archcalc.run.device.capabilities import FORMATS
from archcalc.run.kernels import EAGER, EFFICIENT, FLASH, torch_kernel
from archcalc.run.precision_recipes import recipe, training_replacement

if TYPE_CHECKING:
    from conftest import Run

TARGETED = ("NVIDIA", "AMD")  # makers whose kernels are built for targets


@pytest.mark.parametrize(
    ("name", "compute", "bf16", "fp8", "fp4", "flash"),
    [
        ("k80", "3.7", False, False, False, 0),
        ("gtx-1080-ti", "6.1", False, False, False, 0),
        ("p100-16gb", "6.0", False, False, False, 0),
        ("v100-32gb", "7.0", False, False, False, 0),
        ("t4", "7.5", False, False, False, 0),
        ("a100-80gb", "8.0", True, False, False, 2),
        ("rtx-3090", "8.6", True, False, False, 2),
        ("jetson-orin-agx-64gb", "8.7", True, False, False, 2),
        ("rtx-4090", "8.9", True, True, False, 2),
        ("h100", "9.0", True, True, False, 3),
        ("b200", "10.0", True, True, True, 4),
        ("rtx-5090", "12.0", True, True, True, 2),
        ("dgx-spark", "12.1", True, True, True, 2),
        ("rx-6800", "gfx1030", True, False, False, 0),
        ("rx-7900-xtx", "gfx1100", True, False, False, 2),
        ("rx-9070-xt", "gfx1201", True, True, False, 2),
        ("mi250x", "gfx90a", True, False, False, 2),
        ("mi300x", "gfx942", True, True, False, 2),
        ("m4-max-36gb", None, True, False, False, 0),
    ],
)
def test_what_a_device_has(name: str, compute: str | None, bf16: bool, fp8: bool, fp4: bool, flash: int) -> None:
    found = capabilities(device(name)[1])
    assert (found.compute, found.bf16, found.fp8, found.fp4) == (compute, bf16, fp8, fp4)
    assert found.flash == flash


def test_a_format_of_which_a_file_has_a_peak_is_one_that_the_device_has() -> None:
    lacking = [
        (name, each)
        for name, one in catalog().items()
        for each in FORMATS
        if getattr(one.peak, each) and getattr(capabilities(one), each) is not True
    ]
    assert lacking == []


def test_every_card_with_targets_has_exactly_one() -> None:
    cards = {name: capabilities(one) for name, one in catalog().items() if one.maker in TARGETED}
    assert [name for name, found in cards.items() if found.compute is None or found.bf16 is None] == []
    assert len(cards) > 200


def test_a_memory_size_and_a_bare_file_are_not_known(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = capabilities(device("24GB")[1])
    assert (size.compute, size.bf16, size.flash, size.fused_attention) == (None, None, None, None)
    (tmp_path / "gpus").mkdir()
    (tmp_path / "gpus" / "mine.yaml").write_text("name: Mine\nmaker: NVIDIA\nmemory: 24GB\n", encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    assert capabilities(device("mine")[1]).bf16 is None
    assert run("fit", "llama-3-8b", "--gpu", "mine", "--engine", "vllm", "--weights", "nvfp4").code == 0


def test_a_file_of_ones_own_may_name_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A generation alone tells what all its targets share: Ampere has bf16, whichever its compute capability."""
    (tmp_path / "gpus").mkdir()
    text = "name: Mine\nmaker: NVIDIA\nmemory: 24GB\n"
    (tmp_path / "gpus" / "mine-a.yaml").write_text(text + 'compute: "7.5"\n', encoding="utf-8")
    (tmp_path / "gpus" / "mine-b.yaml").write_text(text + "generation: ampere\n", encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    old, new = capabilities(device("mine-a")[1]), capabilities(device("mine-b")[1])
    assert (old.generation, old.bf16, new.compute, new.bf16) == ("turing", False, None, True)


def test_a_target_that_is_none_is_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gpus").mkdir()
    (tmp_path / "gpus" / "mine.yaml").write_text('name: Mine\nmemory: 24GB\ncompute: "8,6"\n', encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    found = run("fit", "gpt2", "--gpu", "mine")
    assert found.code == 2 and "mine.yaml:3" in found.err


def test_a_device_is_named_with_its_target() -> None:
    assert capabilities(device("t4")[1]).words == "NVIDIA T4 16GB (compute capability 7.5)"


@pytest.mark.parametrize(
    ("name", "activations", "kernel", "words"),
    [
        ("h100", "bf16", "flash", FLASH),
        ("rtx-3090", "bf16", "flash", FLASH),
        ("rtx-3090", "fp32", "flash", EFFICIENT),
        ("t4", "fp16", "flash", EFFICIENT),
        ("gtx-1080-ti", "fp16", "flash", EFFICIENT),
        ("m4-max-36gb", "bf16", "flash", EFFICIENT),
        ("rx-6800", "fp16", "eager", EAGER),
        ("k80", "fp32", "eager", EAGER),
        ("24GB", "bf16", "flash", FLASH),
    ],
)
def test_the_attention_kernel_of_a_device(name: str, activations: str, kernel: str, words: str) -> None:
    found = torch_kernel(None, capabilities(device(name)[1]), activations, OWN)
    assert (found.value, found.words) == (kernel, words)


@pytest.mark.parametrize(
    ("name", "precision", "outcome"),
    [
        ("t4", "bf16", "refused"),
        ("v100-32gb", "bf16", "refused"),
        ("t4", "lora", "replaced"),
        ("v100-32gb", "autocast", "replaced"),
        ("t4", "fp32", "as it is"),
        ("a100-80gb", "bf16", "as it is"),
        ("a100-80gb", "fp8", "refused"),
        ("rtx-4090", "fp8", "as it is"),
        ("k80", "autocast", "refused"),
        ("24GB", "fp8", "as it is"),
    ],
)
def test_what_a_device_trains_in(name: str, precision: str, outcome: str) -> None:
    known, asked = capabilities(device(name)[1]), recipe(precision)
    if outcome == "refused":
        with pytest.raises(InputError) as refused:
            training_replacement(known, asked)
        assert "--precision" in refused.value.hint
    else:
        assert bool(training_replacement(known, asked)) == (outcome == "replaced")
