"""What each kind of layer keeps from one token to the next."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.decoding import cache_bytes
from support.same_tensors import Case
from support.small_decoders import BLOCKS, KV, LOCAL, NARROW, NO_KV, ROUTED, WIDTH, D, blocks, hf, usual

import archcalc
from archcalc.core.notes import notes_of
from archcalc.model import Model
from archcalc.spec.workload import Workload

BATCH, CONTEXT, BYTES = 3, 30, 2


def kept(spec: dict[str, Any], context: int = CONTEXT, mode: str = "decode") -> int:
    """Bytes in bf16: after one more token, or after a prompt of as many tokens."""
    model = archcalc.load(spec)
    return cache_bytes(model, asked(model, context, mode), "bf16")


def asked(model: Model, context: int, mode: str) -> Workload:
    seq = 1 if mode == "decode" else context + 1
    return Workload(BATCH, {"seq": seq}, mode=mode, context=context if mode == "decode" else 0)


MLA = {"kind": "mla", "q_rank": 14, "kv_rank": 12, "nope_dim": 10, "rope_dim": 4, "v_dim": 6}
INDEX = {"heads": 3, "head_dim": 8, "top": 5}  # whose heads share their keys
DELTA = {"heads": 2, "v_heads": 4, "head_dim": 8, "v_dim": 10}
MAMBA2 = {"kind": "mamba2", "heads": 8, "state": 6, "groups": 2, "conv": 3}
HYBRID: dict[str, Any] = {"ffn": None, "heads": None, "kv_heads": None, "position": None}
TOKEN = 2 * KV * 8  # keys and values of one token in one block

CACHES = [
    (usual(), BLOCKS * TOKEN * (CONTEXT + 1)),
    (usual(kv_heads=None), BLOCKS * 2 * D * (CONTEXT + 1)),
    (usual(attention={"window": 7}), BLOCKS * TOKEN * 7),
    (usual(attention={"window": 100}), BLOCKS * TOKEN * (CONTEXT + 1)),
    (usual(attention={"chunk": 9}), BLOCKS * TOKEN * 9),
    (usual(variants=LOCAL, decoder=blocks("3 × local ffn", "attention ffn")), TOKEN * (3 * 7 + CONTEXT + 1)),
    (usual(kv_heads=None, attention=MLA), BLOCKS * (12 + 4) * (CONTEXT + 1)),
    (usual(kv_heads=None, attention={**MLA, "index": INDEX}), BLOCKS * (12 + 4 + 8) * (CONTEXT + 1)),
    (
        usual(**HYBRID, mamba={"state": 6, "conv": 3}, decoder=blocks("mamba")),
        BLOCKS * (2 * D * 6 + 2 * D * (3 - 1)),
    ),
    (
        usual(**HYBRID, mamba=MAMBA2, decoder=blocks("mamba")),
        BLOCKS * (2 * D * 6 + (2 * D + 2 * 2 * 6) * (3 - 1)),
    ),
    (
        usual(**HYBRID, delta=DELTA, decoder=blocks("delta")),
        BLOCKS * (4 * 8 * 10 + (2 * 2 * 8 + 4 * 10) * (4 - 1)),
    ),
    (usual(**HYBRID, lightning={"heads": 3, "head_dim": 6}, decoder=blocks("lightning")), BLOCKS * 3 * 6 * 6),
    (usual(**HYBRID, rglru={"width": 60, "heads": 6}, decoder=blocks("rglru")), BLOCKS * (60 + 60 * (4 - 1))),
]


@pytest.mark.parametrize("mode", ["decode", "prefill"])
@pytest.mark.parametrize(("spec", "elements"), CACHES, ids=lambda value: str(value)[-60:])
def test_what_is_kept(spec: dict[str, Any], elements: int, mode: str) -> None:
    """Exactly the window, the latent vector, the state: the same after a prompt as after its last token."""
    assert kept(spec, mode=mode) == BATCH * elements * BYTES


def test_a_state_does_not_grow() -> None:
    """A thousand times the context, the same bytes."""
    spec = usual(**HYBRID, mamba={"state": 6, "conv": 3}, decoder=blocks("mamba"))
    assert kept(spec, 10) == kept(spec, 10_000)


def test_shared_blocks_keep_a_cache_for_each_call() -> None:
    """One set of weights, but keys and values differ from call to call."""
    assert kept(usual(decoder={"blocks": BLOCKS, "distinct": 1})) == kept(usual())


SIZES = [
    Case("LlamaForCausalLM", hf(), usual()),
    Case(
        "DeepseekV3ForCausalLM",
        hf(
            **{**ROUTED, **NO_KV, "q_lora_rank": 14, "kv_lora_rank": 12, "qk_nope_head_dim": 10},
            qk_rope_head_dim=4,
            v_head_dim=6,
            n_group=1,
            topk_group=1,
            first_k_dense_replace=BLOCKS,
        ),
        usual(kv_heads=None, attention=MLA),
    ),
]


@pytest.mark.parametrize("case", SIZES, ids=str)
def test_transformers_keeps_as_much(case: Case) -> None:
    """Its DynamicCache after a prompt, on the CPU."""
    import transformers

    model_class = getattr(transformers, case.model)
    model = model_class(model_class.config_class(**case.config)).eval()
    with torch.no_grad():
        layers = model(
            input_ids=torch.ones(BATCH, CONTEXT + 1, dtype=torch.long), use_cache=True
        ).past_key_values.layers
    elements = sum(layer.keys.numel() + layer.values.numel() for layer in layers)
    assert kept(case.spec, mode="prefill") == elements * BYTES


def test_latent_attention_says_how_a_decode_step_is_computed() -> None:
    """A choice that changes the FLOPs is said in the report."""
    model = archcalc.load(
        usual(kv_heads=None, attention=MLA, moe={**NARROW, "shared": WIDTH}, decoder=blocks("attention moe"), ffn=None)
    )
    decode, prefill = (
        notes_of(model.build(asked(model, CONTEXT, mode)), "work_notes") for mode in ("decode", "prefill")
    )
    assert any("absorbs W_up into the query" in str(note) for note in decode)
    assert not any("absorbs W_up into the query" in str(note) for note in prefill)
