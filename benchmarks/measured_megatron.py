"""Training peaks of Megatron-LM that SimuMax measured, as models and options of archcalc.

    model, options = megatron(case)
    model.memory(**options).total_bytes          compared with case["measured"]["peak_allocated_gib"]

The figure is torch.cuda.max_memory_allocated of the rank with the most, so nothing is counted for CUDA itself. Flags
that a case does not tell are those of SimuMax's launch scripts (MooreThreads/SimuMax 4dcaae5, in the folder simu_tools/
megatron_scripts/scripts: run_pretrain_llama3.sh and run_pretrain_deepseekv2.sh): Transformer Engine's fused loss,
context parallelism by all-to-all, a distributed optimizer, no dropout.
"""

from __future__ import annotations

import re
from typing import Any

from measured_models import whole
from measured_units import Inexpressible

from archcalc import load
from archcalc.model import Model

GIB = 2**30
_CUT = re.compile(r"(?P<preset>.+)-(?P<layers>\d+)l")  # deepseek-v2-4l: a published model with so many layers
_DENSE = re.compile(r"first (?:(?P<number>\d+) )?layers? dense")
_PARALLELISM = ("tp", "dp", "cp", "pp", "ep", "zero")

Case = dict[str, Any]


def is_megatron(case: Case) -> bool:
    """Whether a case is one of these."""
    measured = case.get("measured") or {}
    return "megatron" in str(case.get("engine", "")).lower() and "peak_allocated_gib" in measured


def megatron(case: Case) -> tuple[Model, dict[str, Any]]:
    """The model, and the options of `model.memory`."""
    said = case["parallelism"]
    plan = {name: said[name] for name in _PARALLELISM if said.get(name)}
    options: dict[str, Any] = {
        **plan,
        "mode": "train",
        "code": "megatron",
        "habit": "loss=in_place,context=a2a",
        "precision": "mixed",
        "batch": case["micro_batch"],
        "seq": case["seq"],
        "accumulate": case["grad_accum"],
        "recompute": case.get("recompute") or "none",
        "overhead": 0,
    }
    if said.get("sp") and said["tp"] > 1:
        options["sp"] = True
    return _model(case), options


def measured_bytes(case: Case) -> float:
    return float(case["measured"]["peak_allocated_gib"]) * GIB


def _model(case: Case) -> Model:
    if case.get("arch"):
        return whole({"flags": {}, **case})
    cut = _CUT.fullmatch(case["model"])
    if not cut:
        raise Inexpressible("the case does not give the model's shapes")
    layers, dense = int(cut["layers"]), _dense_layers(case)
    experts = [f"{layers - dense} × attention moe"] if layers > dense else []
    pattern = ", ".join([*([f"{dense} × attention ffn"] if dense else []), *experts])
    return load(cut["preset"], set=[f"decoder.pattern=[{pattern}]"])


def _dense_layers(case: Case) -> int:
    """Layers in front without experts, as the note tells them."""
    found = _DENSE.search(case.get("note", ""))
    return int(found["number"] or 1) if found else 0
