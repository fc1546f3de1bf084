"""Values at the edge that config classes take: no attention at all, a shared expert of no width, no window."""

from __future__ import annotations

from typing import Any

import pytest
from support.hf_truth import judge

import archcalc
from archcalc.importers.hf import translators
from archcalc.importers.hf._helpers.reading import described

SIZES: dict[str, int | None] = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4}
SIZES |= {"num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 100, "pad_token_id": None}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
LINEAR = ["linear_attention"] * 4
RECURRENT: dict[str, tuple[str, dict[str, Any]]] = {  # every block without attention, by each type's own fields
    "qwen3_next": ("Qwen3NextForCausalLM", {"layer_types": LINEAR, **EXPERTS}),
    "jamba": ("JambaForCausalLM", {"attn_layer_period": 100, "attn_layer_offset": 50, "num_experts": 2}),
    "bamba": ("BambaForCausalLM", {"attn_layer_indices": []}),
    "granitemoehybrid": ("GraniteMoeHybridForCausalLM", {"layer_types": ["mamba"] * 4, "num_local_experts": 0}),
    "nemotron_h": ("NemotronHForCausalLM", {"layers_block_type": ["mamba", "moe"] * 2, "n_routed_experts": 4}),
    "lfm2": ("Lfm2ForCausalLM", {"layer_types": ["conv"] * 4}),
    "recurrent_gemma": ("RecurrentGemmaForCausalLM", {"block_types": ["recurrent"]}),
    "minimax": ("MiniMaxForCausalLM", {"layer_types": LINEAR, "num_local_experts": 4}),
    "kimi_linear": ("KimiLinearForCausalLM", {"layer_types": LINEAR}),
}


@pytest.mark.parametrize("model_type", RECURRENT)
def test_a_dropout_on_attention_that_no_block_has(model_type: str) -> None:
    """It changes nothing; the model is that of the class, and trains."""
    name, said = RECURRENT[model_type]
    config = {**SIZES, "model_type": model_type, "architectures": [name], "attention_dropout": 0.1, **said}
    verdict = judge(config)
    assert verdict.outcome == "exact", verdict
    model = archcalc.load(config)
    plain = archcalc.load({**config, "attention_dropout": 0.0})
    work: dict[str, Any] = {"mode": "train", "batch": 1, "seq": 8}
    assert model.memory(**work).total_bytes == plain.memory(**work).total_bytes


@pytest.mark.parametrize(
    ("model_type", "said"),
    [
        ("qwen2_moe", {"shared_expert_intermediate_size": 0}),
        ("qwen3_next", {"shared_expert_intermediate_size": 0}),
        ("kolibri1", {"shared_expert_intermediate_size": 0}),
        ("nemotron_h", {"moe_shared_expert_intermediate_size": 0}),
    ],
)
def test_a_shared_expert_of_no_width(model_type: str, said: dict[str, int]) -> None:
    """Qwen keeps the gate in front of it, Nemotron takes 0 for nothing said, and others have none."""
    name = next(name for name, task in described(model_type)["classes"].items() if task == "causal")
    more = {"layers_block_type": ["mamba", "moe"] * 2, "n_routed_experts": 4} if model_type == "nemotron_h" else EXPERTS
    config = {**SIZES, "model_type": model_type, "architectures": [name], **more, **said}
    verdict = judge(config)
    assert verdict.outcome == "exact", verdict
    assert archcalc.load(config).flops(batch=1, seq=8).total > 0


NEED = {"dots1": {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1}}  # without defaults
APART = ("t5_gemma_module", "ultrabert")  # refused whatever the window
BEHIND_IT = ("deepseek_ref", "deepseek_v4")  # compress what is behind the window, so that there is always one
WINDOWS = sorted(
    kind
    for kind in translators()
    if "sliding_window" in described(kind)["defaults"] and kind not in (*APART, *BEHIND_IT)
)


@pytest.mark.parametrize("model_type", WINDOWS)
def test_no_window_is_none(model_type: str) -> None:
    """`sliding_window: null` is every block looking at everything: more scores, the same parameters."""
    said = {"model_type": model_type, **NEED.get(model_type, {})}
    without = archcalc.load({**said, "sliding_window": None})
    assert without.params().total == archcalc.load(said).params().total
    assert "window:" not in without.yaml()


@pytest.mark.parametrize(
    ("model_type", "key"), [("vit", "image_size"), ("vit", "patch_size"), ("convnext", "patch_size")]
)
@pytest.mark.parametrize("said", [True, [True, 16], 0, [16], [16, 16, 16]])
def test_sides_are_sizes(model_type: str, key: str, said: Any) -> None:
    """One or two, and `true` is none."""
    with pytest.raises(archcalc.InputError, match="expected a size, or a height and a width"):
        archcalc.load({"model_type": model_type, key: said})
