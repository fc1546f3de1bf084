"""Every memory option has its effect in company with every other one, or is refused in words.

Each option is given on top of each other one: some number of the report must then differ from the report without it.
A pair that changes nothing is listed here with its reason, or it is a silent option.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from archcalc import load
from archcalc.core.errors import InputError
from archcalc.run.options import options_of
from archcalc.spec.option import declared
from archcalc.spec.sizes import Sizes

SIZES = ["decoder=3", "vocab=512", "d_model=256", "heads=8", "kv_heads=4", "ffn.width=512"]
EXPERT_SIZES = ["decoder=2", "vocab=512", "d_model=256", "heads=8", "kv_heads=4", "moe.width=512"]
TRAINING: dict[str, dict[str, Any]] = {
    "fp32": {"precision": "fp32"},
    "bf16": {"precision": "bf16"},
    "master": {"precision": "master"},
    "fp8": {"precision": "fp8"},
    "sgd": {"optimizer": "sgd"},
    "adam8bit": {"optimizer": "adam8bit"},
    "accumulate": {"accumulate": 2},
    "selective": {"recompute": "selective"},
    "ops": {"recompute": "ops"},
    "full": {"recompute": "full"},
    "eager": {"attention": "eager"},
    "flash in fp32": {"attention": "flash", "precision": "fp32"},
    "loss_chunks": {"loss_chunks": 4},
    "freeze": {"freeze": "ffn"},
    "lora": {"lora": 32},
    "lora all": {"lora": 32, "lora_targets": "all"},
    "nf4": {"lora": 32, "weights": "nf4"},
    "nf4_lightning": {"lora": 32, "weights": "nf4_lightning"},
    "int8": {"lora": 32, "weights": "int8"},
    "tp": {"tp": 2},
    "tp sp": {"tp": 2, "sp": True},
    "dp": {"dp": 2},
    "dp zero 1": {"dp": 2, "zero": 1},
    "dp zero 2": {"dp": 2, "zero": 2},
    "dp zero 3": {"dp": 2, "zero": 3},
    "never resharded": {"dp": 2, "zero": 3, "reshard_after_forward": "never"},
    "torchtitan": {"code": "torchtitan@2024-12"},
    "plain code": {"code": "plain"},
    "expandable": {"allocator": "expandable"},
    "cp": {"cp": 2},
    "blocks": {"compile": "blocks"},
    "all": {"compile": "all"},
    "overhead": {"overhead": 12345},
    "megatron": {"code": "megatron"},
    "pp": {"code": "megatron", "pp": 3},
    "code_option": {"code": "megatron", "code_option": "loss=in_place_fp32"},
    "dpo": {"method": "dpo"},
    "dpo without a reference": {"method": "dpo", "reference": "none"},
    "grpo": {"method": "grpo"},
    "grpo beside an engine": {"method": "grpo", "rollout": "same", "rollout_memory": 123_456_789},
    "optimizer in host RAM": {"offload": "optimizer"},
    "params in host RAM": {"offload": "params"},
    "activations in host RAM": {"offload": "activations"},
}
EXPERTS: dict[str, dict[str, Any]] = {
    "accumulate": {"accumulate": 2},
    "full": {"recompute": "full"},
    "megatron": {"code": "megatron"},
    "experts over tp": {"code": "megatron", "tp": 2, "sp": True},
    "dp zero 1": {"dp": 2, "zero": 1},
    "two stages": {"code": "megatron", "pp": 2},
    "ep": {"code": "megatron", "dp": 2, "ep": 2},
    "ep zero 1": {"code": "megatron", "dp": 2, "ep": 2, "zero": 1},
}
INFERENCE: dict[str, dict[str, Any]] = {
    "fp32": {"precision": "fp32"},
    "fp8": {"precision": "fp8"},
    "int4": {"weights": "int4"},
    "nf4": {"weights": "nf4"},
    "q4_k_m": {"weights": "q4_k_m"},
    "eager": {"attention": "eager"},
    "kv fp8": {"kv_dtype": "fp8"},
    "window-1": {"kv_rule": "window-1"},
    "window+batch": {"kv_rule": "window+batch"},
    "kv full": {"kv_rule": "full"},
    "vllm": {"kv_rule": "vllm"},
    "prefill": {"prefill": 16},
    "vllm engine": {"engine": "vllm"},
    "few requests": {"engine": "vllm", "max_num_seqs": 64},
    "no graphs": {"engine": "vllm", "enforce_eager": True},
    "tp": {"tp": 2},
    "dp": {"dp": 2},
    "overhead": {"overhead": 12345},
    "measured": {"measured": "30GiB"},
    "adapters": {"lora": 8, "adapters": 4},
    "one adapter": {"lora": 8, "lora_targets": "q"},
    "draft": {"draft": "qwen3-0.6b"},
    "shared prefix": {"shared_prefix": 120},
    "table in host RAM": {"offload": "embedding"},
    "layers on the GPU": {"ngl": 2},
}
STATES: dict[str, dict[str, Any]] = {
    "fp32": {"precision": "fp32"},
    "int8": {"weights": "int8"},
    "kv fp8": {"kv_dtype": "fp8"},
    "vllm": {"kv_rule": "vllm"},
    "state fp32": {"state_dtype": "fp32"},
    "state fp8": {"state_dtype": "fp8"},
    "prefill": {"prefill": 16},
    "tp": {"tp": 2},
    "overhead": {"overhead": 12345},
    "shared prefix": {"shared_prefix": 120},
    "layers on the GPU": {"ngl": 2},
    "experts in host RAM": {"cpu_moe": True},
    "some experts in host RAM": {"n_cpu_moe": 3},
}
LLAMA_CPP: dict[str, dict[str, Any]] = {  # which alone keeps keys and values in formats of their own
    "keys": {"engine": "llama.cpp", "cache_type_k": "q8_0"},
    "values": {"engine": "llama.cpp", "cache_type_v": "q5_1"},
}
TOWERS: dict[str, dict[str, Any]] = {
    "language model": {"engine": "vllm", "language_model_only": True},
    "no images": {"engine": "vllm", "limit_mm_per_prompt": "image=0,video=0"},
}
SMALL = ("llama-3-8b", SIZES)
SEES: tuple[str, list[str]] = (str(Path(__file__).parents[3] / "docs" / "examples" / "qwen3-vl-2b" / "config.json"), [])
TABLES = {  # the options of one mode, and a model for which each of them says something
    "training": (TRAINING, SMALL, "train"),
    "training experts": (EXPERTS, ("mixtral-8x7b", EXPERT_SIZES), "train"),
    "inference": (INFERENCE, ("llama-3-8b", [*SIZES, "attention.window=32"]), "infer"),
    "caches": (LLAMA_CPP, SMALL, "infer"),
    "inference with a recurrent state": (STATES, ("jamba-v0.1", []), "infer"),
    "towers": (TOWERS, SEES, "infer"),
}
QUANTISED = ("nf4", "nf4_lightning", "int8")
FILLED = "vLLM fills its share of a card, so that what was measured says nothing of the model"
SAME = {  # with the first, the second changes nothing; why
    **{(engine, "measured"): FILLED for engine in ("vllm engine", "few requests", "no graphs")},
    **dict.fromkeys(permutations(TOWERS, 2), "either leaves the towers out"),
    ("fp32", "flash in fp32"): "a fused kernel is what fp32 has anyway",
    ("torchtitan", "ops"): "torchtitan recomputes op by op anyway",
    ("megatron", "master"): "Megatron-LM keeps fp32 master weights anyway",
    ("pp", "master"): "likewise",
    ("code_option", "master"): "likewise",
    ("fp32", "state fp32"): "a state is kept in the precision of the activations anyway",
    ("layers on the GPU", "table in host RAM"): "the input tables are no layer: they are in host RAM anyway",
    ("layers on the GPU", "some experts in host RAM"): "the first layers are there anyway, experts and all",
    ("megatron", "accumulate"): "main gradients are there anyway, of one micro-batch too",
    ("code_option", "accumulate"): "likewise",
    ("experts over tp", "accumulate"): "likewise",
    ("ep", "accumulate"): "likewise",
    ("ep zero 1", "accumulate"): "likewise",
    ("pp", "accumulate"): "the last stage needs the most, with one micro-batch in flight",
    ("vllm engine", "vllm"): "vLLM has its own rule for its cache",
    ("few requests", "vllm"): "likewise",
    ("no graphs", "vllm"): "likewise",
    ("two stages", "accumulate"): "two stages have two micro-batches in flight at the most, as many as are assumed",
    **dict.fromkeys(((given, "full") for given in QUANTISED), "QLoRA recomputes blocks anyway"),
    **dict.fromkeys(((given, "sgd") for given in QUANTISED), "QLoRA pages its states out of PyTorch's allocator"),
} | dict.fromkeys(
    ((given, "dp") for given in ("tp", "tp sp", "cp", "pp", "overhead")),
    "data parallelism without ZeRO divides nothing: it changes the overhead of one GPU to that of several",
)


@cache
def answer(table: str, names: tuple[str, ...]) -> Any:
    """All numbers of the report, or the error's text."""
    options, (name, changes), mode = TABLES[table]
    asked: dict[str, Any] = {}
    for one in names:
        asked |= options[one]
    try:
        report = load(name, set=changes).memory(mode=mode, batch=4, seq=128, **asked)
    except InputError as refused:
        return str(refused)
    numbers = report.parts, report.states, report.rows, [instant.bytes for instant in report.instants], report.host
    return (*numbers, report.reserved_bytes) if "expandable" in names else numbers


def clash(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """One option with two values is not a pair of options, nor is one that is given already."""
    return second.items() <= first.items() or any(
        first[name] != value for name, value in second.items() if name in first
    )


def pairs() -> list[tuple[str, str, str]]:
    found = [(table, one, two) for table in TABLES for one, two in permutations(TABLES[table][0], 2)]
    return [
        (table, one, two)
        for table, one, two in found
        if not clash(TABLES[table][0][one], TABLES[table][0][two]) and (one, two) not in SAME
    ]


@pytest.mark.wide(29)
@pytest.mark.parametrize(("table", "given", "added"), pairs())
def test_an_option_has_its_effect_beside_another(table: str, given: str, added: str) -> None:
    assert answer(table, (given, added)) != answer(table, (given,))


@pytest.mark.parametrize(("table", "option"), [(table, one) for table in TABLES for one in TABLES[table][0]])
def test_an_option_alone_is_answered(table: str, option: str) -> None:
    """Or the pairs with it would differ by an error alone. It changes what is answered without any option."""
    alone = answer(table, (option,))
    assert not isinstance(alone, str)
    assert alone != answer(table, ())


def test_every_option_is_among_the_pairs() -> None:
    """All but the mode, the device and the sizes of the workload."""
    given = {name for options, *_ in TABLES.values() for option in options.values() for name in option}
    sizes = {name for name, _ in declared(Sizes)}
    assert {name for name, _ in options_of("memory")} - sizes - {"mode", "gpu"} == given


@pytest.mark.parametrize("format", ["nf4", "nf4_lightning", "nf4_dq_lightning"])
def test_a_recipe_changes_activations_beside_any_quantised_format(format: str) -> None:
    """Each of the four recipes keeps other activations, whatever the format of the weights keeps besides."""
    model = load("tinyllama-1.1b")
    asked: dict[str, Any] = {"mode": "train", "batch": 2, "seq": 128, "lora": 8, "weights": format, "recompute": "none"}
    recipes = ("fp32", "mixed", "bf16", "fp8")
    kept = [model.memory(**asked, precision=recipe).rows[0].parts["activations"] for recipe in recipes]
    assert len(set(kept)) == len(recipes)
