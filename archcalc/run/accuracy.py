"""How far answers were from what people measured, for the class of runs that was measured, and how far training memory
was from that of transformers' own classes: presets/accuracy.

A class is code or engine × kind of device × way of sharding, with at least eight compared runs, as
benchmarks/accuracy.py prints them from the answers to real cases. Of training a class may have a band of its own for
what is allocated, what is reserved and what the device shows. An engine that prints each part of its memory has a band
of each (`parts`), and an answer the band of its own parts together. Any other run has no band.

    compared("roberta", "bf16", recompute=False, lora=False).sentence()

is written by tools/compare_peaks.py, which runs the classes on the meta device. The overhead of a CUDA context and the
blocks of an allocator are on neither side: what is compared are the bytes of tensors that are alive at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.spec.data_files import shipped
from archcalc.spec.paths import data_root

if TYPE_CHECKING:
    from archcalc.run.resolved import Run

FEWEST = 8  # compared runs of which a band can be told
WIDER = 2  # times the band, on a kind of device of which no run was measured
ANY = "any"  # kind of device
FIGURES = ("allocated", "reserved", "device")
OFFLOADED = ("offload", "ngl", "cpu_moe", "n_cpu_moe")  # none of the measured runs keeps anything in host RAM
FAR = 10  # percent: what is further off is not called equal
ROUNDED = 0.01  # percent: as the file is, so that nothing is said to be nearer
DATA = data_root() / "accuracy" / "code.json"
PRINTED = {  # parts of an answer, as engines print them
    "weights": "weights",
    "kv_cache": "cache",
    "state": "cache",
    "activations": "compute",
    "logits": "compute",
    "temporary": "compute",
    "buffers": "compute",
}
SHARDING = {
    "one": "on one GPU",
    "tensor": "under tensor parallelism",
    "fsdp": "under ZeRO-3 or FSDP",
    "zero": "under ZeRO-1 or 2",
    "pipeline": "under pipeline or expert parallelism",
}


@dataclass(frozen=True)
class Measured:
    """A class of measured runs: the error, in percent, that four of five of them stay within. Training codes were typed
    with the version that ran."""

    runner: str  # the training code or the engine
    devices: str  # their kind
    sharding: str
    band: int
    runs: int
    sources: int
    quantised: bool = False  # whether adapters were trained over quantised weights
    figure: str = ""  # allocated, reserved or device; nothing for all of them together


@dataclass(frozen=True)
class MeasuredPart:
    """A part of what an engine prints at its start: the error, in percent, that four of five figures stay within."""

    runner: str
    part: str  # weights, cache, compute
    band: int
    runs: int
    sources: int


@dataclass(frozen=True)
class Band:
    """The stated error of an answer, in percent, and what earned it."""

    percent: int
    runs: int
    of: str
    compared: str = "measured runs of this class"

    @property
    def fraction(self) -> float:
        return self.percent / 100

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {"band": self.fraction, "runs": self.runs, "class": self.of}

    def assumption(self) -> Assumption:
        text = f"± {self.percent} % ({self.runs} {self.compared}: {self.of})"
        return Assumption(Topic.ESTIMATE, text, self.percent)


def bands(run: Run) -> dict[str, float]:
    """Of training, those of each figure, as fractions."""
    found = {figure: _of_class(run, (figure, "")) for figure in FIGURES} if run.trains else {}
    return {figure: each.fraction for figure, each in found.items() if each}


def band(run: Run, parts: Callable[[], Mapping[str, int]]) -> Band | None:
    """The band of what a device must have: that of the run's class, or of what is there by then, in bytes, where an
    engine prints it part by part. None where nothing was measured."""
    found = _of_class(run, ("device", "reserved", ""))
    if found or run.trains or not run.said.isdisjoint(OFFLOADED):
        return found
    runner, sharding = class_of(run)
    every = shipped("accuracy", "inference").get("parts") or ()
    known = [MeasuredPart(**each) for each in every if each["runner"] == runner]
    return _of_parts(known, parts()) if known and sharding == "one" else None


def _of_class(run: Run, figures: tuple[str, ...]) -> Band | None:
    """Of the first figure that has one, on the run's kind of device: the widest of the classes that may be its own."""
    if run.method.reads_tokens or not run.said.isdisjoint(OFFLOADED):
        return None
    runner, sharding = class_of(run)
    quantised = run.trains and run.format.is_quantised
    file = shipped("accuracy", "training" if run.trains else "inference")
    same = (runner, sharding, quantised)
    classes = [Measured(**each) for each in file["classes"]]
    every = [each for each in classes if (each.runner, each.sharding, each.quantised) == same]
    alike = next((found for name in figures if (found := [each for each in every if each.figure == name])), [])
    here = [each for each in alike if each.devices in (ANY, run.devices)]
    enough = [each for each in here or alike if each.runs >= FEWEST]
    if not enough:
        return None
    most, times, outside = max(enough, key=lambda each: each.band), 1, ""
    if run.devices and not here:
        times, outside = WIDER, f"; {WIDER} times as wide, since this kind of device is not among them"
    where = "" if most.devices == ANY else f", {most.devices} devices"
    words = f"{runner} {SHARDING[most.sharding]}{where}{outside}"
    if run.trains:
        words += f", by the version that ran; here {run.code.words}"
    return Band(times * most.band, most.runs, words)


def _of_parts(known: list[MeasuredPart], sizes: Mapping[str, int]) -> Band | None:
    """Each part with its own error, the runtime's overhead with the whole of it; None with a part of another kind."""
    errors = {each.part: each.band for each in known}
    printed = {part: size for part, size in sizes.items() if size and part != "overhead"}
    if not printed or any(PRINTED.get(part) not in errors for part in printed):
        return None
    off = sum(size * errors[PRINTED[part]] for part, size in printed.items()) + 100 * sizes["overhead"]
    listed = ", ".join(f"{each.part} ± {each.band} %" for each in known)
    words = f"{known[0].runner}, whose log prints each part: {listed}"
    return Band(ceil(off / sum(sizes.values())), sum(each.runs for each in known), words, "figures")


def not_compared(run: Run) -> Assumption:
    """What stands in the place of a band."""
    runner, sharding = class_of(run)
    where = f" on {run.devices} devices" if run.devices else ""
    text = f"not compared with measurements: fewer than {FEWEST} runs of {runner}{where}"
    return Assumption(Topic.ESTIMATE, f"{text} {SHARDING[sharding]} are known")


def class_of(run: Run) -> tuple[str, str]:
    """Whose memory it is, of a training code or of an engine, and what of a plan decides how a GPU's share is worked
    out, the most intricate first."""
    runner, plan = run.code.base if run.trains else run.engine.rules.name.lower(), run.plan
    if plan.pp > 1 or plan.ep > 1:
        return runner, "pipeline"
    if plan.tp > 1 or plan.cp > 1:
        return runner, "tensor"
    if plan.zero and plan.shards > 1:
        return runner, "fsdp" if plan.zero == 3 else "zero"
    return runner, "one"


@dataclass(frozen=True)
class Compared:
    """Of one class: `percent` is the largest difference of a kind of setting, over so many `settings`."""

    class_name: str
    percent: float
    settings: int
    version: str

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "class": self.class_name,
            "percent": abs(self.percent),
            "settings": self.settings,
            "version": self.version,
        }

    def sentence(self) -> str:
        """In words."""
        most, release = f"{max(abs(self.percent), ROUNDED):.2g}", ".".join(self.version.split(".")[:2])
        how = f"live bytes of storages, {self.settings} settings, transformers {release}"
        if abs(self.percent) > FAR:
            return f"differs from transformers' {self.class_name} by up to {most} % ({how})"
        return f"equals transformers' {self.class_name} within {most} % ({how})"


def compared(model_type: str, precision: str, recompute: bool, lora: bool) -> Compared | None:
    """Nothing where no such setting of the type was compared."""
    record: dict[str, Any] = _data()["types"].get(model_type, {})
    found = record.get(kind_of(precision, recompute=recompute, lora=lora), {})
    if "worst" not in found:
        return None
    return Compared(record["class"], found["worst"], found["settings"], _data()["transformers"])


def kind_of(precision: str, *, recompute: bool, lora: bool) -> str:
    """The name of a kind of setting."""
    return " ".join((precision, *["recompute"] * recompute, *["lora"] * lora))


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return found
