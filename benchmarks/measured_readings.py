"""Cases as their sources have them: readings of measured_readings.yaml put in, and fields that may be missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from measured_codes import Case

READINGS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("measured_readings.yaml").read_text("utf-8"))
OBJECTS = ("arch", "flags", "measured")
TEXTS = ("id", "kind", "model", "source")
FLAGS = ("recompute", "compile", "optimizer", "loss", "method", "rank", "micro_batch", "grad_accum")  # said beside, too


def read(said: Any) -> Case:
    """One case of a file, with every field that is read here; an entry that is no object says nothing."""
    case: Case = dict(said) if isinstance(said, dict) else {}
    case |= {name: case[name] if isinstance(case.get(name), dict) else {} for name in OBJECTS}
    case |= {name: str(case.get(name) or "") for name in TEXTS}
    case["flags"] = {name: case[name] for name in FLAGS if name in case} | case["flags"]
    case["trust"] = case.get("trust") or "A"
    for reading in readings(case):
        case = _merged(case, reading)
    return case


def readings(case: Case) -> list[dict[str, Any]]:
    """Those that hold for a case."""
    return [reading for reading in READINGS if _holds(case, reading["where"])]


def _holds(case: Case, where: dict[str, str]) -> bool:
    return all(words in str(case.get(field)) for field, words in where.items())


def _merged(case: Case, reading: dict[str, Any]) -> Case:
    """What a reading says of an object's field leaves the others as they are."""
    replaced = {name: value for name, value in reading.items() if name not in ("where", "why", "found")}
    objects = {name: {**case[name], **replaced[name]} for name in OBJECTS if name in replaced}
    return {**case, **replaced, **objects}
