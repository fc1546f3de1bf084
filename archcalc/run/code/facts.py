"""What a config.json says about the code that runs: the activation by its name, and the rates of dropout by place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root

PLACES = ("embedding", "weights", "attention", "cross", "inside", "ffn", "final")


@dataclass(frozen=True)
class Facts:
    """`dropout` has a rate for each place, or is None where the library's file says nothing of the family."""

    activation: str = ""
    caps_logits: bool = False
    divides_chosen: bool = False  # the weights of chosen experts, by their sum
    dropout: tuple[tuple[str, float], ...] | None = None

    def rate(self, place: str) -> float:
        """Of dropout: on the embedding, on attention's weights, behind a branch, inside of a feed-forward layer …"""
        return dict(self.dropout or ()).get(place, 0.0)


NOTHING_SAID = Facts()


def facts(data: dict[str, Any], model_type: str, config: Mapping[str, Any] | None) -> Facts:
    """By the keys that a library's file names; what a config leaves out has the default of its class."""
    if not is_described(model_type):
        return NOTHING_SAID
    said = _values(model_type, config or {})
    caps, divides = (any(said.get(key) for key in data.get(name, ())) for name in ("logits_cap", "divides_chosen"))
    if not config:
        return Facts(caps_logits=caps, divides_chosen=divides)
    names = (said[key] for key in data.get("activation", ()) if isinstance(said.get(key), str))
    keys = data.get("dropout", {}).get(model_type)
    rates = keys and tuple((place, float(said.get(key) or 0)) for place, key in keys.items())
    return Facts(next(names, ""), caps, divides, rates)


def is_described(model_type: str) -> bool:
    """Whether transformers has such a type, and archcalc its config class."""
    return bool(model_type) and (data_root() / "hf" / f"{model_type}.json").exists()


def of_class(data: Mapping[str, Any], model_type: str, config: Mapping[str, Any] | None) -> dict[str, str]:
    """Habits that follow from the class: by its task, if it calls a kernel for attention, and if it has experts."""
    if not is_described(model_type):
        return {}
    about = _described(model_type)
    named = [name for name in (config or {}).get("architectures") or () if name in about["classes"]]
    task = about["classes"][named[0]] if named else about["usual"]
    of_task = data.get("tasks", {}).get(task, {})
    return {"attention": about["attention"], **of_task, **_of_experts(data, _values(model_type, config or {}))}


def _of_experts(data: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, str]:
    about: dict[str, Any] = data.get("mixture", {"keys": (), "habits": {}})
    numbers = [said[key] for key in about["keys"] if isinstance(said.get(key), int)]
    habits: dict[str, str] = about["habits"]
    return habits if any(number > 1 for number in numbers) else {}


def _values(model_type: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """As the class sees them: its defaults, then the file, where a field may have another name."""
    about = _described(model_type)
    aliases = about["aliases"]
    named = {aliases.get(key, key): value for key, value in config.items()}
    return {**about["defaults"], **named}


@cache
def _described(model_type: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((data_root() / "hf" / f"{model_type}.json").read_text(encoding="utf-8"))
    return found
