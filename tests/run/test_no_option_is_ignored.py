"""No option of inference is ignored by an engine: the answer changes, the first line says so, or it is refused.

For every option and every engine, on a mixture of experts, a model with windows and one with recurrent states.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from archcalc import InputError, load
from archcalc.run.engine.catalog import known
from archcalc.run.option_words import INFERENCE
from archcalc.run.options import options_of

MODELS = ("olmoe-1b-7b", "gemma-3-1b", "falcon-mamba-7b")
LENGTH = 4096
VALUES: dict[str, Any] = {
    "precision": "fp32",
    "weights": "q8_0",
    "attention": "eager",
    "overhead": "3GiB",
    "measured": "30GiB",
    "batch": 3,
    "seq": 1024,
    "context": 1024,
    "kv_dtype": "fp32",
    "cache_type_k": "q8_0",
    "cache_type_v": "q8_0",
    "kv_rule": "sglang",
    "state_dtype": "fp64",
    "prefill": 128,
    "gpu_memory_utilization": 0.5,
    "max_num_seqs": 16,
    "draft": "gpt2",
    "enforce_eager": True,
    "limit_mm_per_prompt": "image=0",
    "language_model_only": True,
    "adapters": 2,
    "shared_prefix": 512,
    "ngl": 5,
    "cpu_moe": True,
    "n_cpu_moe": 3,
    "lora": 16,
    "lora_targets": "q",
    "tp": 2,
    "pp": 2,
    "ep": 2,
    "dp": 2,
    "cp": 2,
    "sp": True,
    "offload": "params",
    "src_seq": 64,
    "tgt_seq": 64,
    "freeze": "embedding",
    "zero": 3,
}
CHOSEN = ("mode", "engine", "gpu")  # what the question is about
NEEDS = {"adapters": {"lora": 8}, "lora_targets": {"lora": 8}, "sp": {"tp": 2}, "zero": {"dp": 2}}
OPTIONS = [name for name, one in options_of("memory") if set(INFERENCE) & set(one.modes or INFERENCE)]


@cache
def answer(model: str, engine: str, asked: tuple[tuple[str, Any], ...]) -> tuple[Any, str]:
    """Figures, and the first line."""
    length: dict[str, Any] = {} if {"seq", "context"} & dict(asked).keys() else {"seq": LENGTH}
    record = load(model).memory(engine=engine, **length, **dict(asked)).record()
    figures = {key: value for key, value in record.items() if key not in ("run", "assumptions")}
    return figures, record["run"]["line"]


def is_heard(model: str, engine: str, name: str) -> bool:
    """Whether figures differ, the line does, or the option is refused."""
    before = tuple(NEEDS.get(name, {}).items())
    try:
        without = answer(model, engine, before)
        return answer(model, engine, (*before, (name, VALUES[name]))) != without
    except InputError:
        return True


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in CHOSEN])
@pytest.mark.parametrize("engine", known())
def test_it_changes_the_answer_or_is_refused(engine: str, name: str) -> None:
    silent = [model for model in MODELS if not is_heard(model, engine, name)]
    assert not silent
