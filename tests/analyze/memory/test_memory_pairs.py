"""Every memory option has its effect in company with every other one, or is refused in words.

Each option is given on top of each other one: some number of the report must then differ from the report without it.
A pair that changes nothing is listed here with its reason, or it is a silent option.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import Any

import pytest

from archcalc import load
from archcalc.core.errors import InputError

SIZES = ["decoder=3", "vocab=512", "d_model=256", "heads=8", "kv_heads=4", "ffn.width=512"]
TRAINING: dict[str, dict[str, Any]] = {
    "fp32": {"precision": "fp32"},
    "bf16": {"precision": "bf16"},
    "autocast": {"precision": "autocast"},
    "fp8": {"precision": "fp8"},
    "sgd": {"optimizer": "sgd"},
    "adam8bit": {"optimizer": "adam8bit"},
    "accumulate": {"accumulate": 2},
    "selective": {"recompute": "selective"},
    "ops": {"recompute": "ops"},
    "full": {"recompute": "full"},
    "eager": {"attention": "eager"},
    "loss_chunks": {"loss_chunks": 4},
    "freeze": {"freeze": "ffn"},
    "lora": {"lora": 32},
    "lora all": {"lora": 32, "lora_targets": "all"},
    "nf4": {"lora": 32, "weights": "nf4"},
    "nf4_lightning": {"lora": 32, "weights": "nf4_lightning"},
    "int8": {"lora": 32, "weights": "int8"},
    "tp": {"tp": 2},
    "tp sp": {"tp": 2, "sp": True},
    "dp zero 1": {"dp": 2, "zero": 1},
    "dp zero 2": {"dp": 2, "zero": 2},
    "dp zero 3": {"dp": 2, "zero": 3},
    "cp": {"cp": 2},
    "blocks": {"compile": "blocks"},
    "all": {"compile": "all"},
    "overhead": {"overhead": 12345},
}
INFERENCE: dict[str, dict[str, Any]] = {
    "fp32": {"precision": "fp32"},
    "fp8": {"precision": "fp8"},
    "int4": {"weights": "int4"},
    "nf4": {"weights": "nf4"},
    "q4_k_m": {"weights": "q4_k_m"},
    "eager": {"attention": "eager"},
    "kv fp8": {"kv_dtype": "fp8"},
    "kv rule": {"kv_rule": "full"},
    "prefill": {"prefill": 16},
    "tp": {"tp": 2},
    "overhead": {"overhead": 12345},
}
WINDOW = ["attention.window=32"]
SAME = {  # with the first, the second changes nothing; why
    ("lora all", "lora"): "the same adapters and more",
    ("nf4", "lora"): "a format is trained beside adapters only",
    ("nf4_lightning", "lora"): "a format is trained beside adapters only",
    ("int8", "lora"): "a format is trained beside adapters only",
    ("fp32", "eager"): "eager is what fp32 has anyway: the kernel takes 16 bits",
    ("tp sp", "tp"): "sequence parallelism is given with it",
}


@cache
def answer(mode: str, names: tuple[str, ...]) -> Any:
    """All numbers of the report, or the error's text."""
    options = TRAINING if mode == "train" else INFERENCE
    asked: dict[str, Any] = {}
    for name in names:
        asked |= options[name]
    model = load("llama-3-8b", set=[*SIZES, *(WINDOW if mode == "infer" else [])])
    try:
        report = model.memory(mode=mode, batch=4, seq=128, **asked)
    except InputError as refused:
        return str(refused)
    return report.parts, report.states, report.rows, [instant.bytes for instant in report.instants]


def clash(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """One option with two values is not a pair of options."""
    return any(first[name] != value for name, value in second.items() if name in first)


def pairs(options: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    every = permutations(options, 2)
    return [(one, two) for one, two in every if not clash(options[one], options[two]) and (one, two) not in SAME]


@pytest.mark.parametrize(("given", "added"), pairs(TRAINING))
def test_an_option_of_training_has_its_effect_beside_another(given: str, added: str) -> None:
    assert answer("train", (given, added)) != answer("train", (given,))


@pytest.mark.parametrize(("given", "added"), pairs(INFERENCE))
def test_an_option_of_inference_has_its_effect_beside_another(given: str, added: str) -> None:
    assert answer("infer", (given, added)) != answer("infer", (given,))


@pytest.mark.parametrize("format", ["nf4", "nf4_lightning", "nf4_dq_lightning"])
def test_a_recipe_changes_activations_beside_any_quantised_format(format: str) -> None:
    """Each of the four recipes keeps other activations, whatever the format of the weights keeps besides."""
    model = load("tinyllama-1.1b")
    asked: dict[str, Any] = {"mode": "train", "batch": 2, "seq": 128, "lora": 8, "weights": format}
    recipes = ("fp32", "mixed", "autocast", "fp8")
    kept = [model.memory(**asked, precision=recipe).rows[0].parts["activations"] for recipe in recipes]
    assert len(set(kept)) == len(recipes)
