"""Measured cases as questions: the options of `archcalc memory` that say what a case says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from measured_codes import Case
from measured_units import Inexpressible, number

from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.report import MemoryReport
from archcalc.model import Model

DTYPES = {"float16": "fp16", "float32": "fp32", "16-true": "fp16", "32-true": "fp32", "fp16": "fp16", "fp32": "fp32"}
DIVIDED = {  # ways to divide a model that no option here says
    "pp": "pipeline parallelism",
    "vpp": "pipeline parallelism",
    "sequential (pipeline by layers)": "pipeline parallelism",
    "ep": "expert parallelism",
    "etp": "expert parallelism",
    "ulysses": "sequence parallelism by heads",
}

Pair = tuple[str, float, float | Callable[[], float]]  # of what, measured, archcalc's


def said_plan(case: Case) -> dict[str, Any]:
    """How a case says that the model is divided, if archcalc can divide it so."""
    said = case.get("parallelism") or {}
    if not isinstance(said, dict):
        raise Inexpressible(f"parallelism in words: {said}")
    for way, name in DIVIDED.items():
        if number(said.get(way), 1) > 1:
            raise Inexpressible(name)
    return said


def parallel(case: Case) -> dict[str, Any]:
    """The plan of a model that answers: replicas are as large as one."""
    said = said_plan(case)
    return {"tp": number(said.get("tp") or said.get("tensor parallel"), 1)}


def length(case: Case, otherwise: int) -> int:
    return number(case.get("seq"), otherwise)


def on_cuda(case: Case) -> bool:
    """vLLM accounts for its memory in another way on ROCm and on NPUs."""
    return not any(word in str(case.get("gpu")) for word in ("MI300X", "ROCm", "Ascend"))


def asked(case: Case, model: Model, **options: Any) -> Memory:
    """Inference as engines account for it: no runtime is counted."""
    dtype = DTYPES.get(str(case.get("dtype")), "bf16")
    return Memory(model, **{"precision": dtype, "overhead": 0, **parallel(case), **options})


def inferred(case: Case, model: Model, **options: Any) -> MemoryReport:
    """The answer for one sequence."""
    return asked(case, model, **options).at(1, length(case, 4096))
