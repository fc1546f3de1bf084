"""Strategies that draw configs of models whose layers archcalc's own PyTorch reference does not have.

transformers' class is what they are compared with."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Fields = dict[str, Any]
FEW = st.integers(1, 4)


@st.composite
def compressed(draw: st.DrawFn) -> Fields:
    """DeepSeek-V4: windows, entries behind them at two rates, hyper-connections."""
    groups, each = draw(st.sampled_from((1, 2))), draw(st.sampled_from((8, 16)))
    ratios = draw(st.lists(st.sampled_from((0, 4, 128)), min_size=2, max_size=4))
    return {
        "model_type": "deepseek_v4",
        "architectures": ["DeepseekV4ForCausalLM"],
        "vocab_size": 50,
        "hidden_size": draw(st.sampled_from((24, 32))),
        "num_attention_heads": groups * draw(FEW),
        "head_dim": each,
        "qk_rope_head_dim": each // draw(st.sampled_from((1, 2))),
        "q_lora_rank": draw(FEW) * 3,
        "num_hidden_layers": len(ratios),
        "n_routed_experts": 4,
        "num_experts_per_tok": draw(FEW),
        "moe_intermediate_size": 12,
        "index_n_heads": draw(FEW),
        "index_head_dim": 2 * each,
        "index_topk": draw(st.sampled_from((1, 8, 100))),
        "o_groups": groups,
        "o_lora_rank": draw(FEW) * 2,
        "sliding_window": draw(st.sampled_from((4, 16))),
        "compress_ratios": ratios,
        "num_hash_layers": draw(st.integers(0, 2)),
        "hc_mult": draw(st.integers(2, 4)),
        "hc_sinkhorn_iters": draw(st.integers(1, 20)),
    }


@st.composite
def in_blocks(draw: st.DrawFn) -> Fields:
    """MiniMax-M3: an indexer that selects blocks of keys."""
    kv_heads, blocks = draw(st.sampled_from((1, 2, 4))), draw(FEW)  # each has an index of its own
    return {
        "model_type": "minimax_m3_vl_text",
        "architectures": ["MiniMaxM3VLForCausalLM"],
        "vocab_size": 50,
        "hidden_size": draw(st.sampled_from((24, 32))),
        "num_attention_heads": kv_heads * draw(st.integers(1, 2)),
        "num_key_value_heads": kv_heads,
        "head_dim": 16,
        "rotary_dim": draw(st.sampled_from((8, 16))),
        "num_hidden_layers": blocks,
        "num_local_experts": 4,
        "num_experts_per_tok": draw(FEW),
        "intermediate_size": 12,
        "dense_intermediate_size": 20,
        "shared_intermediate_size": 12,
        "index_n_heads": kv_heads,
        "index_head_dim": draw(st.sampled_from((16, 32))),
        "index_block_size": draw(st.sampled_from((2, 8, 32))),
        "index_topk_blocks": draw(FEW),
        "layer_types": draw(_of_each(blocks, "full_attention", "minimax_m3_sparse")),
        "mlp_layer_types": draw(_of_each(blocks, "dense", "sparse")),
    }


def _of_each(blocks: int, *words: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(words), min_size=blocks, max_size=blocks)


CONFIGS = {"compressed attention": compressed(), "indexers of blocks": in_blocks()}
NUMBER = 16  # of each
