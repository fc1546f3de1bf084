"""Models of cases: by name where archcalc knows it, by a published config, from shapes, or refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from measured_cases import read
from measured_command import Command
from measured_names import Configs, Typed, model_of
from measured_units import Inexpressible

SHAPES = {"layers": 4, "hidden": 512, "heads": 8, "kv_heads": 4, "ffn": 1536, "vocab": 32000, "tie": False}
BLOCK = 2 * 512 * 512 + 2 * 512 * 256 + 3 * 512 * 1536 + 2 * 512
NONE = Configs({})


def typed(model: str, arch: dict[str, Any] | None = None, configs: Configs = NONE) -> Typed:
    return model_of(read({"model": model, "arch": arch}), configs)


def parameters(found: Typed) -> int:
    return int(Command.of("params", found.model, {"set": found.changes}).record()["total"])


@pytest.mark.parametrize(
    ("name", "asked", "whole"),
    [
        ("meta-llama/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B", True),
        ("Llama 3.1 8B", "Llama 3.1 8B", True),
        ("RedHatAI/Qwen3-14B-FP8-dynamic", "RedHatAI/Qwen3-14B", False),
        ("Qwen2-7B-Instruct.Q4_K_M.gguf", "Qwen2-7B-Instruct", False),
        ("Qwen3-30B-A3B (56.88 GiB load)", "Qwen3-30B-A3B", False),
    ],
)
def test_a_known_model_is_asked_by_its_name(name: str, asked: str, whole: bool) -> None:
    """Without words of how its weights are stored, which `--weights` says."""
    assert typed(name) == Typed(asked, whole)


def test_a_model_of_other_sizes_is_not_the_one_of_that_name() -> None:
    """The case says its parameters: four small blocks are no Llama 3 8B."""
    found = typed("Llama 3 8B", {**SHAPES, "mlp": "swiglu", "params": 2 * 32000 * 512 + 4 * BLOCK + 512})
    assert parameters(found) == 2 * 32000 * 512 + 4 * BLOCK + 512


def configs(folder: Path) -> Configs:
    """Two published configs, one of them quantised."""
    config = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config |= {"intermediate_size": 128, "vocab_size": 100, "torch_dtype": "bfloat16"}
    stored = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    lines = [{"name": "maker/Small-1B", "config": config}]
    lines += [{"name": "maker/Large-2B-FP8", "config": {**config, "quantization_config": stored}}]
    with gzip.open(folder / "some.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, lines)))
    return Configs.of(str(folder))


def test_a_published_config_stands_for_a_name(tmp_path: Path) -> None:
    """By the name of any owner and tuning; without its quantisation where the case's weights are not so stored."""
    known = configs(tmp_path)
    small, large, plain = (
        typed(name, configs=known) for name in ("Small-1B-Instruct", "maker/Large-2B-FP8", "other/Large-2B")
    )
    assert (small.whole, large.whole, plain.whole) == (True, True, False)
    assert parameters(small) == 2 * 100 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 64
    config = json.loads(Path(plain.model, "config.json").read_text("utf-8"))
    assert "quantization_config" not in config and config["hidden_size"] == 64


def test_a_type_says_what_shapes_do_not() -> None:
    """Qwen3 has norms on each head's queries and keys, 64 numbers each, and gated feed-forward layers."""
    found = typed("nobody/Qwen3-tiny-40M", {**SHAPES, "head_dim": 64})
    assert parameters(found) == 2 * 32000 * 512 + 4 * (BLOCK + 2 * 64) + 512


SAID = {**SHAPES, "mlp": "swiglu", "parallel": False, "vision": False}


def test_an_unknown_model_is_made_of_what_its_case_says() -> None:
    assert parameters(typed("Nobody's 40M", SAID)) == 2 * 32000 * 512 + 4 * BLOCK + 512
    assert (
        parameters(typed("Nobody's 40M", {**SAID, "mlp": "gelu", "norm": "rms"}))
        == parameters(typed("Nobody's 40M", SAID)) - 4 * 512 * 1536
    )


@pytest.mark.parametrize(
    ("left_out", "told"),
    [("mlp", "gated"), ("parallel", "side by side"), ("vision", "vision tower"), ("hidden", "shapes")],
)
def test_a_case_that_leaves_something_open_is_refused(left_out: str, told: str) -> None:
    with pytest.raises(Inexpressible, match=told):
        typed("Nobody's 40M", {key: value for key, value in SAID.items() if key != left_out})


@pytest.mark.parametrize("name", ["nobody/some-vl-7b", "nobody/granite-vision-2b"])
def test_a_tower_of_unknown_shapes_is_refused(name: str) -> None:
    with pytest.raises(Inexpressible, match="vision tower"):
        typed(name, {**SHAPES, "mlp": "swiglu"})


def test_a_published_model_with_fewer_layers() -> None:
    """DeepSeek-V2 with one dense layer and three of experts."""
    found = model_of(read({"model": "deepseek-v2-4l", "note": "cut to a few layers; first layer dense"}), NONE)
    assert found == Typed("deepseek-v2", changes=("decoder.pattern=[1 × attention ffn, 3 × attention moe]",))
