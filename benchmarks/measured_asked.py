"""Measured cases as questions: the options of `archcalc memory` that say what a case says."""

from __future__ import annotations

from typing import Any

from measured_models import Case, Inexpressible

from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.report import MemoryReport
from archcalc.model import Model

GIB, MIB, GB = 2**30, 2**20, 10**9
DTYPES = {"float16": "fp16", "float32": "fp32", "16-true": "fp16", "32-true": "fp32"}

Pair = tuple[str, float, float]  # of what, measured, archcalc's


def parallel(case: Case) -> dict[str, Any]:
    """The plan of a case, if archcalc can lay a model out so."""
    said = case.get("parallelism") or {}
    if said.get("pp", 1) > 1 or any("sequential" in key for key in said):
        raise Inexpressible("pipeline parallelism")
    tp, dp, cp = said.get("tp") or said.get("tensor parallel") or 1, said.get("fsdp") or 1, said.get("cp") or 1
    return {"tp": tp} | ({"dp": dp, "zero": 3} if dp * cp > 1 else {}) | ({"cp": cp} if cp > 1 else {})


def on_cuda(case: Case) -> bool:
    """vLLM accounts for its memory in another way on ROCm and on NPUs."""
    return not any(word in str(case.get("gpu")) for word in ("MI300X", "ROCm", "Ascend"))


def inferred(case: Case, model: Model, **options: Any) -> MemoryReport:
    """Inference as engines account for it: every layer caches every token, and no runtime is counted."""
    options = {"precision": DTYPES.get(str(case.get("dtype")), "bf16"), "overhead": 0, **parallel(case), **options}
    return Memory(model, **options).at(1, case.get("seq") or 4096)
