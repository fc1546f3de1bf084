"""Quantised checkpoints as they are published, and as transformers builds them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.quantised_llama import FLOAT8, INT4, LLAMA, tensors, weights

from archcalc import load

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

Fields = dict[str, Any]


def test_experts_alone_are_mxfp4_in_gpt_oss(tmp_path: Path) -> None:
    """The preset's 12.8 GiB, from a config; biases and the router stay in bf16."""
    config = {"model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"], "torch_dtype": "bfloat16"}
    shape = {"num_hidden_layers": 24, "num_local_experts": 32}
    left = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    quantised = {"quant_method": "mxfp4", "modules_to_not_convert": left}
    expected = load("gpt-oss-20b").memory(weights="mxfp4_moe", precision="bf16").parts["weights"]
    assert weights(tmp_path, {**config, **shape}, quantised) == expected


MIXTURE = {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 512,
    "moe_intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "num_experts": 8,
    "mlp_only_layers": [0],
    "vocab_size": 500,
    "torch_dtype": "bfloat16",
}


LATENT = {
    "model_type": "deepseek_v3",
    "architectures": ["DeepseekV3ForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 512,
    "moe_intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "q_lora_rank": 128,
    "kv_lora_rank": 128,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 64,
    "v_head_dim": 64,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
    "vocab_size": 500,
    "torch_dtype": "bfloat16",
}


@pytest.mark.parametrize("config", [LLAMA, MIXTURE, LATENT], ids=["llama", "mixture", "latent"])
@pytest.mark.parametrize("skipped", [["lm_head"], ["lm_head", "model.layers.1.self_attn"]])
def test_fp8_is_what_transformers_builds(tmp_path: Path, config: Fields, skipped: list[str]) -> None:
    """Its FP8 layers in the place of linear ones, on the meta device: every parameter's bytes, scales included."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from transformers.integrations.finegrained_fp8 import replace_with_fp8_linear

    asked = transformers.FineGrainedFP8Config(modules_to_not_convert=skipped, weight_block_size=(128, 128))
    made = transformers.AutoConfig.for_model(**{key: value for key, value in config.items() if key != "architectures"})
    with torch.device("meta"):
        built = transformers.AutoModelForCausalLM.from_config(made, dtype=torch.bfloat16)
    built = replace_with_fp8_linear(built, skipped, asked, pre_quantized=True)
    expected = sum(tensor.numel() * tensor.element_size() for tensor in built.parameters())
    quantised = {"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": skipped}
    buffers = 2 * 8 * 2 if config is LATENT else 0  # what steers the router, in two layers
    assert weights(tmp_path, config, quantised) - buffers == expected


LLAMA_2_13B = {
    **LLAMA,
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "num_key_value_heads": 40,
    "vocab_size": 32000,
    "torch_dtype": "float16",
}


@pytest.mark.parametrize(
    ("quantised", "published"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, 7.26),
        ({"quant_method": "gptq", "bits": 4, "group_size": 64}, 7.51),
        ({"quant_method": "gptq", "bits": 4, "group_size": 32}, 8.00),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, 13.36),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, 13.65),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, 7.25),
    ],
)
def test_real_checkpoints_of_llama_2_13b(tmp_path: Path, quantised: Fields, published: float) -> None:
    """The tables on the model cards of TheBloke/Llama-2-13B-GPTQ and -AWQ, in GB. The GPTQ files of that time hold a
    bias of zeros beside every matrix, 4 MB in all, which the model does not have."""
    assert weights(tmp_path, LLAMA_2_13B, quantised) / 10**9 == pytest.approx(published, abs=0.009)


def test_experts_of_kimi_k2_thinking(tmp_path: Path) -> None:
    """The checkpoint has 594 GB: routed experts in int4, groups of 32, and everything else in bf16."""
    shape = {
        "vocab_size": 163840,
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "num_hidden_layers": 61,
        "num_attention_heads": 64,
        "num_key_value_heads": 64,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "n_routed_experts": 384,
    }
    ignored = ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*"]
    quantised = tensors({**INT4, "group_size": 32}, "pack-quantized", ignore=ignored)
    assert round(weights(tmp_path, {**LATENT, **shape}, quantised) / 10**9) == 594


def test_a_cache_that_the_checkpoint_has_scales_for_is_told(run: Run, write: Write) -> None:
    quantised = tensors(FLOAT8, "float-quantized", kv_cache_scheme={"num_bits": 8, "type": "float"})
    answer = run("memory", write(json.dumps({**LLAMA, "quantization_config": quantised}), "config.json"), "--notes")
    assert "--kv-dtype fp8 counts it that way" in " ".join(answer.out.split())


def test_a_folder_of_packed_weights_is_compared_in_bytes(tmp_path: Path) -> None:
    """A GPTQ checkpoint as AutoGPTQ writes it: every tensor by its name."""
    from support.safetensors_files import file

    config = {**LLAMA, "num_hidden_layers": 1, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100}
    shapes = {"q": (64, 64), "k": (16, 64), "v": (16, 64), "o": (64, 64)}
    names = {f"self_attn.{name}_proj": shape for name, shape in shapes.items()}
    names |= {"mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64), "mlp.down_proj": (64, 128)}
    stored: dict[str, tuple[str, list[int]]] = {
        "model.embed_tokens.weight": ("BF16", [100, 64]),
        "lm_head.weight": ("BF16", [100, 64]),
        "model.norm.weight": ("BF16", [64]),
        **{f"model.layers.0.{name}_layernorm.weight": ("BF16", [64]) for name in ("input", "post_attention")},
    }
    for name, (out, into) in names.items():
        under = f"model.layers.0.{name}"
        stored[f"{under}.qweight"] = ("I32", [into // 8, out])
        stored[f"{under}.qzeros"] = ("I32", [into // 32, out // 8])
        stored[f"{under}.scales"] = ("BF16", [into // 32, out])
        stored[f"{under}.g_idx"] = ("I32", [into])
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 32}
    expected = weights(tmp_path, config, quantised)
    (tmp_path / "model.safetensors").write_bytes(file(stored))
    notes = " ".join(map(str, load(tmp_path).memory(seq=32).assumptions))
    assert f"as the config says, and takes {expected:,} bytes, as quantization_config says" in notes
