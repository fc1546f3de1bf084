"""Of a model that sees or hears, the language model alone is counted, exactly as it stands inside the class."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hf_texts import a_file
from support.hf_truth import judge_text

from archcalc.importers.hf._helpers.texts import known

if TYPE_CHECKING:
    from conftest import Run, Write

SEEN = {  # one for each rule of who ties the head
    "aria": "outer",
    "blip-2": "inner",
    "video_llama_3": "either",
    "vibevoice_asr": "never",
}


@pytest.mark.parametrize("model_type", SEEN)
def test_the_text_model_is_that_of_the_class(model_type: str) -> None:
    """With its head, whoever says that it is the token table."""
    about = known()[model_type]
    assert about
    assert about["tie"] == SEEN[model_type]
    for outer, inner in ((None, None), (True, False), (False, True)):
        said = a_file(model_type, about["text"], "test")
        said |= {} if outer is None else {"tie_word_embeddings": outer}
        said["text_config"] |= {} if inner is None else {"tie_word_embeddings": inner}
        verdict = judge_text(said)
        assert verdict.outcome == "exact", verdict


def test_a_text_config_by_its_former_type(run: Run, write: Write) -> None:
    """EXAONE 4.5 was released with a type for its text model that transformers has renamed since."""
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 4}
    named = [
        {"model_type": "exaone4_5", "text_config": {**sizes, "model_type": model_type}}
        for model_type in ("exaone4_5_text", "exaone4")
    ]
    first, second = (total(run, write(json.dumps(said), "config.json")) for said in named)
    assert first == second


def total(run: Run, path: str) -> int:
    answer = run("params", path, "--format", "json")
    assert answer.code == 0, answer.err
    return int(answer.json["total"])


def test_older_files_say_it_at_the_top(run: Run, write: Write) -> None:
    """The first Qwen2-VL files have no text_config."""
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2}
    sizes |= {"vocab_size": 1000, "intermediate_size": 96}
    vision = {"vision_config": {"depth": 2, "embed_dim": 32, "num_heads": 2, "hidden_size": 64}}
    flat = {"model_type": "qwen2_vl", **sizes, **vision, "tie_word_embeddings": True}
    nested = {"model_type": "qwen2_vl", "text_config": sizes, **vision, "tie_word_embeddings": True}
    assert total(run, write(json.dumps(flat), "flat.json")) == total(run, write(json.dumps(nested), "nested.json"))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"model_type": "grounding-dino", "text_config": {"model_type": "bert"}}, "grounding-dino"),
        ({"model_type": "ovis2", "text_config": {"model_type": "qwen2"}}, "archcalc does not support model_type ovis2"),
        ({"model_type": "of_ones_own", "text_config": {"model_type": "bert"}}, "is not a language model by itself"),
        (
            {"model_type": "gemma3", "architectures": ["Gemma3ForSequenceClassification"], "text_config": {}},
            "the head of Gemma3ForSequenceClassification is not counted",
        ),
    ],
)
def test_what_is_more_than_its_text_is_refused(said: dict[str, Any], reason: str, run: Run, write: Write) -> None:
    answer = run("params", write(json.dumps(said), "config.json"))
    assert answer.code == 2
    assert reason in " ".join(answer.err.split())
