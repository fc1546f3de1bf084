"""Peaks of training and of inference: what was measured, and what archcalc says of the same.

A table prints what tensors take (allocated) or what PyTorch's allocator took from the device (reserved); the like is
compared with the like, and a figure that does not say which is a class of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from measured_asked import DTYPES, Pair, length, parallel
from measured_codes import FILE, Case, name_of
from measured_megatron import is_megatron, megatron
from measured_models import whole
from measured_training import trained
from measured_units import GB, GIB, Inexpressible, number, size
from measured_weights import quantised

from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.report import MemoryReport
from archcalc.model import Model
from archcalc.run.accuracy import ANY
from archcalc.run.accuracy import band as stated

TRAINING = "training peak"  # what the names of all such classes begin with
ALLOCATED, RESERVED, UNSAID = "allocated", "reserved", "reserved or allocated is not said"
NAMES = {  # under which tables and logs print them
    ALLOCATED: ("peak_allocated", "peak_active", "peak_memory_allocated", "peak_memory_active", "max_memory_allocated"),
    RESERVED: ("peak_reserved", "peak_memory_reserved", "max_memory_reserved"),
}
EITHER = ("peak_memory", "max_memory", "peak", "memory")


@dataclass(frozen=True)
class Peak:
    """One measured peak: what it counts, and whether it is of the first step alone."""

    counts: str
    bytes: float
    first_step: bool = False


def peaks(case: Case) -> list[Peak]:
    """Every peak that a case has; none where it prints throughput alone."""
    measured, first = case["measured"], number(case["measured"].get("step") or case["flags"].get("step")) == 1
    found = [Peak(counts, taken, first) for counts, names in NAMES.items() if (taken := size(measured, *names))]
    if taken := size(measured, *EITHER):
        found.append(Peak(_counted(case), taken, first))
    if taken := size(measured, "step1"):
        found.append(Peak(_counted(case), taken, first_step=True))
    return found


def _counted(case: Case) -> str:
    """As the case says, else as its code prints."""
    said = str(case["measured"].get("metric") or FILE["memory"].get(name_of(case)))
    words = {"reserved": RESERVED, "allocated": ALLOCATED, "active": ALLOCATED}
    return next((counts for word, counts in words.items() if word in said.lower()), UNSAID)


def training_class(peak: Peak, case: Case) -> str:
    """The name of the class that a peak is in."""
    narrow = ", over 4-bit weights" if "nf4" in str(case.get("quantisation")).lower() else ""
    return f"{TRAINING}, {peak.counts}{narrow}" + (", of the first step" if peak.first_step else "")


def training_classes(case: Case) -> set[str]:
    """Those of all its peaks; a peak that cannot be read says nothing of itself."""
    try:
        return {training_class(peak, case) for peak in peaks(case)}
    except Inexpressible:
        return {f"{TRAINING}, {UNSAID}"}


def of_class(name: str) -> Callable[[Case], Iterator[Pair]]:
    """The peaks of a case that are in a class."""

    def compared(case: Case) -> Iterator[Pair]:
        for peak in peaks(case):
            if training_class(peak, case) == name:
                yield "peak GiB", peak.bytes / GIB, partial(_ours, case, peak)

    return compared


def _ours(case: Case, peak: Peak) -> float:
    """In GiB. A figure that does not say what it counts is compared with what tensors take."""
    report = answered(case)
    if peak.first_step and report.device:
        return report.device.memory.first_step / GIB
    return (report.reserved_bytes if peak.counts == RESERVED else report.allocated_bytes) / GIB


def states(case: Case) -> float:
    """GiB of weights, gradients and optimizer states, when all of them are there: no peak can be less."""
    return sum(Memory(trained_model(case), **trained(case)).parameters.states.values()) / GIB


def answered(case: Case) -> MemoryReport:
    """archcalc's answer to the question that a case stands for."""
    if is_megatron(case):
        model, options = megatron(case)
        return model.memory(**options)
    return Memory(trained_model(case), **trained(case)).at(batch(case), length(case, 0))


def batch(case: Case) -> int:
    """Sequences that a GPU computes together."""
    found = case.get("batch") or case["flags"].get("micro_batch")
    if not found or not case.get("seq"):
        raise Inexpressible(f"the case does not give the {'sequence length' if found else 'batch size'}")
    return number(found)


def trained_model(case: Case) -> Model:
    """litgpt never ties its head to the embedding (scripts/convert_hf_checkpoint.py copies the one to the other)."""
    untied = {**case["arch"], "tie": False}
    return whole({**case, "arch": untied} if name_of(case) == "litgpt" and case["arch"] else case)


def band(case: Case, what: str) -> float | None:
    """The error that archcalc states for such an answer, as a fraction; for peaks of training alone."""
    return stated(name_of(case) or ANY).fraction if TRAINING in what else None


def inference_peak(case: Case) -> Iterator[Pair]:
    taken = size(case["measured"], *NAMES[ALLOCATED], *EITHER)
    if taken is None:
        return
    dtype = DTYPES.get(str(case.get("dtype")), "bf16")
    memory = Memory(trained_model(case), precision=dtype, overhead=0, weights=quantised(case), **parallel(case))
    yield "peak GB", taken / GB, memory.total(1, length(case, 256)) / GB  # 256 tokens are the tool's own default
