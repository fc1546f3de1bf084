"""Types whose class is code beside their weights: published counts, and the class of transformers that is the same."""

from __future__ import annotations

from typing import Any

import pytest
from support.hf_truth import build, tensors_in, tensors_of

import archcalc
from archcalc.core.errors import InputError

Said = dict[str, Any]
DENSE = {"hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32}

PUBLISHED: dict[str, tuple[int, Said]] = {  # as the index of the weights of each counts them
    "internlm2": (7_737_708_544, {**DENSE, "num_key_value_heads": 8, "vocab_size": 92544, "bias": False}),
    "baichuan": (7_505_973_248, {**DENSE, "intermediate_size": 11008, "vocab_size": 125696}),
    "minicpm": (
        2_724_880_896,
        {"hidden_size": 2304, "intermediate_size": 5760, "num_attention_heads": 36, "num_hidden_layers": 40}
        | {"vocab_size": 122753},
    ),
    "qwen": (
        1_836_828_672,
        {"hidden_size": 2048, "intermediate_size": 11008, "num_attention_heads": 16, "num_hidden_layers": 24}
        | {"kv_channels": 128, "vocab_size": 151936},
    ),
    "chatglm": (
        6_243_584_000,
        {"hidden_size": 4096, "ffn_hidden_size": 13696, "num_attention_heads": 32, "num_layers": 28}
        | {"kv_channels": 128, "multi_query_attention": True, "multi_query_group_num": 2, "padded_vocab_size": 65024}
        | {"add_qkv_bias": True},
    ),
}
SMALL = {"vocab_size": 50, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2} | {
    "intermediate_size": 40,
    "num_hidden_layers": 3,
}
LATENT = {"kv_lora_rank": 12, "q_lora_rank": 20, "qk_nope_head_dim": 6, "qk_rope_head_dim": 8, "v_head_dim": 10}
SPARSE = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "first_k_dense_replace": 1}
TWINS: dict[str, tuple[Said, str, Said]] = {  # its own fields, and those of the type that is built the same
    "mimo": ({}, "Qwen2ForCausalLM", {"model_type": "qwen2"}),
    "internlm": ({"bias": True}, "LlamaForCausalLM", {"model_type": "llama", "attention_bias": True}),
    "internlm3": ({"qkv_bias": True, "head_dim": 8}, "Qwen2ForCausalLM", {"model_type": "qwen2"}),
    "kimi_k2": (
        {**LATENT, **SPARSE},
        "DeepseekV3ForCausalLM",
        {**LATENT, **SPARSE, "model_type": "deepseek_v3"},
    ),
    "minicpm": (
        {"num_experts": 3},
        "MixtralForCausalLM",
        {"model_type": "mixtral", "num_local_experts": 3, "tie_word_embeddings": True},
    ),
}


@pytest.mark.parametrize("model_type", PUBLISHED)
def test_counts_are_the_published_ones(model_type: str) -> None:
    total, said = PUBLISHED[model_type]
    positions = {"max_position_embeddings": 4096}
    assert archcalc.load({**positions, **said, "model_type": model_type}).params().total == total


@pytest.mark.parametrize("model_type", TWINS)
def test_tensors_are_those_of_the_class_that_is_the_same(model_type: str) -> None:
    own, name, other = TWINS[model_type]
    built = build({**SMALL, **other, "architectures": [name]})
    assert tensors_of(archcalc.load({**SMALL, **own, "model_type": model_type})) == tensors_in(built)


def test_a_config_without_positions_is_a_baichuan_of_13b_with_alibi() -> None:
    said = {**SMALL, "num_key_value_heads": 4, "model_type": "baichuan", "model_max_length": 64}
    assert "position: alibi" in archcalc.load(said).yaml()
    assert "kind: rope" in archcalc.load({**said, "max_position_embeddings": 64}).yaml()


BLOCK = {
    "attention": {"n_heads_in_group": 2, "no_op": False, "replace_with_linear": False},
    "ffn": {"ffn_mult": 3.0, "no_op": False},
}
SKIPPED = {"attention": {"no_op": True}, "ffn": {"ffn_mult": 12.0}}


def nas(*blocks: Said) -> Said:
    said = {"model_type": "nemotron-nas", "hidden_size": 256, "num_attention_heads": 8, "vocab_size": 50}
    return {**said, "num_hidden_layers": len(blocks), "block_configs": list(blocks)}


def test_blocks_of_a_search_have_their_own_kv_heads_and_widths() -> None:
    """2/3 · 3 · 256 = 512 is a multiple of 256 already; 2/3 · 12 · 256 = 2048."""
    narrow = 256 + 2 * 256 * 256 + 2 * 256 * 4 * 32 + 256 + 3 * 256 * 512
    skipped = 256 + 3 * 256 * 2048
    model = archcalc.load(nas(BLOCK, SKIPPED, BLOCK))
    assert model.params().total == 2 * narrow + skipped + 2 * 50 * 256 + 256


def test_a_block_that_is_replaced_by_a_linear_layer_is_refused() -> None:
    replaced = {**BLOCK, "attention": {"replace_with_linear": True}}
    with pytest.raises(InputError, match="replace_with_linear"):
        archcalc.load(nas(BLOCK, replaced))
