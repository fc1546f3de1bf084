"""Engines by name and version.

    engine("vllm"), engine("vllm@0.11")

A file in presets/engines has the rules of the newest version that was read; `earlier` has what held before a change:
a whole rule, or single entries of a table.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.engine.rules import EngineRules, UsualEngines
from archcalc.spec import paths
from archcalc.spec.data_files import document, node
from archcalc.spec.reading import read_node

PLAIN = "plain"
EARLIER = "earlier"
VERSION = re.compile(r"\d+(\.\d+)*")
LETTERS = "vb"  # before a version: v0.11, and b10586 of llama.cpp
TABLES = ("devices", "weights", "kv")
ALIASES = {"llamacpp": "llama.cpp", "llama-cpp": "llama.cpp", "trt-llm": "tensorrt-llm", "trtllm": "tensorrt-llm"}
ALIASES |= {"hf": "transformers", "huggingface": "transformers", "mlx-lm": "mlx"}


def engine(written: str) -> EngineRules:
    """The rules of an engine, perhaps of a version: `vllm@0.11`."""
    asked, _, version = written.lower().partition("@")
    name, files = ALIASES.get(asked, asked), paths.presets("engines")
    if name not in files:
        raise _unknown(name)
    if version and not VERSION.fullmatch(version.lstrip(LETTERS)):
        raise InputError(f"{version} is no version", f"write it as {asked}@0.11", field="--engine")
    number = version.removeprefix("v")
    return _of_version(files[name], number) if number else node(files[name], EngineRules)


def _unknown(name: str) -> InputError:
    """An engine that is known to have no rules here comes with the nearest that has."""
    others = node(paths.shipped("usual")["engines"], UsualEngines).others
    near = others.get(name.replace("-", "").replace("_", "").replace(" ", ""))
    if near is None:
        return InputError(f"no engine is called {name}", did_you_mean(name, known()), field="--engine")
    fact = f"archcalc has no rules for {name}"
    return InputError(fact, f"the nearest is --engine {near.engine}: {near.why}", field="--engine")


def known() -> tuple[str, ...]:
    """The names that `engine` takes."""
    return tuple(sorted(paths.presets("engines")))


@cache
def _of_version(file: Path, version: str) -> EngineRules:
    """The rules on top, and of each later change the rule before it; of a table, entries that did not change stay."""
    found = document(file)
    with found.locating():
        rules = {key: value for key, value in found.data.items() if key != EARLIER}
        for change in sorted(_changes(found.data), key=lambda one: _ordered(one["before"]), reverse=True):
            if _ordered(version) < _ordered(change["before"]):
                before = {key: value for key, value in change.items() if key not in ("before", "source")}
                tables = [
                    key for key in TABLES if isinstance(before.get(key), dict) and isinstance(rules.get(key, {}), dict)
                ]
                rules = {**rules, **before, **{key: {**rules.get(key, {}), **before[key]} for key in tables}}
        newest = str(found.data.get("version", ""))
        is_newer = bool(VERSION.fullmatch(newest.lstrip(LETTERS))) and _is_newer(version, newest)
        return read_node(EngineRules, rules | {"version": version, "read_up_to": newest * is_newer})


def _is_newer(version: str, newest: str) -> bool:
    """A patch of the newest is none."""
    return _ordered(version)[: len(_ordered(newest))] > _ordered(newest)


def _changes(data: dict[str, Any]) -> list[dict[str, Any]]:
    found = data.get(EARLIER, [])
    for number, one in enumerate(found if isinstance(found, list) else [found]):
        version = str(one.get("before")) if isinstance(one, dict) else ""
        if not VERSION.fullmatch(version.lstrip(LETTERS)):
            fact = "expected the rules before a change, with its version, such as `before: 0.28`"
            raise InputError(fact, fields=[(EARLIER, number), (EARLIER,)])
    return list(found)


def _ordered(version: object) -> tuple[int, ...]:
    """0.9 is before 0.20."""
    return tuple(int(part) for part in str(version).lstrip(LETTERS).split("."))
