"""Kinds of weight formats, by the name of a format and by what a checkpoint's config says."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc.spec import paths
from archcalc.storage.named_formats import of_gguf
from archcalc.storage.weight_kinds import kind_of_format, kinds_of_config

AWQ_GROUP = {"weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}}
FP8_GROUP = {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}
NVFP4_GROUP = {"weights": {"num_bits": 4, "type": "float"}, "format": "nvfp4-pack-quantized"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bf16", ""),
        ("fp8", "fp8"),
        ("fp8_e4m3", "fp8"),
        ("fp8_block", "fp8"),
        ("gptq", "int4"),
        ("awq", "int4"),
        ("int8", "int8"),
        ("nf4_dq", "nf4"),
        ("mxfp4_moe", "mxfp4"),
        ("mxfp4_gguf", "gguf"),
        ("Q4_K_M", "gguf"),
        ("q8_0", "gguf"),
    ],
)
def test_the_kind_of_a_format(name: str, kind: str) -> None:
    assert kind_of_format(name) == kind


def test_every_format_that_is_not_of_gguf_says_its_kind() -> None:
    own = [name for name in paths.presets("formats") if not of_gguf(name)]
    assert [name for name in own if not kind_of_format(name)] == [] and len(own) > 10


@pytest.mark.parametrize(
    ("config", "kinds"),
    [
        (None, ()),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, ("fp8",)),
        ({"quant_method": "fbgemm_fp8"}, ("fp8",)),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, ("int4",)),
        ({"quant_method": "gptq", "bits": 8}, ("int8",)),
        ({"w_bit": 4, "q_group_size": 128, "zero_point": True}, ("int4",)),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, ("nf4",)),
        ({"load_in_8bit": True}, ("int8",)),
        ({"quant_method": "mxfp4"}, ("mxfp4",)),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": AWQ_GROUP, "b": FP8_GROUP}}, ("int4", "fp8")),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": NVFP4_GROUP}}, ("nvfp4",)),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, ("nvfp4",)),
        ({"quantization": {"quant_algo": "FP8"}, "producer": {"name": "modelopt"}}, ("fp8",)),
        ({"quant_method": "fp8", "quantized_layers": {"a": {"quant_algo": "NVFP4"}}}, ("fp8", "nvfp4")),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}}, ("fp8",)),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}}, ("mxfp4",)),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "uint4"}}}, ("int4",)),
        ({"quant_method": "torchao", "quant_type": "int4_weight_only"}, ("int4",)),
        ({"quant_method": "torchao", "quant_type": {"default": {"_type": "Float8WeightOnlyConfig"}}}, ("fp8",)),
        ({"bits": 4, "group_size": 64}, ("mlx",)),
        ({"quant_method": "gguf", "formats": {"a": "Q4_K"}}, ("gguf",)),
        ({"quant_method": "tomorrow"}, ()),
    ],
)
def test_the_kinds_of_a_checkpoint(config: dict[str, Any] | None, kinds: tuple[str, ...]) -> None:
    assert kinds_of_config(config) == kinds
