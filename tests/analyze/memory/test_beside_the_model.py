"""What an inference engine holds beside a model: adapters, a draft model, a prefix that sequences share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import InputError, fit, load
from archcalc.analyze.memory.parts import PARTS

if TYPE_CHECKING:
    from conftest import Run

    from archcalc.analyze.memory.report import MemoryReport

BF16 = 2
LAYERS, D, KV, FFN, VOCAB = 32, 4096, 1024, 14336, 128256  # Llama 3 8B
Q_AND_OUT, K_AND_V = 2 * (D + D), 2 * (D + KV)
GATE_AND_UP, DOWN = 2 * (D + FFN), FFN + D
TABLE_AND_HEAD = 2 * (VOCAB + D)
PREFIX_MODEL = ["decoder=2", "vocab=512"]


def memory(model: str = "llama-3-8b", *changes: str, **options: Any) -> MemoryReport:
    return load(model, set=changes).memory(**options)


# LoRA adapters


def test_a_slot_has_two_matrices_for_every_linear_layer() -> None:
    """vLLM, BaseLinearLayerWithLoRA.create_lora_weights: rank × input and output × rank, for every slot; the
    token table and the head of a Llama have slots too."""
    report = memory(lora=16, adapters=16)
    layer = Q_AND_OUT + K_AND_V + GATE_AND_UP + DOWN
    assert report.parts["adapters"] == 16 * 16 * (LAYERS * layer + TABLE_AND_HEAD) * BF16


def test_without_a_number_there_is_one_slot() -> None:
    assert memory(lora=16).parts["adapters"] == memory(lora=16, adapters=1).parts["adapters"]
    assert memory(lora=16, adapters=5).parts["adapters"] == 5 * memory(lora=16).parts["adapters"]


def test_named_layers_alone_have_slots() -> None:
    assert memory(lora=8, lora_targets="q,v").parts["adapters"] == 8 * LAYERS * (D + D + D + KV) * BF16


def test_half_of_a_pair_is_whole_on_every_gpu() -> None:
    """Without fully_sharded_loras: of a layer whose output is divided the first matrix, of one whose input is divided
    the second; and all of the token table's and the head's."""
    tp = 4
    by_output = (D + D // tp) + 2 * (D + KV // tp) + 2 * (D + FFN // tp)  # q, k, v, gate, up
    by_input = (D // tp + D) + (FFN // tp + D)
    here = LAYERS * (by_output + by_input) + TABLE_AND_HEAD
    assert memory(lora=16, adapters=2, tp=tp).parts["adapters"] == 2 * 16 * here * BF16


def test_every_expert_has_a_pair() -> None:
    """vLLM, FusedMoEWithLoRA._create_lora_a_weights."""
    experts, width, layers, vocab = 8, 14336, 32, 32000
    attention = 2 * (D + D) + 2 * (D + KV)
    router = D + experts
    of_experts = experts * (2 * (D + width) + (width + D))
    ends = 2 * (vocab + D)
    found = memory("mixtral-8x7b", lora=8).parts["adapters"]
    assert found == 8 * (layers * (attention + router + of_experts) + ends) * BF16


def test_mistral_has_no_slots_for_its_token_table() -> None:
    layer = Q_AND_OUT + K_AND_V + GATE_AND_UP + DOWN
    assert memory("mistral-7b", lora=8).parts["adapters"] == 8 * LAYERS * layer * BF16


def test_slots_change_nothing_else() -> None:
    alone, beside = memory(batch=2, seq=64), memory(batch=2, seq=64, lora=16, adapters=4)
    assert beside.total_bytes - alone.total_bytes == beside.parts["adapters"]
    assert {**beside.parts, "adapters": 0} == alone.parts


def test_sixteen_adapters_fit_beside_a_7b_model_on_an_h100() -> None:
    """The question of vllm issue 17003."""
    report = fit(load("llama-2-7b"), gpus=["h100"], lora=16, adapters=16, batch=16, context=4096)
    assert report.rows[0].fits
    parts = report.memory.parts
    assert report.rows[0].segments["weights"] == parts["weights"] + parts["adapters"]


# A draft model


def test_a_draft_model_adds_its_weights_and_its_cache() -> None:
    """Those of the same model by itself, for the same sequences."""
    report = memory("llama-3-70b", draft="llama-3.2-1b", batch=4, context=8192, tp=4)
    alone = memory("llama-3.2-1b", batch=4, context=8192, tp=4)
    assert report.parts["draft"] == alone.parts["weights"]
    assert report.parts["draft_cache"] == alone.parts["kv_cache"] == 4 * 8192 * 16 * 2 * (8 // 4) * 64 * BF16
    without = memory("llama-3-70b", batch=4, context=8192, tp=4)
    assert report.total_bytes == without.total_bytes + report.parts["draft"] + report.parts["draft_cache"]


def test_a_draft_model_has_activations_of_its_own_in_turn() -> None:
    """A wide vocabulary, or a wide draft, can need more for a moment than the target does."""
    report = memory("gpt2", draft="llama-3-8b", batch=2, seq=1024)
    alone = memory("llama-3-8b", batch=2, seq=1024)
    assert (
        report.parts["activations"]
        == alone.parts["activations"]
        > memory("gpt2", batch=2, seq=1024).parts["activations"]
    )


def test_a_draft_model_keeps_its_own_format() -> None:
    quantised = memory("llama-3-70b", draft="llama-3.2-1b", weights="int4", precision="fp16")
    assert quantised.parts["draft"] == memory("llama-3.2-1b").parts["weights"]


def test_a_draft_model_that_cannot_be_divided_is_whole_on_every_gpu() -> None:
    """Qwen3 0.6B has 16 heads, which 32 GPUs cannot share."""
    report = memory("llama-3-70b", "heads=96", "attention.head_dim=128", draft="qwen3-0.6b", tp=32)
    assert report.parts["draft"] == memory("qwen3-0.6b").parts["weights"]
    assert any("32 GPUs cannot divide it" in str(one) for one in report.assumptions)


def test_the_models_own_block_caches_as_one_layer_more() -> None:
    """DeepSeek-V3 has 61 blocks, and one that predicts the token after the next."""
    report = memory("deepseek-v3", "head.mtp.blocks=1", draft="mtp", batch=2, context=4096)
    assert report.parts["draft"] == 0
    assert report.parts["draft_cache"] * 61 == report.parts["kv_cache"]


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ("mtp", "no multi-token prediction block"),
        ("bart-large", "cannot propose tokens"),
        ("llama-33", "no preset and no file is called llama-33"),
    ],
)
def test_what_cannot_propose_tokens_is_refused(draft: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        memory(draft=draft)


# A shared prefix


def test_a_shared_prefix_is_cached_once() -> None:
    batch, context, prefix = 8, 1000, 600
    report = memory("llama-3-8b", *PREFIX_MODEL, batch=batch, context=context, shared_prefix=prefix)
    token = 2 * 2 * KV * BF16  # keys and values of two layers
    assert report.parts["kv_cache"] == (prefix + batch * (context - prefix)) * token


def test_vllm_shares_whole_blocks() -> None:
    batch, context, prefix, block = 8, 1000, 600, 16
    asked: dict[str, Any] = {"batch": batch, "context": context, "kv_rule": "vllm"}
    report = memory("llama-3-8b", *PREFIX_MODEL, **asked, shared_prefix=prefix)
    blocks = batch * -(-context // block) - (batch - 1) * (prefix // block)
    assert report.parts["kv_cache"] == blocks * block * 2 * 2 * KV * BF16


@pytest.mark.parametrize(("prefix", "shared"), [(900, 0), (960, 24), (1000, 64)])
def test_of_a_window_only_what_reaches_into_the_prefix_is_shared(prefix: int, shared: int) -> None:
    batch, context, window = 4, 1000, 64
    report = memory(
        "llama-3-8b", *PREFIX_MODEL, f"attention.window={window}", batch=batch, context=context, shared_prefix=prefix
    )
    assert report.parts["kv_cache"] == (batch * (window - shared) + shared) * 2 * 2 * KV * BF16


def test_a_recurrent_state_is_not_shared() -> None:
    asked: dict[str, Any] = {"batch": 4, "context": 256}
    without, shared = memory("jamba-v0.1", **asked), memory("jamba-v0.1", **asked, shared_prefix=128)
    assert shared.parts["state"] == without.parts["state"]
    assert shared.parts["kv_cache"] * 4 * 256 == without.parts["kv_cache"] * (128 + 4 * 128)


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        ("llama-3-8b", {"shared_prefix": 999, "context": 100}, "longer than the 100 that are cached"),
        ("mamba-130m", {"shared_prefix": 16}, "a recurrent state cannot be shared"),
        ("bert-base", {"shared_prefix": 16}, "no cache"),
        ("gemma-2-9b", {"shared_prefix": 16, "kv_rule": "vllm"}, "sliding-window layers is not known"),
        ("gemma-2-9b", {"shared_prefix": 16, "kv_rule": "window+batch"}, "llama.cpp"),
        ("llama-3-8b", {"adapters": 4}, "needs --lora"),
        ("llama-3-8b", {"lora": 4, "lora_targets": "qq"}, "no linear layer is called qq"),
    ],
)
def test_what_says_nothing_is_refused(model: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(model).memory(**options)


# The report


def test_parts_and_rows_are_named(run: Run) -> None:
    written = "memory", "llama-3-70b", "--draft", "llama-3.2-1b", "--lora", "16", "--adapters", "4"
    answer = run(*written, "--format", "json")
    record = json.loads(answer.out)
    assert sum(record["parts"].values()) == record["total_bytes"]
    assert {"adapters", "draft", "draft_cache"} <= {part for part, size in record["parts"].items() if size}
    beside = {row["path"]: row["bytes"] for row in record["rows"] if row["kind"] == "resident"}
    assert beside == {
        "adapters": record["parts"]["adapters"],
        "draft": record["parts"]["draft"] + record["parts"]["draft_cache"],
    }
    shown = run(*written).out
    assert all(PARTS[part] in shown for part in ("adapters", "draft", "draft_cache"))
