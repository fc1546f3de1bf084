"""What is compared: quantities with their units and promises, and one measured figure of a case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from measured_units import GB, GIB, MIB

TRAINING, INFERENCE = "training peak", "inference peak"  # what the names of such classes begin with
BANDED = (
    "allocated",
    "reserved",
    "device",
    "unsaid",
    "inference",
    "pool",
)  # quantities that an answer states a band for


@dataclass(frozen=True)
class Quantity:
    """What is compared: its name in tables, the unit that it is shown in, and the median error that is promised."""

    name: str
    unit: str
    scale: float
    target: float | None = None


QUANTITIES = {
    "parameters": Quantity("parameters", "", 1, 0),
    "token": Quantity("KV cache per token", "bytes", 1, 0.005),
    "pool": Quantity("KV pool", "GiB", GIB, 0.1),
    "cache": Quantity("KV cache", "MiB", MIB, 0),
    "state": Quantity("recurrent states", "MiB", MIB, 0.005),
    "compute": Quantity("compute buffer", "MiB", MIB),
    "host_buffer": Quantity("host buffer", "MiB", MIB),
    "weights": Quantity("weights", "GiB", GIB, 0.01),
    "file": Quantity("weights, GGUF", "GiB", GIB, 0.01),
    "flops": Quantity("training FLOPs per token", "", 1),
    "rule": Quantity("6ND of a training run", "", 1),
    "allocated": Quantity(f"{TRAINING}, allocated", "GiB", GIB),
    "reserved": Quantity(f"{TRAINING}, reserved", "GiB", GIB),
    "device": Quantity(f"{TRAINING}, on the device", "GiB", GIB),
    "unsaid": Quantity(f"{TRAINING}, allocated or reserved is not said", "GiB", GIB),
    "host": Quantity("host RAM of training", "GiB", GIB),
    "inference": Quantity(INFERENCE, "GB", GB),
    "verdict": Quantity("verdict", "", 1),
}


@dataclass(frozen=True)
class Wanted:
    """One measured figure; `options` are of this figure alone, `part` is its share of what archcalc gives."""

    quantity: str
    measured: float | str
    options: dict[str, Any] = field(default_factory=dict)
    part: float = 1
    why_not: str = ""

    def of(self, runner: str | None) -> str:
        """The name of its class; engines differ, training codes are told apart in the classes of runs."""
        name = QUANTITIES[self.quantity].name
        return f"{name}, {runner}" if self.quantity in ENGINES and runner else name


ENGINES = ("token", "pool", "cache", "state", "compute", "host_buffer", "weights", "inference")
