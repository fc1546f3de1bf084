"""Configs that were once counted wrongly or refused: each is exact now, or refused because it cannot run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.hf_small import small
from support.hf_truth import judge
from transformers import CONFIG_MAPPING

import archcalc
from archcalc.importers.hf._helpers.imported import document

EXAONE = {"sliding_window_pattern": "LLLG"}  # as the 32B has it, which its class never reads beside layer_types
EXACT: list[tuple[str, str, dict[str, Any]]] = [
    ("t5", "T5EncoderModel", {"feed_forward_proj": "relu", "is_gated_act": True}),
    ("t5", "T5EncoderModel", {"feed_forward_proj": "gated-gelu", "is_gated_act": None, "dense_act_fn": "silu"}),
    ("bloom", "BloomForCausalLM", {"n_embed": 48}),
    ("eurobert", "EuroBertForMaskedLM", {"mlp_bias": True, "tie_word_embeddings": True}),
    ("eurobert", "EuroBertForMaskedLM", {"mlp_bias": True, "tie_word_embeddings": False}),
    ("gptj", "GPTJForSequenceClassification", {"num_labels": True}),
    ("modernbert", "ModernBertForMaskedLM", {"initializer_cutoff_factor": 3.0}),
    ("gemma2", "Gemma2Model", {"layer_types": ["sliding_attention", "attention", "full_attention"]}),
    ("gemma3_text", "Gemma3TextModel", {"head_dim": 1}),
    ("glm", "GlmForCausalLM", {"head_dim": 1}),
    ("beit", "BeitForImageClassification", {"num_labels": 0}),
    ("beit", "BeitForImageClassification", {"num_labels": 0, "use_mean_pooling": False}),
    ("deberta-v2", "DebertaV2ForTokenClassification", {"pooler_hidden_size": 3}),
    ("nemotron_h", "NemotronHForCausalLM", {"mamba_n_groups": 2, "mamba_d_conv": 3, "mamba_conv_bias": False}),
    ("gpt_neo", "GPTNeoForCausalLM", {"attention_layers": 4 * ["local"]}),
    ("gpt2", "GPT2DoubleHeadsModel", {"tie_word_embeddings": False}),
    ("gpt2", "GPT2DoubleHeadsModel", {"summary_proj_to_labels": False, "summary_type": "mean"}),
    ("exaone4", "Exaone4ForCausalLM", {"layer_types": [*2 * ["sliding_attention"], "full_attention"], **EXAONE}),
    ("exaone4", "Exaone4ForCausalLM", {"layer_types": 3 * ["full_attention"], "sliding_window": None, **EXAONE}),
]


@pytest.mark.parametrize(("model_type", "name", "changes"), EXACT)
def test_what_was_wrong_is_exact(model_type: str, name: str, changes: dict[str, Any]) -> None:
    """A field that a file gives beats what its class derives; old words mean what new ones do."""
    verdict = judge({**small(model_type, name), **changes})
    assert verdict.outcome == "exact", verdict


@pytest.mark.parametrize(
    ("model_type", "name", "changes"),
    [
        ("mpt", "MptForCausalLM", {"n_heads": 5}),
        ("albert", "AlbertForMaskedLM", {"num_attention_heads": 7}),
        ("deberta-v2", "DebertaV2Model", {"attention_head_size": 6}),
    ],
)
def test_heads_that_do_not_add_up_are_refused(model_type: str, name: str, changes: dict[str, Any]) -> None:
    """Such classes are built, with an output projection that cannot read what their heads give."""
    verdict = judge({**small(model_type, name), **changes})
    assert verdict.outcome == "refused", verdict
    assert "can be built but not run" in verdict.why


def test_each_kind_of_layer_has_the_base_that_its_class_gives_it() -> None:
    """UltraBERT's full layers were written with the base of its local ones."""
    kinds = ["full_attention", "sliding_attention"]
    said = {"model_type": "ultrabert", "num_hidden_layers": 2, "layer_types": kinds, "sliding_window": 4}
    found = document({**said, "architectures": ["UltrabertModel"]}, "config.json").data
    assert found["position"]["theta"] == 2_560_000.0
    assert found["variants"]["local"]["position"]["theta"] == 10_000.0


@pytest.mark.parametrize("is_tied", [True, False])
def test_a_decoder_inside_may_have_a_head_of_its_own(is_tied: bool) -> None:
    sees = {"model_type": "deit", "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    reads = {"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 2, "is_decoder": True}
    decoder = {**reads, "add_cross_attention": True, "tie_word_embeddings": is_tied}
    said = {"model_type": "vision-encoder-decoder", "architectures": ["VisionEncoderDecoderModel"]}
    assert judge({**said, "encoder": {**sees, "intermediate_size": 48}, "decoder": decoder}).outcome == "exact"


def test_a_file_that_transformers_saved_names_blocks_with_zeros_in_front() -> None:
    """Of ten blocks and more: 05 is block 5."""
    config = CONFIG_MAPPING["gemma4_text"](num_hidden_layers=12, vocab_size=100, hidden_size=64)
    said = json.loads(config.to_json_string(use_diff=False)) | {"architectures": ["Gemma4TextModel"]}
    assert "05" in said["per_layer_config"]
    assert judge(said).outcome == "exact"


@pytest.mark.parametrize("block", ["2", "02"])
def test_heads_of_one_block_are_those_of_its_number(block: str) -> None:
    """A projection of queries, one of outputs, and a gate for each of four heads more, 16 wide."""
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_attention_groups": 2, "head_dim": 16}
    said = {"model_type": "step3p5", **sizes, "num_hidden_layers": 12, "vocab_size": 100, "intermediate_size": 32}
    more = {"per_layer_config": {block: {"num_attention_heads": 8}}}
    plain, own = (archcalc.load({**said, **other}).params().total for other in ({}, more))
    assert own - plain == 4 * (2 * 16 + 1) * 64
