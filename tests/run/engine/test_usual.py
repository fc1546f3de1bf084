"""The engine that is usual where a device is named and none else: by format, card, model and options."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc.run.device import device
from archcalc.run.engine.catalog import engine, known
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.rules import UsualEngines
from archcalc.run.engine.usual import Choice, usual_engine
from archcalc.run.options import Options
from archcalc.spec import paths
from archcalc.spec.data_files import node

LLAMA: dict[str, Any] = {"family": "transformer", "model_type": "llama"}


@pytest.mark.parametrize(
    ("card", "facts", "name"),
    [
        ("h100", {}, "vllm"),
        ("a100-80gb", {"weights": ("fp8",)}, "vllm"),
        ("rtx-4090", {}, "vllm"),
        ("t4", {"weights": ("int4",)}, "vllm"),
        ("mi300x", {}, "vllm"),
        ("tpu-v5e", {}, "vllm"),
        ("h100", {"weights": ("gguf",)}, "llama.cpp"),
        ("24GB", {"weights": ("gguf",)}, "llama.cpp"),
        ("24GB", {}, "plain"),
        ("m4-max-36gb", {}, "mlx"),
        ("m4-max-36gb", {"weights": ("mlx",)}, "mlx"),
        ("m4-max-36gb", {"weights": ("gguf",)}, "llama.cpp"),
        ("m4-max-36gb", {"weights": ("fp8",)}, "llama.cpp"),
        ("gtx-1080-ti", {}, "llama.cpp"),
        ("v100-32gb", {}, "llama.cpp"),
        ("arc-b580", {}, "llama.cpp"),
        ("max-1550", {}, "vllm"),
        ("rx-5700", {}, "llama.cpp"),
        ("strix-halo-128gb", {}, "llama.cpp"),
        ("jetson-orin-nano-8gb", {}, "llama.cpp"),
        ("trn2", {}, "transformers"),
        ("h100", {"given": frozenset({"ngl"})}, "llama.cpp"),
        ("m4-max-36gb", {"given": frozenset({"cpu_moe"})}, "llama.cpp"),
        ("rtx-4090", {"given": frozenset({"gpu_memory_utilization"})}, "vllm"),
        ("24GB", {"given": frozenset({"max_num_seqs"})}, "vllm"),
        ("rtx-3090", {"unequal": True}, "llama.cpp"),
        ("h100", {"model_type": ""}, "plain"),
        ("h100", {"generates": False, "model_type": "bert"}, "transformers"),
        ("h100", {"generates": False, "model_type": ""}, "plain"),
        ("h100", {"family": "network", "model_type": "resnet"}, "transformers"),
        ("h100", {"family": "network", "model_type": ""}, "plain"),
        ("m4-max-36gb", {"family": "recurrent", "model_type": ""}, "plain"),
    ],
)
def test_the_usual_engine(card: str, facts: dict[str, Any], name: str) -> None:
    found = usual_engine(Choice(DeviceFacts.of(device(card)[1]), **{**LLAMA, **facts}))
    assert found.name == name and found.why


def test_an_option_is_named_as_it_is_typed() -> None:
    asked = Choice(DeviceFacts.of(device("h100")[1]), **LLAMA, given=frozenset({"max_num_seqs"}))
    assert usual_engine(asked).why == "--max-num-seqs is an option of engines that serve"


def test_rules_name_engines_and_options_that_there_are() -> None:
    usual = node(paths.shipped("usual")["engines"], UsualEngines)
    rules = usual.rules
    assert {rule.engine for rule in rules} <= set(known())
    assert all(hasattr(Options, name) for rule in rules for name in rule.options)
    assert engine(usual.anywhere[0]).name == "llama.cpp"
