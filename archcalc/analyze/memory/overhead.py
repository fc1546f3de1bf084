"""What a GPU's runtime takes before a model is loaded, an estimate from presets/runtime."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.spec import paths

if TYPE_CHECKING:
    from archcalc.run.case import Case


@cache
def _runtime() -> dict[str, Any]:
    from archcalc.spec.yaml_reader import read

    return read(paths.presets("runtime")["cuda"].read_bytes(), "runtime cuda").data


def overhead(case: Case) -> int:
    """Bytes on each GPU, as asked or as usual."""
    usual: int = _runtime()["one_gpu" if case.plan.gpus == 1 else "several_gpus"]
    return usual if case.overhead is None else case.overhead


def assumption(case: Case) -> Assumption:
    text = f"overhead: {_runtime()['name']}, an estimate ({_runtime()['source']})"
    return Assumption(Topic.OVERHEAD, text, overhead(case), "--overhead")
