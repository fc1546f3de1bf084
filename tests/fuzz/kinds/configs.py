"""Hugging Face configs: those of the presets and every class's defaults, with and without quantisation."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from archcalc.spec.paths import data_root
from fuzz import bytewise, treewise
from fuzz.case import Case
from fuzz.kinds.shared import examine

REAL = data_root() / "configs.json"
ROUGH = 0.5
SPARSE = 3 << 30  # bytes of a file that has nothing but a hole
QUANTISED: tuple[dict[str, Any], ...] = (
    {"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {r"-:.*\.mlp": {}, r"+:.*q": {"bits": 8}}},
    {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True, "modules_to_not_convert": ["lm_head"]},
    {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
    {"quant_method": "bitsandbytes", "load_in_8bit": True, "llm_int8_skip_modules": ["lm_head"]},
    {"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head", "mlp.gate"]},
    {"quant_method": "fp8", "activation_scheme": "static", "ignored_layers": ["model.layers.0"]},
    {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64}}},
    {"quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 32}},
    {"quant_method": "aqlm", "in_group_size": 8, "out_group_size": 1, "num_codebooks": 1, "nbits_per_codebook": 16},
    {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"], "group_size": 16},
    {"quant_method": "auto-round", "bits": 4, "group_size": 128, "extra_config": {r".*q_proj": {"bits": 8}}},
    {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]},
    {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "ignore": ["lm_head", r"re:.*mlp\.gate$"],
        "config_groups": {
            "group_0": {
                "targets": ["Linear"],
                "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": True},
            }
        },
    },
)


def run(case: Case) -> None:
    name = case.write(case.random.choice(("config.json", "config.json", "model.json", "model")), text(case))
    if case.chance(0.002):
        (case.folder / name).open("r+b").truncate(SPARSE)
    examine(case, case.random.choice((name, ".")) if name == "config.json" else name)


def text(case: Case) -> bytes:
    tree = config(case)
    if case.chance(0.85):
        tree = treewise.mutated(tree, case.random, gently=not case.chance(ROUGH))
    written = json.dumps(tree, ensure_ascii=case.chance(0.9)).encode("utf-8", "surrogatepass")
    return bytewise.mutated(written, case.random) if case.chance(0.15) else written


def config(case: Case) -> dict[str, Any]:
    """A config that is what it says, at times within another."""
    found = dict(case.random.choice(_known()))
    if case.chance(0.25):
        found["quantization_config"] = case.random.choice(QUANTISED)
    if case.chance(0.05):
        found = {"model_type": "llava", "text_config": found, "vision_config": dict(case.random.choice(_known()))}
    return found


@cache
def _known() -> list[dict[str, Any]]:
    files = sorted((data_root() / "hf").glob("*.json"))
    return [*json.loads(REAL.read_bytes()).values(), *(_defaults(file) for file in files)]


def _defaults(file: Path) -> dict[str, Any]:
    """What a class of transformers takes for granted, written out."""
    said = json.loads(file.read_bytes())
    return {"model_type": file.stem, "architectures": list(said.get("classes", ()))[-1:], **said.get("defaults", {})}
