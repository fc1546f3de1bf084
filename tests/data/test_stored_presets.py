"""Models that ship quantised: `quantization` of a spec means what `quantization_config` of a config.json means."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.spec.paths import data_root

if TYPE_CHECKING:
    from conftest import Run, Write

CONFIGS: dict[str, dict[str, Any]] = json.loads((data_root() / "configs.json").read_text(encoding="utf-8"))
TILES = {"quant_method": "fp8", "weight_block_size": [128, 128]}
STORED = {"gpt-oss-20b": {"quant_method": "mxfp4"}, "deepseek-v3": TILES, "kimi-k2": TILES}


@pytest.mark.parametrize(("name", "said"), STORED.items())
def test_a_preset_is_counted_as_its_config_is(name: str, said: dict[str, Any]) -> None:
    config = archcalc.load({**CONFIGS[name], "torch_dtype": "bfloat16", "quantization_config": said})
    preset = archcalc.load(name)
    assert preset.memory(seq=1).parts == config.memory(seq=1).parts
    assert preset.params().stored == config.params().stored == preset.memory(seq=1).states["weights"]


def test_experts_of_gpt_oss_take_four_bits_and_an_exponent_for_32() -> None:
    preset = archcalc.load("gpt-oss-20b")
    experts = 24 * 32 * 3 * 2880 * 2880
    rest = int(preset.params().total) - experts
    assert preset.params().stored == experts * 4 // 8 + experts // 32 + 2 * rest


def test_what_is_stored_is_said(run: Run) -> None:
    counted = run("params", "gpt-oss-20b", "--depth", "1")
    assert re.search(r"bytes as stored +12\.82 GiB +13,761,264,768", counted.out)
    assert "the weights are stored quantised (mxfp4 of experts, group 32)" in counted.out
    assert run("params", "gpt-oss-20b", "--format", "json").json["stored_bytes"] == 13_761_264_768
    held = run("memory", "gpt-oss-20b")
    assert "weights: mxfp4 of experts, group 32, from the spec; --weights changes it" in held.out


def test_the_yaml_of_a_quantised_config_counts_the_same(run: Run, write: Write) -> None:
    gptq = {"quant_method": "gptq", "bits": 4, "group_size": 64, "modules_to_not_convert": ["model.layers.0"]}
    config = write(json.dumps({**CONFIGS["tinyllama-1.1b"], "quantization_config": gptq}), "config.json")
    spec = write(run("show", config).out, "spec.yaml")
    assert archcalc.load(spec).memory(seq=8).parts == archcalc.load(config).memory(seq=8).parts


SPEC = "vocab: 100\nd_model: 64\nheads: 4\nffn: 128\ndecoder: 2\n"


@pytest.mark.parametrize("said", ["3", "[gptq]", "{quant_method: gptq, bits: four}"])
def test_a_mistake_is_told_with_its_line(run: Run, write: Write, said: str) -> None:
    answer = run("params", write(f"{SPEC}quantization: {said}\n"))
    assert answer.code == 2
    assert "model.yaml:6: quantization: " in answer.err
