"""torchtitan's code by its dates: what the loss keeps, what is gathered, what kernels compute in."""

from __future__ import annotations

from typing import Any

import pytest
from support.simulated_steps import asked, peaks, sizes

from archcalc import load
from archcalc.analyze.memory.training import step_schedule
from archcalc.core.errors import InputError
from archcalc.core.ir import Region, walk
from archcalc.core.recomputation import results
from archcalc.model import Model
from archcalc.run.code import code
from archcalc.run.tree_changes import traced
from archcalc.simulate.passes.workspaces import PRODUCTS
from archcalc.spec.sizes import Sizes

VOCAB, WIDTH, HEADS, GROUPS, INNER, LAYERS = 3200, 64, 4, 2, 96, 3
HEAD, BATCH, SEQ = WIDTH // HEADS, 2, 256
TOKENS = BATCH * SEQ
LOGITS = TOKENS * VOCAB
SHARDED: dict[str, Any] = {"precision": "mixed", "dp": 8, "zero": 3}


@pytest.fixture(scope="module")
def decoder() -> Model:
    return load(
        {
            "name": "a decoder",
            "vocab": VOCAB,
            "d_model": WIDTH,
            "heads": HEADS,
            "kv_heads": GROUPS,
            "bias": False,
            "norm": "rms",
            "position": "rope",
            "head": "lm",
            "decoder": LAYERS,
            "ffn": {"width": INNER, "act": "silu", "gated": True},
        }
    )


def logits(model: Model, phase: str, **options: Any) -> list[int]:
    """Bytes of tensors that are as large as a chunk of all logits, or larger."""
    found = peaks(asked(model, **options), BATCH, SEQ)[phase]
    return [size for size in sizes(found, LOGITS // 8 * 2) if size % (LOGITS // 8 * 2) == 0 and size != PRODUCTS]


def test_a_model_that_returns_fp32_logits_is_held_until_the_next_one(decoder: Model) -> None:
    """Until June 2024: those of the step before, beside 16-bit ones and their copy in fp32."""
    assert logits(decoder, "forward", code="torchtitan@2024-05") == [2 * LOGITS, 4 * LOGITS, 4 * LOGITS]


def test_later_the_loss_casts_logits_and_keeps_log_probabilities(decoder: Model) -> None:
    assert logits(decoder, "forward", code="torchtitan@2025-01") == [2 * LOGITS, 4 * LOGITS, 4 * LOGITS]
    assert logits(decoder, "backward", code="torchtitan@2025-01") == [4 * LOGITS] * 3


def test_chunks_of_all_logits_are_cast_one_at_a_time(decoder: Model) -> None:
    """Its pull request 996: the log-probabilities of all chunks stay, beside all logits and one chunk in fp32."""
    found = logits(decoder, "forward", code="torchtitan@2025-03", loss_chunks=8)
    assert found == [4 * LOGITS // 8] * (8 + 1) + [2 * LOGITS]


def test_since_april_2026_each_chunk_goes_back_before_the_next(decoder: Model) -> None:
    """Eight chunks unless asked otherwise; hidden states are copied, and their gradients added up in fp32."""
    memory = asked(decoder, **SHARDED, code="torchtitan@2026-05")
    assert memory.deployment.run.loss_chunks == 8
    blocks = peaks(memory, BATCH, SEQ)
    assert max(sizes(blocks["forward"], 1)[:-1]) <= 4 * LOGITS // 8
    assert any("8 chunks" in each.text for each in memory.deployment.run.choices)


def test_selective_checkpointing_keeps_the_fused_projections(decoder: Model) -> None:
    """Every second product of wq, wk, wv, wo, w1, w3, w2, and since June 2026 of wqkv, wo, w1, w3, w2."""
    widths = {used: _kept(decoder, used) for used in ("torchtitan@2026-05", "torchtitan@2026-07")}
    assert widths["torchtitan@2026-05"] == [WIDTH, GROUPS * HEAD, WIDTH, INNER, WIDTH]
    assert widths["torchtitan@2026-07"] == [WIDTH + 2 * GROUPS * HEAD, WIDTH, INNER, WIDTH]


def _kept(model: Model, used: str) -> list[int]:
    """Numbers a token of what is not recomputed, in order: of products, and of attention's kernel."""
    memory = asked(model, **SHARDED, code=used, recompute="ops")
    root = traced(memory.deployment.network, memory.deployment.run, memory.deployment.workload(Sizes(BATCH, SEQ)))
    block = next(module for module, _ in walk(root) if module.region == Region.BLOCK)
    return [int(one.tensors[0].size) // TOKENS for one in results(block, "ops")]


def test_fp8_gathers_weights_in_16_bits_or_in_8(decoder: Model) -> None:
    """Matrices of blocks alone; the norms, the embedding and the head stay in 16 bits. Shards are those of mixed."""
    matrices = WIDTH * (2 * WIDTH + 2 * GROUPS * HEAD + 3 * INNER)
    used: dict[str, Any] = {**SHARDED, "code": "torchtitan@2025-02"}
    gathered = {name: _gathered(decoder, {**used, "precision": name}) for name in ("mixed", "fp8", "fp8-gathered")}
    assert gathered["mixed"] == gathered["fp8"] == 2 * (matrices + 2 * WIDTH)
    assert gathered["fp8-gathered"] == matrices + 2 * 2 * WIDTH
    states = [asked(decoder, **{**used, "precision": name}).deployment.parameters.states for name in gathered]
    assert states[0] == states[1] == states[2]


def _gathered(model: Model, options: dict[str, Any]) -> int:
    memory = asked(model, **options)
    root = traced(memory.deployment.network, memory.deployment.run, memory.deployment.workload(Sizes(BATCH, SEQ)))
    return sum(step_schedule(root, memory.deployment.run, memory.deployment.keeping).blocks[0].gathered)


def test_fp8_is_gathered_only_where_fsdp_gathers(decoder: Model) -> None:
    with pytest.raises(InputError, match="about weights that FSDP shards"):
        asked(decoder, precision="fp8-gathered")


def test_flash_attention_goes_back_in_fp32(decoder: Model) -> None:
    """Sums of the queries' gradients in heads rounded up to 32 numbers, a number for each row, gradients of keys and
    values for every head. On heads with keys of their own the last two are what is returned."""
    memory = asked(decoder, code="torchtitan@2026-03")
    step = step_schedule(
        traced(memory.deployment.network, memory.deployment.run, memory.deployment.workload(Sizes(BATCH, SEQ))),
        memory.deployment.run,
        memory.deployment.keeping,
    )
    kernel = next(one for one in step.steps() if one.op.traits.attention_kernel)
    rows = TOKENS * HEADS
    assert kernel.gradient_scratch == [rows * 32 * 4, rows * 4, rows * HEAD * 2, rows * HEAD * 2]


@pytest.mark.parametrize(
    ("version", "compiled"),
    [("2024-09", "blocks"), ("2024-11", "all"), ("2024-12", "blocks"), ("2025-03", "blocks"), ("2025-04", "all")],
)
def test_the_loss_is_compiled_at_times(decoder: Model, version: str, compiled: str) -> None:
    assert asked(decoder, code=f"torchtitan@{version}", compile="code").deployment.run.compile == compiled


def test_a_family_has_dates_of_its_own() -> None:
    """Qwen3's rotation, which was in 16 bits before it was one of all models."""
    found = [dict(code(f"torchtitan@{version}", "qwen3").layers)["rotary"] for version in ("2025-09", "2026-03")]
    assert found == ["rotate_half", "fp32"]
    assert dict(code("torchtitan@2025-09", "llama").layers)["rotary"] == "complex"


def test_tensor_parallelism_divides_the_sequence() -> None:
    """Whether that is asked for or not: its plans have SequenceParallel."""
    asked: dict[str, Any] = {"mode": "train", "code": "torchtitan", "tp": 4, "dp": 2, "zero": 3, "batch": 1, "seq": 512}
    named, unnamed = (load("llama-3.2-1b").memory(**asked, sp=sp) for sp in (True, None))
    assert named.allocated_bytes == unnamed.allocated_bytes
    assert any("sequence parallelism" in one.text for one in unnamed.assumptions)
