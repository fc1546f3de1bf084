"""What presets/hf says about the code of a model type: its classes, and how each library computes its layers.

    {"attention": "fused", …, "code": {"transformers": {"rms_norm": "upcast_weight"}}}        presets/hf/gemma.json

Keys of `code` are libraries; `config` names keys of the type's config.json: the activation, a cap on the logits, the
number of experts, whether the weights of chosen experts are divided by their sum, and dropout's rate at each place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
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


@cache
def described(model_type: str) -> dict[str, Any]:
    """What the type's file says; nothing where transformers has no such type, or archcalc not its config class."""
    file = data_root() / "hf" / f"{model_type}.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if model_type and file.exists() else {}
    return found


def facts(about: Mapping[str, Any], config: Mapping[str, Any] | None) -> Facts:
    """By the keys that the type's file names; what a config leaves out has the default of its class, and a field may
    have another name there."""
    keys, aliases = about.get(CODE, {}).get(CONFIG, {}), about["aliases"]
    said = {**about["defaults"], **{aliases.get(key, key): value for key, value in (config or {}).items()}}
    experts, places = said.get(keys.get("experts", "")), keys.get("dropout")
    found = Facts(
        caps_logits=bool(said.get(keys.get("logits_cap", ""))),
        divides_chosen=bool(said.get(keys.get("divides_chosen", ""))),
        has_experts=isinstance(experts, int) and experts > 1,
    )
    if not config:
        return found
    names = (said[key] for key in keys.get("activation", ()) if isinstance(said.get(key), str))
    dropped = None if places is None else tuple(place for place, key in places.items() if said.get(key))
    return replace(found, activation=next(names, ""), dropout=dropped)
