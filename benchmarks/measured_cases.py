"""Cases as their sources have them: files read, readings of measured_readings.yaml put in, missing fields filled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

Case = dict[str, Any]

READINGS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("measured_readings.yaml").read_text("utf-8"))
MORE: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("measured_more.yaml").read_text("utf-8"))
OBJECTS = ("arch", "flags", "measured")
TEXTS = ("id", "kind", "model", "source")
FLAGS = ("recompute", "compile", "optimizer", "loss", "method", "rank", "micro_batch", "grad_accum", "engine", "habit")
PLACE = re.compile(r"#\d+|[^\s]+\.(?:md|rst)\b")  # of a repository: the number of a thread, or a document
REPOSITORY = re.compile(r"(?:github\.com/)?([\w.-]+/[\w.-]+?)(?:/(?:pull|issues|discussions)/(\d+))?(?=[\s#,]|$)")


class Unreadable(Exception):
    """A file that is no list of cases."""


def cases(paths: Iterable[str]) -> list[Any]:
    """Those of every file, and of every JSON file of a folder."""
    named = [Path(path) for path in paths]
    files = [file for path in named for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    return [case for file in files for case in _of_file(file)]


def _of_file(file: Path) -> list[Any]:
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise Unreadable(f"{file}: no list of cases") from None
    said = said.get("cases") if isinstance(said, dict) else said
    if not isinstance(said, list):
        raise Unreadable(f"{file}: no list of cases")
    return said


def second_set() -> list[Case]:
    """Those of measured_more.yaml."""
    found = [{**group["each"], **case} for group in MORE for case in group["cases"]]
    return [{"id": f"more-{number}", "trust": "A", **case} for number, case in enumerate(found)]


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


def is_fork(case: Case) -> bool:
    """Whether it is of ik_llama.cpp, and not of llama.cpp."""
    return "ik_llama" in f"{case['flags'].get('engine')} {case['source']}"


def source_of(case: Case) -> str:
    """What cases are left out by: a thread or a document of a repository, else the repository with all its logs."""
    if case.get("thread"):
        return str(case["thread"])
    repository = REPOSITORY.search(case["source"])
    if repository is None:
        return str(case["source"])
    place = PLACE.search(case["source"], repository.end())
    return f"{repository[1]} {repository[2] or (place[0] if place else '')}".strip()


def _holds(case: Case, where: dict[str, str]) -> bool:
    return all(words in str(case.get(field)) for field, words in where.items())


def _merged(case: Case, reading: dict[str, Any]) -> Case:
    """What a reading says of an object's field leaves the others as they are."""
    replaced = {name: value for name, value in reading.items() if name not in ("where", "why", "found")}
    objects = {name: {**case[name], **replaced[name]} for name in OBJECTS if name in replaced}
    return {**case, **replaced, **objects}
