"""What presets/hf says about the code of a model type: its classes, and how each library computes its layers.

    {"attention": "fused", …, "code": {"transformers": {"rms_norm": "upcast_weight"}}}        presets/hf/gemma.json

Keys of `code` are libraries; `config` names keys of the type's config.json: the activation, a cap on the logits, the
number of experts, whether the weights of chosen experts are divided by their sum, and dropout's rate at each place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root

CODE, CONFIG = "code", "config"


@dataclass(frozen=True)
class Facts:
    """What a config.json says. `dropout` names the places that have it, or is None where nothing is known of them."""

    activation: str = ""
    caps_logits: bool = False
    divides_chosen: bool = False  # the weights of chosen experts, by their sum
    has_experts: bool = False
    dropout: tuple[str, ...] | None = None


NOTHING_SAID = Facts()


def is_described(model_type: str) -> bool:
    """Whether transformers has such a type, and archcalc its config class."""
    return bool(model_type) and (data_root() / "hf" / f"{model_type}.json").exists()


def facts(model_type: str, config: Mapping[str, Any] | None) -> Facts:
    """By the keys that the type's file names; what a config leaves out has the default of its class."""
    if not is_described(model_type):
        return NOTHING_SAID
    keys = described(model_type).get(CODE, {}).get(CONFIG, {})
    said = _values(model_type, config or {})
    experts = said.get(keys.get("experts", ""))
    found = Facts(
        caps_logits=bool(said.get(keys.get("logits_cap", ""))),
        divides_chosen=bool(said.get(keys.get("divides_chosen", ""))),
        has_experts=isinstance(experts, int) and experts > 1,
    )
    if not config:
        return found
    names = (said[key] for key in keys.get("activation", ()) if isinstance(said.get(key), str))
    places = keys.get("dropout")
    dropped = None if places is None else tuple(place for place, key in places.items() if said.get(key))
    return Facts(next(names, ""), found.caps_logits, found.divides_chosen, found.has_experts, dropped)


def code_of(model_type: str, library: str) -> dict[str, Any]:
    """How a library computes the layers of a type, where that is not as it computes others."""
    found: dict[str, Any] = described(model_type).get(CODE, {}).get(library, {}) if is_described(model_type) else {}
    return found


def task_of(model_type: str, config: Mapping[str, Any] | None) -> str:
    """What the class is for that a config names, or the usual one of its type."""
    about = described(model_type)
    named = [name for name in (config or {}).get("architectures") or () if name in about["classes"]]
    task: str = about["classes"][named[0]] if named else about["usual"]
    return task


def _values(model_type: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """As the class sees them: its defaults, then the file, where a field may have another name."""
    about = described(model_type)
    aliases = about["aliases"]
    named = {aliases.get(key, key): value for key, value in config.items()}
    return {**about["defaults"], **named}


@cache
def described(model_type: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((data_root() / "hf" / f"{model_type}.json").read_text(encoding="utf-8"))
    return found
