"""DeepSeek V4: what the class of transformers computes, on the meta device, and the cache of compressed positions."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError
from archcalc.verify.hf.rows import verify_config

SMALL: dict[str, Any] = {
    "model_type": "deepseek_v4",
    "architectures": ["DeepseekV4ForCausalLM"],
    "hidden_size": 64,
    "num_attention_heads": 8,
    "head_dim": 32,
    "qk_rope_head_dim": 8,
    "q_lora_rank": 24,
    "num_hidden_layers": 4,
    "n_routed_experts": 6,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 40,
    "vocab_size": 100,
    "index_n_heads": 4,
    "index_head_dim": 16,
    "index_topk": 8,
    "o_groups": 2,
    "o_lora_rank": 16,
    "sliding_window": 8,
    "compress_ratios": [0, 4, 128, 4, 0],  # one for the block that predicts further tokens
    "num_hash_layers": 1,
}


@pytest.mark.parametrize("seq", [3, 100, 300], ids=["no entry", "few", "both rates"])
def test_it_equals_the_class(seq: int) -> None:
    """Parameters, outputs and FLOPs of every block; sequences too short for an entry have none."""
    model = archcalc.load(SMALL)
    report = verify_config(model, model.workload(batch=2, seq=seq), quick=False, progress=lambda *_: None)
    told = {row.quantity: (row.archcalc, row.reference) for row in report.rows}
    assert {"parameters", "forward FLOPs, block by block", "block outputs"} <= told.keys()
    assert [name for name, (ours, theirs) in told.items() if ours != theirs] == []


def test_the_cache_holds_a_window_and_an_entry_for_so_many_positions() -> None:
    """Keys are values, too; the entries of the indexer are cached beside the others."""
    length = 1000 + 1
    window = 4 * 8 * 32
    sparse, heavy = 2 * (length // 4) * (32 + 16), (length // 128) * 32
    memory = archcalc.load(SMALL).memory(mode="decode", context=1000)
    assert memory.parts["kv_cache"] == 4 * (window + sparse + heavy)


def test_what_training_keeps_is_refused_by_name() -> None:
    model = archcalc.load(SMALL)
    assert model.flops(mode="train", seq=64).total > 0
    with pytest.raises(InputError, match="hyper-connections"):
        model.memory(mode="train", seq=64)


@pytest.mark.parametrize(
    "changes",
    [{"streams": 0}, {"streams": "four"}, {"attention": {"kind": "compressed", "heads": 3}}, {"parallel": "shared"}],
    ids=str,
)
def test_what_does_not_fit_is_one_message(changes: dict[str, Any]) -> None:
    attention = {"kind": "compressed", "q_rank": 8, "rope_dim": 4, "window": 4, "out_groups": 2, "out_rank": 8}
    spec: dict[str, Any] = {"vocab": 50, "d_model": 32, "heads": 4, "bias": False, "decoder": 2, "streams": 2}
    spec |= {"attention": attention, "position": "rope", "norm": "rms", "ffn": {"width": 40}}
    assert archcalc.load(spec).params().total
    with pytest.raises(InputError):
        archcalc.load({**spec, **changes})
