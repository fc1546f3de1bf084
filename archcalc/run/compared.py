"""How far training memory was from that of transformers' own classes: presets/accuracy/code.json.

    compared("roberta", "bf16", recompute=False, lora=False).sentence()

Written by tools/compare_peaks.py, which runs the classes on the meta device. The overhead of a CUDA context and the
blocks of an allocator are on neither side: what is compared are the bytes of tensors that are alive at once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root

FAR = 10  # percent: what is further off is not called equal
ROUNDED = 0.01  # percent: as the file is, so that nothing is said to be nearer
DATA = data_root() / "accuracy" / "code.json"


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
