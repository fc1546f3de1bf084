"""What a GPU's runtime takes before a model is loaded, an estimate from presets/runtime."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.run.device.host import CPU
from archcalc.spec import paths

if TYPE_CHECKING:
    from archcalc.run.resolved import Run


@cache
def _runtime() -> dict[str, Any]:
    from archcalc.spec.yaml_reader import read

    return read(paths.shipped("runtime")["cuda"].read_bytes(), "runtime cuda").data


def overhead(run: Run) -> int:
    """Bytes on each GPU, as asked, as the engine's logs have them, or as usual."""
    if run.overhead is not None:
        return run.overhead
    if run.devices == CPU:
        return 0
    of_engine = run.engine.runtime(run.plan.gpus)
    usual: int = _runtime()["one_gpu" if run.plan.gpus == 1 else "several_gpus"]
    return usual if of_engine is None else of_engine


def assumption(run: Run) -> Assumption:
    if run.devices == CPU and run.overhead is None:
        return Assumption(Topic.OVERHEAD, "overhead: none, a CPU has no CUDA context", 0, "--overhead")
    of_engine, engine = run.engine.runtime(run.plan.gpus), run.engine.rules
    source = _runtime()["source"] if of_engine is None else f"{engine.name}'s own figures"
    text = f"overhead: {_runtime()['name']}, an estimate ({source})"
    return Assumption(Topic.OVERHEAD, text, overhead(run), "--overhead")
