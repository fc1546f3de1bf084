"""What formats make of the towers of a model that writes text: files of a quantised one leave most of them alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import archcalc
from archcalc.core.ir import walk

QWEN = str(Path(__file__).parents[2] / "docs" / "examples" / "qwen3-vl-2b" / "config.json")
TOWERS = ("vision", "merger")


def weights(model: archcalc.Model, **options: Any) -> dict[str, int]:
    rows = model.memory(**options).rows
    return {row.path: row.parts["weights"] for row in rows if row.path in (*TOWERS, "text")}


@pytest.mark.parametrize("name", ["int4", "w4a16", "nvfp4", "fp8", "mlx_4bit"])
def test_files_leave_towers_in_16_bits(name: str) -> None:
    model = archcalc.load(QWEN)
    whole, quantised = weights(model), weights(model, weights=name)
    assert [whole[tower] for tower in TOWERS] == [quantised[tower] for tower in TOWERS]
    assert quantised["text"] == weights_of_text(model, name) < whole["text"]


def weights_of_text(model: archcalc.Model, name: str) -> int:
    return model.part("text").memory(weights=name).parts["weights"]


@pytest.mark.parametrize("name", ["q4_k_m", "q8_0", "iq4_xs"])
def test_gguf_has_them_in_a_file_of_their_own(name: str) -> None:
    """Matrices in fp16, all else in fp32: llama.cpp, convert_hf_to_gguf.py --mmproj."""
    model = archcalc.load(QWEN).with_media(images=1)
    found = weights(model, weights=name, engine="llama.cpp")
    for tower in TOWERS:
        alone = model.build()[tower]
        params = [(p, int(times)) for m, times in walk(alone) for p in m.params.values()]
        assert found[tower] == sum(
            int(p.elements) * times * (2 if p.weight_role.is_linear else 4) for p, times in params
        )
    said = str(model.memory(weights=name, engine="llama.cpp").record()["assumptions"])
    assert "vision and merger in fp16: GGUF keeps them in a file of their own" in said


@pytest.mark.parametrize("name", ["nf4", "int8", "fp4", "hqq_4bit"])
def test_bitsandbytes_replaces_all_linear_layers(name: str) -> None:
    model = archcalc.load(QWEN)
    assert weights(model, weights=name)["vision"] < weights(model)["vision"]


def test_a_tower_by_itself_is_a_model() -> None:
    vision = archcalc.load(QWEN).part("vision")
    assert vision.memory(weights="int4").parts["weights"] < vision.memory().parts["weights"] / 2
