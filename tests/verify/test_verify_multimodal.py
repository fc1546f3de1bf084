"""`archcalc verify` on configs of models that read images: all of it in PyTorch, transformers' class on tokens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("transformers")

if TYPE_CHECKING:
    from conftest import Run, Write

TEXT = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "head_dim": 8,
    "vocab_size": 96,
    "intermediate_size": 48,
}
TOWER = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 16,
}
MERGING = {"hidden_size": 16, "intermediate_size": 24, "depth": 2, "num_heads": 2, "out_hidden_size": 32}
CONFIGS: dict[str, dict[str, Any]] = {
    "a table that is interpolated, and branches behind the tower": {
        "model_type": "qwen3_vl",
        "text_config": {"model_type": "qwen3_vl_text", **TEXT},
        "vision_config": {
            **MERGING,
            "patch_size": 64,
            "num_position_embeddings": 9,
            "spatial_merge_size": 2,
            "deepstack_visual_indexes": [0],
        },
    },
    "tiles, of whose vectors those of the padding are dropped": {
        "model_type": "llava_next",
        "text_config": {"model_type": "llama", **TEXT},
        "vision_config": {"model_type": "clip_vision_model", **TOWER},
        "image_grid_pinpoints": [[32, 64], [64, 32]],
    },
}


@pytest.mark.parametrize("case", CONFIGS)
def test_the_whole_is_compared(case: str, run: Run, write: Write) -> None:
    """Every row, and the class of transformers on tokens alone."""
    answer = run("verify", write(json.dumps(CONFIGS[case]), "config.json"), "--quick", "--format", "json")
    assert answer.code == 0, answer.out
    quantities = [row["quantity"] for row in answer.json["rows"]]
    assert any("on tokens alone" in one and "forward FLOPs" in one for one in quantities), quantities


def test_towers_may_stand_in_another_order(run: Run, write: Write) -> None:
    """CLIP's class has its text tower first, the spec that of images."""
    said = {
        "model_type": "clip",
        "architectures": ["CLIPModel"],
        "projection_dim": 12,
        "text_config": {**TEXT, "max_position_embeddings": 20},
        "vision_config": TOWER,
    }
    answer = run("verify", write(json.dumps(said), "config.json"), "--quick")
    assert answer.code == 0, answer.out
    assert "parameter tensors, block by block" in " ".join(answer.out.split())
