"""Configs whose checkpoint holds more than the class that transformers builds: the checkpoint is right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.assumption_texts import texts

from archcalc import load

if TYPE_CHECKING:
    from conftest import Run, Write

SIZES = {"vocab_size": 50, "d_model": 32, "d_kv": 8, "d_ff": 40, "num_heads": 4, "num_layers": 2}
CLASS = {
    "t5": "T5ForConditionalGeneration",
    "mt5": "MT5ForConditionalGeneration",
    "umt5": "UMT5ForConditionalGeneration",
    "longt5": "LongT5ForConditionalGeneration",
}
V1_1: dict[str, Any] = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
PUBLISHED: dict[str, dict[str, Any]] = {  # by preset: the config.json of the same checkpoint
    "mt5-small": {
        "model_type": "mt5",
        "vocab_size": 250_112,
        "d_model": 512,
        "d_ff": 1024,
        "num_heads": 6,
        "layers": 8,
    },
    "flan-t5-small": {"model_type": "t5", "d_model": 512, "d_ff": 1024, "num_heads": 6, "layers": 8},
    "flan-t5-base": {"model_type": "t5", "d_model": 768, "d_ff": 2048, "num_heads": 12, "layers": 12},
    "flan-t5-xl": {"model_type": "t5", "d_model": 2048, "d_ff": 5120, "num_heads": 32, "layers": 24},
}


def file(model_type: str, **said: Any) -> dict[str, Any]:
    return {"model_type": model_type, "architectures": [CLASS[model_type]], **said}


@pytest.mark.parametrize("preset", PUBLISHED)
def test_a_t5_whose_head_is_its_own_counts_as_its_checkpoint_does(preset: str) -> None:
    said = dict(PUBLISHED[preset])
    layers = said.pop("layers")
    config = file(said.pop("model_type"), **said, **V1_1, num_layers=layers, num_decoder_layers=layers)
    published = load(preset).spec.published
    assert published
    assert load(config).params().total == published.parameters


@pytest.mark.parametrize("model_type", ["t5", "mt5", "umt5"])
def test_untying_adds_a_matrix_as_large_as_the_token_table(model_type: str) -> None:
    tied, apart = (load(file(model_type, **SIZES, tie_word_embeddings=tie)).params().total for tie in (True, False))
    assert apart - tied == 50 * 32


def test_longt5_has_one_table_whatever_its_config_says() -> None:
    said = file("longt5", **SIZES, encoder_attention_type="local")
    tied, apart = (load({**said, "tie_word_embeddings": tie}).params() for tie in (True, False))
    assert tied.total == apart.total
    assert any("contain one tied embedding" in str(note) for note in apart.assumptions)


@pytest.mark.parametrize("said", [{"scale_decoder_outputs": False}, {"model_type": "mt5"}, {"model_type": "umt5"}])
def test_a_config_that_transformers_5_wrote_does_not_tell_and_that_is_said(said: dict[str, Any]) -> None:
    """It ties every T5 of a config that it reads, and writes that down."""
    config = file(**{"model_type": "t5", **SIZES, "transformers_version": "5.2.0", "tie_word_embeddings": True, **said})
    assert any("whatever the checkpoint contains" in str(note) for note in load(config).params().assumptions)
    older = load({**config, "transformers_version": "4.57.0", "scale_decoder_outputs": True})
    assert not any("whatever the checkpoint contains" in str(note) for note in older.params().assumptions)


@pytest.mark.parametrize("model_type", ["t5", "mt5", "umt5"])
def test_verify_gives_the_built_class_the_head_of_its_checkpoint(run: Run, write: Write, model_type: str) -> None:
    pytest.importorskip("transformers")
    said = file(model_type, **SIZES, tie_word_embeddings=False)
    answer = run("verify", write(json.dumps(said), "config.json"), "--quick", "--format", "json")
    assert answer.json["ok"]
    assert any("given a head of its own" in row["quantity"] for row in answer.json["rows"])
    assert any("transformers builds this class tied" in note for note in texts(answer.json))
