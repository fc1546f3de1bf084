"""The error band of inference: what archcalc says that a model takes, against all that vLLM used at its start.

    band(cases)     the line of presets/accuracy/inference.yaml

Logs print weights, the peak of activations of a full token budget, what is not PyTorch's, CUDA graphs, and what was
left for the KV cache. The error is a share of all of it, as a device that is just large enough would be full of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil
from typing import Any

from measured_bands import WITHIN
from measured_models import whole
from measured_units import Inexpressible

from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.report import MemoryReport
from archcalc.core.errors import InputError
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes

GIB = 2**30
PRINTED = ("weights_gib_per_gpu", "activation_peak_gib", "non_torch_gib")
LEFT = ("cuda_graph_gib", "available_kv_gib")  # that not every log prints
AS_STORED = 0.05  # weights further off are quantised, in a format that the log does not tell
BUDGET = 8192  # vLLM's tokens at a time, where the log does not say


def band(cases: Iterable[dict[str, Any]]) -> str:
    errors = sorted(abs(error) for case in cases if _is_read(case) for error in _error(case))
    within = errors[ceil(WITHIN * len(errors)) - 1]
    return f"any: {{band: {ceil(100 * within)}, runs: {len(errors)}, of: start-ups of vLLM}}"


def _is_read(case: dict[str, Any]) -> bool:
    if not case["kind"].startswith("vllm_") or any(name not in case["measured"] for name in PRINTED):
        return False
    return all(case["parallelism"].get(axis, 1) == 1 for axis in ("pp", "dp"))


def _error(case: dict[str, Any]) -> Iterator[float]:
    """Nothing for a model that the case does not describe, and for quantised weights."""
    try:
        report = _report(case)
    except (InputError, Inexpressible):
        return
    measured = case["measured"]
    if abs(report.parts["weights"] / GIB / measured["weights_gib_per_gpu"] - 1) > AS_STORED:
        return
    graphs, cache = (measured.get(name) or 0 for name in LEFT)
    used = sum(measured[name] for name in PRINTED) + graphs
    said = (report.total_bytes - report.parts["kv_cache"] - report.parts["state"]) / GIB
    yield (said - used) / (used + cache)


def _report(case: dict[str, Any]) -> MemoryReport:
    number = case["parallelism"].get("tp", 1)
    tp = {"tp": number} if number > 1 else {}
    memory = Memory(whole(case), Options.of("memory", {"precision": "bf16", **tp}))
    budget = int(case["flags"].get("max_num_batched_tokens") or BUDGET)
    try:
        return memory.report(Sizes(1, budget))
    except InputError:  # a model of fewer positions
        return memory.report(Sizes(1, min(budget, int(case["seq"]))))
