"""`quantization_config`: the bytes of weights that each method stores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.assumption_texts import texts
from support.quantised_llama import BLOCK, FLOAT8, INT4, LLAMA, REST, each, tensors, weights

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

Fields = dict[str, Any]


NVFP4 = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}


@pytest.mark.parametrize(
    ("quantised", "size"),
    [
        # qweight, qzeros, scales in fp16, and g_idx in int32
        (
            {"quant_method": "gptq", "bits": 4, "group_size": 128},
            lambda out, into: into * out // 2 + into // 128 * (out // 2 + 2 * out) + 4 * into,
        ),
        (
            {"quant_method": "gptq", "bits": 8, "group_size": -1},
            lambda out, into: into * out + (out + 2 * out) + 4 * into,
        ),
        # qweight, qzeros and scales
        (
            {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True},
            lambda out, into: into * out // 2 + into // 64 * (out // 2 + 2 * out),
        ),
        # blocks of 64 with an fp32 scale; scales in 8 bits, 256 of which share an fp32
        (
            {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
            lambda out, into: into * out // 2 + 4 * (into * out // 64),
        ),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
            lambda out, into: into * out // 2 + into * out // 64 + 4 * (into * out // 64 // 256),
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, lambda out, into: into * out + 4 * out),
        # weight_scale_inv of every tile of 128 × 128
        (
            {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"},
            lambda out, into: into * out + 4 * (out // 128) * (into // 128),
        ),
        ({"quant_method": "fp8", "activation_scheme": "static"}, lambda out, into: into * out + 4 + 4),
        ({"quant_method": "fbgemm_fp8"}, lambda out, into: into * out + 4 * out),
        ({"quant_method": "eetq"}, lambda out, into: into * out + 2 * out),
        ({"quant_method": "bitnet"}, lambda out, into: into * out // 4 + 2),
        (
            {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}},
            lambda out, into: into * out // 2 + into // 64 * out * (2 + 2),
        ),
        ({"quant_method": "quanto", "weights": "int8"}, lambda out, into: into * out + 2 * out),
        (
            {"quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 32}},
            lambda out, into: into * out // 2 + into // 32 * out * (2 + 2),
        ),
        # codes of 16 bits for 8 weights, a book of 65,536 × 8 numbers, a scale a row
        (
            {
                "quant_method": "aqlm",
                "num_codebooks": 1,
                "nbits_per_codebook": 16,
                "in_group_size": 8,
                "out_group_size": 1,
            },
            lambda out, into: 2 * out * into // 8 + 2 * 65536 * 8 + 2 * out,
        ),
        # weight_packed, weight_scale in bf16, weight_shape of two int64
        (tensors(INT4, "pack-quantized"), lambda out, into: into * out // 2 + 2 * into // 128 * out + 16),
        (
            tensors({**INT4, "symmetric": False}, "pack-quantized"),
            lambda out, into: into * out // 2 + into // 128 * (2 * out + out // 2) + 16,
        ),
        (tensors(FLOAT8, "float-quantized"), lambda out, into: into * out + 2 * out),
        (tensors(NVFP4, "nvfp4-pack-quantized"), lambda out, into: into * out // 2 + into * out // 16 + 4),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, lambda out, into: into * out + 4 + 4),
    ],
)
def test_every_linear_layer_takes_what_its_method_stores(tmp_path: Path, quantised: Fields, size: Any) -> None:
    """The table, the head and the norms stay as they are."""
    assert weights(tmp_path, LLAMA, quantised) == REST + each(BLOCK, size)


def test_an_explicit_format_wins(tmp_path: Path) -> None:
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    assert weights(tmp_path, LLAMA, quantised, weights="bf16") == REST + each(BLOCK, lambda out, into: 2 * out * into)


@pytest.mark.parametrize("command", ["memory", "fit"])
def test_the_choice_is_told(run: Run, write: Write, command: str) -> None:
    """Where the format comes from, and what changes it."""
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    answer = run(command, write(json.dumps({**LLAMA, "quantization_config": quantised}), "config.json"), "--notes")
    assert "weights: gptq int4, group 128, from quantization_config; --weights changes it" in answer.out


def test_training_does_not_quantise(run: Run, write: Write) -> None:
    """LoRA over quantised weights is asked for by --weights; the config alone does not choose it."""
    quantised = {"quant_method": "awq", "bits": 4, "group_size": 128}
    file = write(json.dumps({**LLAMA, "quantization_config": quantised}), "config.json")
    answer = run("memory", file, "--mode", "train", "--format", "json").json
    assert answer["states"]["weights"] == 2 * (REST + each(BLOCK, lambda out, into: 2 * out * into))  # in fp32
    assert any("not the format they are stored in (awq int4, group 128)" in words for words in texts(answer))


def test_what_a_config_leaves_open_is_fp16_beside_quantised_weights(tmp_path: Path) -> None:
    """The type that GPTQ and AWQ kernels take."""
    config = {key: value for key, value in LLAMA.items() if key != "torch_dtype"}
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128}
    assert weights(tmp_path, config, awq) == weights(tmp_path, LLAMA, awq)
