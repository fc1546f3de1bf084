"""Forward FLOPs of real kinds of model, against FlopCounterMode on the class that transformers builds."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.same_tensors import META, Case, build
from support.small_decoders import (
    BLOCKS,
    FFN,
    LOCAL_EXPERTS,
    MOE,
    NARROW,
    NO_KV,
    NUMBERED,
    ROUTED,
    SHARED,
    VOCAB,
    WIDTH,
    D,
    hf,
    usual,
)
from support.small_decoders import blocks as stack
from torch.utils.flop_counter import FlopCounterMode

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.core.notes import notes_of

BATCH, SEQ = 2, 10


@pytest.fixture(autouse=True)
def no_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers looks for packed sequences in the values of position ids, which a meta tensor has none of."""
    from transformers import masking_utils

    monkeypatch.setattr(masking_utils, "find_packed_sequence_indices", lambda position_ids: None)


def counted(case: Case, **more: Any) -> int:
    """What PyTorch counts of one forward pass, attention computed step by step."""
    ids = torch.empty(BATCH, SEQ, dtype=torch.long, device=META)
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        build(case).eval()(input_ids=ids, use_cache=False, **more)
    return int(counter.get_total_flops())


def forward(case: Case) -> int:
    model = archcalc.load(case.spec)
    return int(work(model.build(model.workload(batch=BATCH, seq=SEQ))).forward)


EAGER = {"attn_implementation": "eager", "experts_implementation": "batched_mm"}
MLA = {"kind": "mla", "q_rank": 14, "kv_rank": 12, "nope_dim": 10, "rope_dim": 4, "v_dim": 6}
LATENT = {"q_lora_rank": 14, "kv_lora_rank": 12, "qk_nope_head_dim": 10, "qk_rope_head_dim": 4, "v_head_dim": 6}
DEEPSEEK = hf(**ROUTED, **LATENT, **NO_KV, **EAGER, first_k_dense_replace=1, n_group=2, topk_group=1)

EXACT = [
    Case("LlamaForCausalLM", hf(**EAGER), usual()),
    Case("MixtralForCausalLM", hf(**LOCAL_EXPERTS, **EAGER), usual(ffn=None, moe=MOE, decoder=stack("attention moe"))),
    Case(
        "GptOssForCausalLM",
        hf(**LOCAL_EXPERTS, **EAGER, head_dim=16),
        usual(
            head_dim=16,
            ffn=None,
            moe={**MOE, "bias": True, "router_bias": True},
            attention={"sinks": True},
            decoder=stack("attention moe"),
        ),
    ),
    Case(
        "DeepseekV3ForCausalLM",
        DEEPSEEK,
        usual(
            kv_heads=None,
            moe={**NARROW, "shared": WIDTH},
            attention=MLA,
            decoder={"pattern": ["attention ffn", "3 × attention moe"]},
        ),
    ),
]


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_forward_flops(case: Case) -> None:
    """Every matrix product that transformers does, and no other."""
    assert forward(case) == counted(case)


STATE = {"state_size": 6, "conv_kernel": 3}
PURE = {"vocab_size": VOCAB, "hidden_size": D, "num_hidden_layers": BLOCKS, "expand": 2, **STATE}
MAMBA = {"vocab": VOCAB, "d_model": D, "norm": "rms", "decoder": stack("mamba"), "head": "tied"}
DELTA = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 10}
BAMBA = {"n_heads": 8, "d_head": 12, "n_groups": 2, "d_state": 6, "d_conv": 3, "chunk_size": 4}
NEMOTRON = {"mamba_num_heads": 8, "mamba_head_dim": 12, "n_groups": 2, "ssm_state_size": 6, "conv_kernel": 3}
WIDE = {"kind": "mamba2", "inner": 8 * 12, "heads": 8, "state": 6}

PADDED = [  # and how many channels its causal convolution has, how many taps, in how many blocks
    (Case("MambaForCausalLM", PURE, {**MAMBA, "mamba": {"state": 6, "conv": 3}}), (2 * D, 3, BLOCKS)),
    (
        Case(
            "Mamba2ForCausalLM",
            {**PURE, "num_heads": 8, "head_dim": 12, "n_groups": 2, "chunk_size": 4, "tie_word_embeddings": True},
            {**MAMBA, "mamba": {"kind": "mamba2", "heads": 8, "state": 6, "groups": 2, "conv": 3, "chunk": 4}},
        ),
        (2 * D + 2 * 2 * 6, 3, BLOCKS),
    ),
    (
        Case(
            "BambaForCausalLM",
            hf(**EAGER, **{f"mamba_{name}": size for name, size in BAMBA.items()}, attn_layer_indices=[1]),
            usual(
                mamba={"kind": "mamba2", "heads": 8, "state": 6, "groups": 2, "conv": 3, "chunk": 4},
                decoder={"pattern": ["mamba ffn", "attention ffn", "2 × mamba ffn"]},
            ),
        ),
        (2 * D + 2 * 2 * 6, 3, 3),
    ),
    (
        Case(
            "NemotronHForCausalLM",
            {**hf(**EAGER, **NEMOTRON, head_dim=8), "layers_block_type": ["mamba", "attention", "mamba", "mlp"]},
            usual(
                position="none",
                ffn={"width": FFN, "act": "relu2"},
                mamba={**WIDE, "groups": 2, "norm_groups": 2, "conv": 3, "chunk": 128},
                decoder={"pattern": ["mamba", "attention", "mamba", "ffn"]},
            ),
        ),
        (8 * 12 + 2 * 2 * 6, 3, 2),
    ),
    (
        Case(
            "Qwen3NextForCausalLM",
            hf(**NUMBERED, **DELTA, **EAGER, shared_expert_intermediate_size=SHARED, head_dim=16),
            usual(
                head_dim=16,
                ffn=None,
                moe={**NARROW, "shared": SHARED, "shared_gate": True},
                attention={"qk_norm": "head", "gate": True},
                delta={"heads": 2, "v_heads": 4, "head_dim": 8, "v_dim": 10},
                decoder=stack("3 × delta moe", "attention moe"),
            ),
        ),
        (2 * 2 * 8 + 4 * 10, 4, 3),
    ),
    (
        Case(
            "RecurrentGemmaForCausalLM",
            {**hf(intermediate_size=2 * 40), "num_hidden_layers": 3, "lru_width": 60, "conv1d_width": 3},
            usual(
                attention={"window": 2048},
                ffn={"width": 40, "gated": True},
                rglru={"width": 60, "heads": 6, "conv": 3},
                decoder={"pattern": ["2 × rglru ffn", "attention ffn"]},
                head="tied",
            ),
        ),
        (60, 3, 2),
    ),
]


@pytest.mark.parametrize(("case", "convolution"), PADDED, ids=str)
def test_padded_positions_of_a_causal_convolution_are_left_out(case: Case, convolution: tuple[int, int, int]) -> None:
    """PyTorch pads with taps − 1 positions, computes them and drops them; a report says that archcalc does not."""
    channels, taps, number = convolution
    assert counted(case) - forward(case) == number * BATCH * (taps - 1) * 2 * channels * taps
    assert any(
        "positions that PyTorch pads" in str(note) for note in notes_of(archcalc.load(case.spec).build(), "work_notes")
    )


def test_only_the_chosen_experts_are_counted() -> None:
    """Llama 4 of transformers runs every token through all experts; archcalc counts the one it chose, and says so."""
    config = hf(num_local_experts=8, num_experts_per_tok=1, intermediate_size=WIDTH, head_dim=8, **EAGER)
    moe = {"experts": 8, "top": 1, "width": WIDTH, "shared": WIDTH}
    case = Case("Llama4ForCausalLM", config, usual(ffn=None, moe=moe, decoder=stack("attention moe")))
    idle = BLOCKS * (8 - 1) * BATCH * SEQ * 2 * 3 * D * WIDTH
    assert counted(case) - forward(case) == idle
    assert any(
        "tokens that chose them" in str(note) for note in notes_of(archcalc.load(case.spec).build(), "work_notes")
    )


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
@pytest.mark.parametrize("shared", [True, False])
def test_disentangled_attention(shared: bool) -> None:
    """Distances are projected and met by queries and keys; on the CPU, because DeBERTa asks a tensor for its values."""
    from transformers import DebertaV2Config, DebertaV2ForMaskedLM

    sizes: dict[str, Any] = {"vocab_size": VOCAB, "hidden_size": D, "num_attention_heads": 6, "intermediate_size": 40}
    relative = {"relative_attention": True, "position_buckets": 9, "pos_att_type": ["c2p", "p2c"]}
    config = DebertaV2Config(**sizes, **relative, num_hidden_layers=3, share_att_key=shared, type_vocab_size=0)
    counter = FlopCounterMode(display=False)
    with counter:
        DebertaV2ForMaskedLM(config).eval()(input_ids=torch.ones(BATCH, SEQ, dtype=torch.long))
    disentangled = {"kind": "disentangled", "buckets": 9, "project": [] if shared else ["q", "k"]}
    spec = {"vocab": VOCAB, "d_model": D, "heads": 6, "ffn": 40, "norm": {"place": "post"}, "encoder": 3}
    head = {"kind": "tied", "bias": True, "transform": True}
    said = {**spec, "embedding": {"norm": True}, "position": disentangled, "head": head}
    assert forward(Case("", {}, said)) == counter.get_total_flops()
