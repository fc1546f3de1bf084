"""What a GPU's runtime takes before a model is loaded, an estimate from presets/runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.run.device.host import CPU
from archcalc.spec.data_files import shipped
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.run.resolved import Run


def overhead(run: Run) -> int:
    """Bytes on each GPU, as asked, as the engine's logs have them, or as usual; with what a measured run took beyond
    all that is counted."""
    if run.overhead is not None or run.devices == CPU:
        return (run.overhead or 0) + run.shift
    of_engine = run.engine.runtime(run.plan.gpus)
    usual: int = _usual(run)["one_gpu" if run.plan.gpus == 1 else "several_gpus"]
    return run.shift + (usual if of_engine is None else of_engine)


def _usual(run: Run) -> dict[str, Any]:
    """Of training where that was measured on such devices, else what is in use before a program starts."""
    of_training: dict[str, Any] = shipped("runtime", "training")
    return of_training if run.trains and run.devices in of_training["kinds"] else shipped("runtime", "cuda")


def assumption(run: Run) -> Assumption:
    if run.devices == CPU and run.overhead is None:
        return Assumption(Topic.OVERHEAD, "overhead: none, a CPU has no CUDA context", 0, "--overhead")
    of_engine, usual = run.engine.runtime(run.plan.gpus), _usual(run)
    source = usual["source"] if of_engine is None else f"{run.engine.rules.name}'s own figures"
    text = f"overhead: {usual['name']}, an estimate ({source})"
    return Assumption(Topic.OVERHEAD, text, overhead(run) - run.shift, "--overhead")


def measured(run: Run) -> Assumption:
    more = "added to" if run.shift > 0 else "taken from"
    text = f"{binary_bytes(abs(run.shift))} are {more} the overhead at every size, such that the measured run is met"
    return Assumption(Topic.OVERHEAD, text, run.shift, "--measured")
